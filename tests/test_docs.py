"""What the documents show is what happens: their console blocks are run, their links and examples are followed."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from analysis.detectors import Detector, detectors, judge
from analysis.recovery.policies import Policy
from analysis.recovery.turn import Round, Turn
from api.cli import app
from api.settings import PREFIX, Settings
from ingest.files.containers import RawLine
from ingest.files.jsonlines import decode
from ingest.formats import Format, Line, Mapped, formats
from ingest.plugins import discover
from tests.analysis.candidates import bubblewrap
from tests.analysis.recovery.turns import leak

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "data/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
COLUMNS = "100"

every_document = pytest.mark.parametrize(
    "document", [pytest.param(each, id=str(each.relative_to(ROOT))) for each in DOCUMENTS]
)


def blocks(document: Path, language: str) -> list[str]:
    found = BLOCK.finditer(document.read_text("utf-8"))
    return [match["text"] for match in found if match["language"] == language]


def commands(console: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with the lines that follow it."""
    for part in console.split("$ ")[1:] if console.startswith("$ ") else []:
        command, _, output = part.partition("\n")
        yield command, output


def shell(command: str, folder: Path) -> str:
    """What `command` prints in `folder`, stderr and stdout as they come."""
    scripts = Path(sys.executable).parent
    kept = {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "FORCE_COLOR"))}
    environment = {**kept, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": COLUMNS}
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return ran.stdout


@every_document
def test_every_console_block_shows_what_its_commands_print(document: Path, tmp_path: Path) -> None:
    if document.name == "candidates.md" and bubblewrap.WHY:
        pytest.skip(f"what it shows is isolated code; {bubblewrap.WHY}")
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for console in blocks(document, "console"):
        shown = list(commands(console))
        assert shown, f"a console block begins with a command: {console}"
        for command, output in shown:
            assert shell(command, tmp_path) == output, command


def test_the_readme_shows_the_three_jobs() -> None:
    shown = [command for block in blocks(ROOT / "README.md", "console") for command, _ in commands(block)]
    for job in ("ingest", "replay", "rates", "scan"):
        assert [command for command in shown if command.startswith(f"leakdown {job} ")], job


@every_document
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(BLOCK.sub("", document.read_text("utf-8")))]
    for target in targets:
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:", "mailto:")):
            continue
        goal = (document.parent / path) if path else document
        assert goal.exists(), target
        assert not anchor or anchor in anchors(goal), target


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", document.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def called(command: object, path: str = "leakdown") -> Iterator[str]:
    """Every command as a user types it."""
    inner = getattr(command, "commands", {})
    for name, each in inner.items():
        yield from called(each, f"{path} {name}")
    if not inner:
        yield path


NAMED = [*called(get_command(app)), *(f"{PREFIX}{name.upper()}" for name in Settings.model_fields)]


@pytest.mark.parametrize("name", NAMED)
def test_every_command_and_setting_is_documented(name: str) -> None:
    documents = (each.read_text("utf-8") for each in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    assert any(f"`{name}" in text for text in documents)


def test_the_readme_leads_to_every_document() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    targets = {match["target"].partition("#")[0] for match in LINK.finditer(BLOCK.sub("", text))}
    assert {str(each.relative_to(ROOT)) for each in DOCUMENTS} - targets == {"README.md"}


def test_the_readme_counts_the_formats_that_there_are() -> None:
    section = (ROOT / "README.md").read_text("utf-8").partition("## What it reads\n")[2].partition("\n## ")[0]
    assert f"There are {len(formats())} formats" in section


def test_the_document_of_detectors_has_a_section_for_each() -> None:
    headings = re.findall(r"^## (\S+@\d+)$", (ROOT / "docs" / "detectors.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(each.id for each in detectors())


def contributed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> ModuleType:
    """The Python block of CONTRIBUTING that makes a `kind`, as a plugin package of one module."""
    [source] = [block for block in blocks(ROOT / "CONTRIBUTING.md", "python") if f" = {kind}(" in block]
    name = f"contributed_{kind.lower()}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / name / "example.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module(name)


def test_the_example_of_a_format_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = discover(contributed(tmp_path, monkeypatch, "Format"), Format)
    raw = (RawLine(number, line.encode()) for number, line in enumerate(example.example.splitlines(), 1))
    lines = [line for line in decode(raw) if isinstance(line, Line)]
    items = list(example.read(lines))
    assert example.sniff([line.value for line in lines]) == 1
    assert len(items) == len(lines) >= 1
    assert all(isinstance(item, Mapped) and item.records for item in items)


def test_the_example_of_a_detector_keeps_its_own_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = discover(contributed(tmp_path, monkeypatch, "Detector"), Detector)
    assert example.leaks
    assert example.clean
    for each in example.leaks:
        found = judge(example, each.output)
        assert found is not None
        assert found.leak
        assert found.markup == each.markup
    assert [each.why for each in example.clean if judge(example, each.output)] == []


def test_the_example_of_a_policy_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = discover(contributed(tmp_path, monkeypatch, "Policy"), Policy)
    cut, whole = (Turn((Round((leak(finish_reason=finish),)),)) for finish in ("length", "stop"))
    assert [example.decide(each, {}).action for each in (cut, whole, Turn())] == ["retry", "publish", "publish"]
    assert example.decide(cut.followed_by(cut.rounds[0].attempts[0]), {}).action == "publish"
