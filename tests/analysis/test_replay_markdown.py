"""A replay as Markdown is a document of its own, whatever the outputs hold."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analysis.replay import Disagreement, Judged, Labelled, Replay, replay
from analysis.replay_markdown import CELL, SHOWN, code, markdown
from analysis.statistics.intervals import rate
from tests.analysis.stories import WORDS, Json, finds, label, said, store_of

FIRST = finds("first", WORDS)
SECOND = finds("second", {"MAYBE": ("leaked_call", "likely")})


def report_of(folder: Path, records: list[Json]) -> Replay:
    with store_of(folder, records) as store:
        return replay(store, FIRST, SECOND)


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def tables(tokens: Sequence[Token]) -> list[list[list[Token]]]:
    """Each table as its rows of cells (their inline tokens)."""
    found: list[list[list[Token]]] = []
    for before, token in pairwise(tokens):
        match before.type:
            case "table_open":
                found.append([])
            case "tr_open":
                found[-1].append([])
        if before.type == "tr_open" or before.type in ("th_close", "td_close"):
            continue
        if before.type in ("th_open", "td_open"):
            found[-1][-1].append(token)
    return found


def test_a_report_reads_like_this(tmp_path: Path) -> None:
    records = [
        said("a LEAK"),
        said("hello"),
        said("MAYBE"),
        said("BOOM"),
        said(""),
        label("g0", True),
        label("g1", False),
    ]
    report = report_of(tmp_path, records)
    assert (
        markdown(report.as_json())
        == """\
## Replay: `first@1` (baseline) × `second@1` (candidate)

4 generations; left out: 1 no output; 1 outputs on which the baseline failed; 1 outputs on which the candidate failed.

| | candidate: leak | candidate: no leak |
|---|--:|--:|
| **baseline: leak** | 0 | 1 |
| **baseline: no leak** | 1 | 1 |

2 labelled (95 % intervals in brackets):

| | TP | FP | FN | TN | precision | recall |
|---|--:|--:|--:|--:|---|---|
| baseline | 1 | 0 | 0 | 1 | 100.0% [20.7%, 100.0%] (n = 1) | 100.0% [20.7%, 100.0%] (n = 1) |
| candidate | 0 | 0 | 1 | 1 | undefined (n = 0) | 0.0% [0.0%, 79.3%] (n = 1) |

The candidate adds 0 true and 0 false positives and loses 1 true and 0 false ones; exact McNemar p = 1.

2 disagreements:

| generation | says leak | label | markup | reason |
|---|---|---|---|---|
| ` g0 ` | baseline | leak | ` LEAK ` | ` LEAK stands there ` |
| ` g2 ` | candidate | – | ` MAYBE ` | ` MAYBE stands there ` |
"""
    )


def test_no_label_and_no_difference_are_said_in_words(tmp_path: Path) -> None:
    text = markdown(report_of(tmp_path, [said("hello")]).as_json())
    assert "No output is labelled, so nothing is said of false positives and negatives." in text
    assert "The two agree on every output." in text


def test_of_many_disagreements_the_first_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    text = markdown(report_of(tmp_path, [said(f"LEAK {at}") for at in range(SHOWN + 5)]).as_json())
    assert f"{SHOWN + 5} disagreements, the first {SHOWN}:" in text
    assert len(tables(parsed(text))[-1]) == 1 + SHOWN


HOSTILE = [
    pytest.param("a | b || c", id="pipes"),
    pytest.param("a \\| b \\\\| c \\", id="backslashes before pipes, and at the end"),
    pytest.param("` `` ``` a `````", id="runs of backticks"),
    pytest.param("`", id="one backtick"),
    pytest.param("`|`|``|", id="backticks and pipes"),
    pytest.param("a\n\n# Heading\r\n\r- item", id="line ends"),
    pytest.param("\n```\n</td></table><script>alert(1)</script>", id="a fence and HTML"),
    pytest.param("<!-- <b> & &lt; --> <img src=x onerror=y>", id="HTML"),
    pytest.param("[x](javascript:y) ![z](http://example.org) <http://example.org>", id="links"),
    pytest.param("\x1b[31m\x00\x07\u202e\u200b\u2028\u2029\x85\ud800", id="control and format characters"),
    pytest.param("   ", id="blanks"),
    pytest.param("", id="nothing"),
    pytest.param("**a** _b_ @someone #1", id="emphasis and mentions"),
]


def shown_by(text: str) -> str:
    """The one code span that a table cell with `code(text)` consists of."""
    [table] = tables(parsed(f"| a | b | c |\n|---|---|---|\n| 1 | {code(text)} | 3 |\n"))
    assert [len(row) for row in table] == [3, 3]
    assert [cell.content for cell in table[1]][::2] == ["1", "3"]
    [span] = table[1][1].children or []
    assert span.type == "code_inline"
    return span.content


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_code_span_and_in_its_cell(text: str) -> None:
    shown = shown_by(text)
    assert [one for one in shown if not one.isprintable()] == []
    kept = [(is_, was) for is_, was in zip(shown, text, strict=False) if was.isprintable()]
    assert all(is_ == was for is_, was in kept) or not text.strip()


@given(st.text(st.sampled_from("`|\\<>&![]()*_~#-+ \n\r\t\x00\u2028a😀"), max_size=CELL))
def test_any_text_is_shown_as_it_stands_but_for_what_is_unseen(text: str) -> None:
    shown = shown_by(text)
    expected = "".join(" " if char in "\n\r\t\x00\u2028" else char for char in text)
    assert shown.strip() == expected.strip()


@given(st.text(), st.text(), st.text())
def test_any_disagreement_is_one_row_of_five_cells_and_no_html(generation_id: str, markup: str, reason: str) -> None:
    verdict = {"leak": True, "markup": markup, "reason": reason}
    base = report_of_one(Disagreement(generation_id, "r", None, None, verdict))
    tokens = parsed(markdown(base.as_json()))
    *_, last = tables(tokens)
    assert [len(row) for row in last] == [5, 5]
    assert [one.type for one in tokens if one.type == "html_block"] == []
    assert [c.type for t in tokens for c in t.children or [] if c.type in ("html_inline", "link_open", "image")] == []


def report_of_one(each: Disagreement) -> Replay:
    nobody = Judged(0, 0, 0, 0, rate(0, 0), rate(0, 0))
    labelled = Labelled(0, nobody, nobody, 0, 0, 0, 0, None, {})
    return Replay("a@1", "b@1", 1, {}, 0, 0, 1, 0, 0, 0, labelled, [each], 0.1)


def test_long_text_is_cut_so_that_a_report_fits_a_comment() -> None:
    huge = "|`" * 100_000
    verdict = {"leak": True, "markup": huge, "reason": huge}
    each = Disagreement(huge, "r", None, None, verdict)
    report = report_of_one(each)
    assert len(markdown(report.as_json())) < 5_000
    assert code("x" * 1000) == f"` {'x' * (CELL - 1)}… `"
