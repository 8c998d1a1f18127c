"""The wheel holds what the tree holds, under three top-level names, with one console script."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
TOP = ("ingest", "analysis", "api")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """The wheel, built from the tree by the tools that are installed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, capture_output=True, check=True)
    [path] = folder.glob("*.whl")
    with ZipFile(path) as opened:
        yield opened


def in_metadata(wheel: ZipFile, name: str) -> str:
    [path] = [path for path in wheel.namelist() if path.endswith(f".dist-info/{name}")]
    return wheel.read(path).decode()


def of_the_tree() -> set[str]:
    """The files of the three packages, without what Python writes beside them."""
    files = (path for top in TOP for path in (ROOT / top).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}


def test_it_holds_exactly_the_files_of_the_three_packages(wheel: ZipFile) -> None:
    shipped = {path for path in wheel.namelist() if ".dist-info/" not in path}
    assert shipped == of_the_tree()


def test_its_top_level_names_are_the_three_packages(wheel: ZipFile) -> None:
    tops = {path.split("/")[0] for path in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(TOP)


def test_it_holds_the_migrations_and_no_tests(wheel: ZipFile) -> None:
    names = wheel.namelist()
    assert "ingest/migrations/0001_store.sql" in names
    assert [name for name in names if re.search(r"(^|/)(tests?|data|notebooks|docs)[/_.]", name)] == []


def test_it_has_one_console_script(wheel: ZipFile) -> None:
    assert in_metadata(wheel, "entry_points.txt").split() == ["[console_scripts]", "leakdown", "=", "api.cli:main"]


def test_it_refuses_to_be_uploaded_to_an_index(wheel: ZipFile) -> None:
    metadata = message_from_string(in_metadata(wheel, "METADATA"))
    assert "Private :: Do Not Upload" in (metadata.get_all("Classifier") or [])
    assert metadata["License-Expression"] == "Apache-2.0"


PINS = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
DEPENDENCIES = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_every_dependency_is_bounded_on_both_sides_and_pinned(dependency: str) -> None:
    match = re.fullmatch(r"([A-Za-z0-9._-]+)(\[[a-z,]+\])?>=[\d.]+,<[\d.]+(; .+)?", dependency)
    assert match
    assert normalised(match[1]) in {normalised(pin.split("==")[0]) for pin in PINS}


@pytest.mark.parametrize("pin", PINS)
def test_a_pin_is_a_name_and_a_version_without_address_or_path(pin: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin)
