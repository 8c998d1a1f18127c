"""`--help` is there for every command and option, and quick."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.main import get_command

from api.cli import app
from tests.api.conftest import Leakdown, spawn

SLOW = ("duckdb", "polars", "pyarrow", "scipy", "statsmodels", "numpy", "rich")


def paths(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every command with the words that call it, groups included."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from paths(inner, (*path, name))


COMMANDS = dict(paths(get_command(app)))
every_command = pytest.mark.parametrize(
    "path", [pytest.param(each, id=" ".join(each) or "leakdown") for each in COMMANDS]
)


@every_command
def test_every_command_explains_itself(leakdown: Leakdown, path: tuple[str, ...]) -> None:
    ran = leakdown(*path, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: {' '.join(('leakdown', *path))} ")
    assert "--help" in ran.out
    assert "..." not in ran.out.partition("Commands:")[2]


@every_command
def test_every_option_and_argument_has_its_help(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    assert [each.name for each in command.params if not each.help] == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("call", ["", "detectors", "label", "uploads"])
def test_a_group_without_a_command_shows_its_help_on_stderr(leakdown: Leakdown, call: str) -> None:
    ran = leakdown(*call.split())
    assert (ran.code, ran.out) == (2, "")
    assert "Commands:" in ran.err


def test_the_version_is_that_of_the_package(leakdown: Leakdown) -> None:
    from importlib.metadata import version

    assert leakdown("--version").out == f"leakdown {version('leakdown')}\n"


@pytest.mark.parametrize(
    "call", ["--help", "ingest --help", "replay --help", "detectors --help", "label sample --help"]
)
def test_help_imports_nothing_slow(call: str) -> None:
    code = f"import sys; from api.cli import run; run({call.split()!r}); print(*(set({SLOW!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


def test_help_of_the_real_script() -> None:
    assert spawn("--help").out.startswith("Usage: leakdown ")
