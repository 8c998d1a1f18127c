"""Hostile names never reach a terminal as they are, and a closed pipe is no failure."""

import errno
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli import show
from tests.api.conftest import LEAK, SAMPLE, SCRIPT, Leakdown, generation, spawn, write

ESCAPES = "\x1b[31mred\x1b[0m\x9b2J"
BIDI = "\u202egpj\u2066\u200f"
MARKUP = "[red][/red][TOOL_CALLS]:smile:"
HOSTILE = f"{ESCAPES}{BIDI}{MARKUP}\u2028\r\n\t"
UNSAFE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
PAIR = ("--baseline", "openrouter-net@1", "--candidate", "goat@1")


def obeyed(text: str) -> set[str]:
    """The characters of `text` that a terminal would obey."""
    return {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}


@given(text=st.text(st.characters()))
def test_safe_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = show.safe(text)
    assert obeyed(shown) == set()
    assert "\n" not in shown
    assert shown.encode().decode() == shown
    assert (shown == text) is (not {unicodedata.category(char) for char in text} & UNSAFE)


@given(text=st.text(), limit=st.integers(1, 20))
def test_brief_text_is_the_safe_start(text: str, limit: int) -> None:
    shown, whole = show.brief(text, limit), show.safe(text)
    assert len(shown) <= limit
    assert shown == whole or (shown[-1] == "…" and whole.startswith(shown[:-1]))


OBEYED = (
    *range(0x20), *range(0x7F, 0xA0), 0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2065),
    *range(0x2066, 0x2070), 0xFEFF,
)  # fmt: skip


@pytest.mark.parametrize("char", [pytest.param(chr(code), id=f"U+{code:04X}") for code in OBEYED])
def test_json_says_the_same_and_holds_nothing_that_a_terminal_obeys(
    char: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    value = {"a": f"x{char}y", char: ["€", "漢", "é", "😀"]}
    show.json_line(value)
    sys.stdout.flush()
    line = capfdbinary.readouterr().out
    assert json.loads(line) == value
    assert obeyed(line.decode()) == set()
    assert "漢" in line.decode()


@pytest.fixture
def hostile(leakdown: Leakdown) -> Path:
    """A store whose every name is hostile."""
    names = {"model": HOSTILE, "engine": MARKUP, "template": BIDI, "generation_id": f"g{HOSTILE}"}
    path = write(f"log{ESCAPES}{BIDI}[red].jsonl", generation("a", 0, f"<function={HOSTILE}>{LEAK}", **names))
    assert leakdown("ingest", path, "--store", "s.duckdb", "--set", f"client={HOSTILE}").code == 0
    return Path("s.duckdb")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("rates", "--by", "model,engine,template,client"), id="rates"),
        pytest.param(("rates", "--json"), id="rates as JSON"),
        pytest.param(("replay", *PAIR), id="replay"),
        pytest.param(("replay", *PAIR, "--json", "-"), id="replay as JSON"),
        pytest.param(("uploads", "list"), id="uploads"),
        pytest.param(("uploads", "set", "1", f"engine={HOSTILE}"), id="a correction"),
        pytest.param(("rates", "--where", f"{HOSTILE}=x"), id="an unknown filter"),
        pytest.param(("detectors", "show", HOSTILE), id="an unknown detector"),
        pytest.param((HOSTILE,), id="an unknown command"),
        pytest.param(("ingest", f"missing{HOSTILE}"), id="a missing file"),
    ],
)
def test_hostile_names_are_printed_as_escapes(leakdown: Leakdown, hostile: Path, call: tuple[str, ...]) -> None:
    takes_store = call[0] not in (HOSTILE, "detectors")
    ran = leakdown(*call, *(("--store", hostile) if takes_store else ()))
    assert ran.out + ran.err
    assert obeyed(ran.out) == set()
    assert obeyed(ran.err) == set()


def test_square_brackets_and_colons_are_printed_as_they_stand(leakdown: Leakdown, hostile: Path) -> None:
    assert MARKUP in leakdown("rates", "--store", hostile).out
    assert "[red].jsonl" in leakdown("uploads", "list", "--store", hostile).out


def test_reasons_and_file_names_of_bad_lines_are_safe(leakdown: Leakdown) -> None:
    path = Path(f"log{ESCAPES}.jsonl")
    good = json.dumps(generation("a", 0, "x"))
    path.write_text(f'{good}\n{{"type":"{HOSTILE}"}}\n{{"type":"generation","\x1b[2J')
    for command in ("ingest", "scan"):
        ran = leakdown(command, path)
        assert "quarantined" in ran.err
        assert obeyed(ran.out + ran.err) == set()


def test_a_cell_of_a_table_is_cut_and_a_missing_value_is_a_dash(capfd: pytest.CaptureFixture[str]) -> None:
    show.table(("name", "n"), [("x" * 1_000_000, 1234), (None, None)])
    header, long, empty = capfd.readouterr().out.splitlines()
    assert long.split() == ["x" * 199 + "…", "1,234"]
    assert empty.split() == ["–", "–"]
    assert len(header) == len(long)


def read_all(master: int) -> str:
    """What a terminal was sent until its last writer closed it."""
    pieces = []
    try:
        while piece := os.read(master, 65536):
            pieces.append(piece)
    except OSError as fault:
        if fault.errno != errno.EIO:
            raise
    return b"".join(pieces).decode()


def on_a_terminal(*arguments: str | Path, columns: int) -> tuple[int, str]:
    """Exit code and what the terminal was sent."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    with subprocess.Popen([SCRIPT, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        sent = read_all(master)
    os.close(master)
    return process.returncode, sent


def test_on_a_terminal_there_is_a_bar_with_the_files_own_name_its_bytes_and_the_time_left() -> None:
    code, sent = on_a_terminal("ingest", write("[red] [bold].jsonl", generation("a", 0, "x")), columns=100)
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent)
    assert re.search(r"\[red\] \[bold\]\.jsonl ━+ \d+/\d+ bytes .* \d:\d\d:\d\d", plain)


def test_on_a_narrow_terminal_no_figure_is_folded_within_its_cell(sample_store: Path) -> None:
    code, sent = on_a_terminal("rates", "--store", sample_store, columns=40)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent).replace("\r", "\n").splitlines()
    assert code == 0
    assert set(spawn("rates", "--store", sample_store).out.splitlines()) <= set(plain)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("scan", SAMPLE / "runs.jsonl"), id="scan"),
        pytest.param(("rates",), id="rates"),
        pytest.param(("replay", *PAIR), id="replay"),
        pytest.param(("replay", *PAIR, "--json", "-"), id="replay as JSON"),
        pytest.param(("export", "--jsonl", "-"), id="export"),
        pytest.param(("detectors", "show", "goat@1"), id="detectors show"),
        pytest.param(("schema",), id="schema"),
    ],
)
def test_a_closed_pipe_is_the_end_and_no_failure(sample_store: Path, call: tuple[str | Path, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [SCRIPT, *call], stdout=writing, stderr=subprocess.PIPE, env={**os.environ, "LEAKDOWN_STORE": str(sample_store)}
    ) as process:
        os.close(writing)
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert "Error" not in said
    assert process.returncode == 0


def test_head_takes_a_line_of_a_long_scan() -> None:
    command = f"{SCRIPT} scan {SAMPLE / 'runs.jsonl'} | head -1"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, check=True)
    assert json.loads(ran.stdout)["generation_id"] == "run-000.00"
    assert ran.stderr == b""


def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run([SCRIPT, "schema"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.stderr == b"leakdown: no space left to write to; free some and run it again\n"
    assert ran.returncode == 2


def test_an_output_that_cannot_show_a_character_gets_its_escape(sample_store: Path) -> None:
    ran = spawn("rates", "--by", "model", "--store", sample_store, PYTHONIOENCODING="ascii")
    assert ran.code == 0
    assert "\\u2013" in ran.out
