"""The accuracy tables: right on a small corpus whose figures a person can count, and written to their place alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import Detector, Finding, Tier
from analysis.output import Call, Output
from data.accuracy import BEGIN, END, report, rows, scored, write
from ingest.errors import UsageError

TOOL = {"name": "ls", "description": "List.", "parameters": {"type": "object"}}


def find(output: Output) -> Finding | None:
    """`LEAK name {arguments}` is a leak, `MAYBE` a possible one."""
    text = output.content or ""
    word, _, rest = text.partition(" ")
    if word not in ("LEAK", "MAYBE"):
        return None
    name, _, arguments = rest.partition(" ")
    calls = (Call(name, arguments or None),) if name else ()
    tier: Tier = "likely" if word == "LEAK" else "possible"
    return Finding("leaked_call", "f", tier, name or None, "content", 0, len(text), text, "it says so", calls)


SAYS_SO = Detector("leakdown", 7, "says so", "these tests", ("LEAK", "MAYBE"), find, (), ())


def row(
    text: str, kind: str | None, *calls: tuple[str, Any], family: str | None = None, **change: Any
) -> dict[str, Any]:
    output = {"content": text, "reasoning": None, "tool_calls": [], "tools": [TOOL], "finish_reason": "stop",
              "call_mode": "native"}  # fmt: skip
    told = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {
        "id": text,
        "output": output | change,
        "leak": kind is not None,
        "kind": kind,
        "family": family,
        "calls": told,
    }


OPEN_LEAKS = (
    row('LEAK ls {"a": 1}', "leaked_call", ("ls", {"a": 1}), family="hermes_json"),
    row('LEAK ls {"a": 2}', "leaked_call", ("ls", {"a": 1}), family="hermes_json"),
    row("LEAK", "truncated_call", ("ls", None), family="hermes_json"),
    row("LEAK ls", "truncated_call", ("ls", None), family="harmony"),
    row("MAYBE ls", "printed_call", ("ls", None), family="harmony"),
    row("LEAK", "orphan_markup"),
)
OPEN_CLEAN = (row("fine", None), row("LEAK ls", None), row("MAYBE ls", None), row("LEAK", None, call_mode="text"))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    parts = {"leaks-open": OPEN_LEAKS, "clean-open": OPEN_CLEAN, "leaks-held": OPEN_LEAKS[:1], "clean-held": ()}
    for name, lines in parts.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    return tmp_path


def cells(table: str, begin: str) -> list[str]:
    """The cells of the one line that begins so."""
    [line] = [line for line in table.splitlines() if line.startswith(begin)]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_rows_are_read_by_part(corpus: Path) -> None:
    assert [each.leak for each in rows("open", corpus)] == [False] * 4 + [True] * 6
    [held] = rows("held", corpus)
    assert (held.part, held.kind, held.calls) == ("held", "leaked_call", (("ls", {"a": 1}),))


def test_a_line_separator_within_a_row_does_not_end_it(tmp_path: Path) -> None:
    text = "one\u2028two\x85three"
    (tmp_path / "leaks-open.jsonl").write_text(json.dumps(row(text, None), ensure_ascii=False) + "\n", "utf-8")
    [read] = rows("open", tmp_path)
    assert read.output.content == text


def test_what_is_possible_is_not_said_and_calls_as_text_are_at_most_possible(corpus: Path) -> None:
    said = {each.row.id: each.said for each in scored(SAYS_SO, "open", corpus) if not each.row.leak}
    assert said == {"fine": False, "LEAK ls": True, "MAYBE ls": False, "LEAK": False}


def test_the_overview_counts_found_wrong_and_exact(corpus: Path) -> None:
    """Found: 5 of 6 leaks. Wrong: 1 of 4 clean ones. Exact: 2 of the 4 found whose calls the label tells."""
    _, part, found, wrong, exact = cells(report(corpus, [SAYS_SO]), "| `leakdown@7` | open")
    assert part == "open"
    assert found.startswith("5/6 83.3% (")
    assert wrong.startswith("1/4 25.0% (")
    assert exact.startswith("2/4 50.0% (")


def test_without_rows_there_is_no_rate(corpus: Path) -> None:
    assert cells(report(corpus, [SAYS_SO]), "| `leakdown@7` | held")[3] == "–"


@pytest.mark.parametrize(
    ("begin", "found", "exact"),
    [
        pytest.param("| leaked_call", "2/2", "1/2", id="a kind"),
        pytest.param("| truncated_call", "2/2", "1/2", id="a kind whose calls are told once"),
        pytest.param("| printed_call", "0/1", "–", id="a kind that is not found"),
        pytest.param("| hermes_json", "3/3", "1/3", id="a family"),
        pytest.param("| none", "1/1", "–", id="no family"),
    ],
)
def test_the_tables_by_kind_and_family(corpus: Path, begin: str, found: str, exact: str) -> None:
    (corpus / "leaks-held.jsonl").write_text("", "utf-8")
    table = cells(report(corpus, [SAYS_SO]), begin)
    assert table[1].split(" ")[0] == found
    assert table[3].split(" ")[0] == exact


@pytest.mark.parametrize(
    ("tier", "leaks"),
    [
        pytest.param("| likely", "5/6", id="with one clean row"),
        pytest.param("| possible", "1/3", id="with two clean rows"),
        pytest.param("| certain", "–", id="no finding"),
    ],
)
def test_of_the_findings_of_a_tier_the_leaks_are_counted(corpus: Path, tier: str, leaks: str) -> None:
    assert cells(report(corpus, [SAYS_SO]), tier)[1].split(" ")[0] == leaks


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "detectors.md"
    page.write_text(f"# Detectors\n\n{BEGIN}\n\n| old |\n\n{END}\n\nMore, and {END} again.\n", "utf-8")
    write("| new |\n", page)
    assert page.read_text("utf-8") == f"# Detectors\n\n{BEGIN}\n\n| new |\n\n{END}\n\nMore, and {END} again.\n"
    write("| new |\n", page)
    assert page.read_text("utf-8").count("| new |") == 1


@pytest.mark.parametrize(
    "text", [pytest.param("# none\n", id="no marks"), pytest.param(f"{BEGIN}\nopen\n", id="no end")]
)
def test_a_page_without_the_section_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    page = tmp_path / "detectors.md"
    page.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="no section"):
        write("| new |\n", page)
    assert page.read_text("utf-8") == text
