"""A replay as Markdown is a document of its own, whatever the outputs hold."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analysis.detectors import Detector, Finding
from analysis.output import Output
from analysis.replay import Disagreement, Replay, replay
from analysis.replay.shapes import Folding
from analysis.replay_markdown import CELL, SHOWN, code, markdown
from tests.analysis.stories import WORDS, Json, detector, finds, label, said, store_of

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

4 generations; left out: 1 without any output; 1 output on which the baseline failed; 1 output on which the candidate failed.

| | candidate: leak | candidate: no leak |
|---|--:|--:|
| **baseline: leak** | 0 | 1 |
| **baseline: no leak** | 1 | 1 |

Called a leak: +0.0 points (-69.2 to +69.2) by the candidate.

2 labelled (95 % intervals in brackets):

| | TP | FP | FN | TN | precision | recall |
|---|--:|--:|--:|--:|---|---|
| baseline | 1 | 0 | 0 | 1 | 100.0% [20.7%, 100.0%] (n = 1) | 100.0% [20.7%, 100.0%] (n = 1) |
| candidate | 0 | 0 | 1 | 1 | undefined (n = 0) | 0.0% [0.0%, 79.3%] (n = 1) |

The candidate adds 0 true and 0 false positives and loses 1 true and 0 false ones; exact McNemar p = 1. Candidate less baseline: recall -100.0 points (-100.0 to +58.7) of 1 leaks, false alarms +0.0 points (-79.3 to +79.3) of 1 clean.

If each output that is called a leak is retried once, and nothing else is:

- 1 more round, where only the candidate finds a leak; none of them labelled
- 1 fewer round, where only the baseline does; 1 of them labelled: 1 leak passed off, 100.0% (20.7%–100.0%), and 0 good answers kept

<details><summary>If findings counted from another tier on</summary>

| detector | tier | extra rounds | precision | recall | thrown away | passed off |
|---|---|---|---|---|---|---|
| `first@1` | certain | 1 of 3 | 100.0% [20.7%, 100.0%] (n = 1) | 100.0% [20.7%, 100.0%] (n = 1) | 0 of 1 | 0 of 1 |
| `first@1` | likely | 1 of 3 | 100.0% [20.7%, 100.0%] (n = 1) | 100.0% [20.7%, 100.0%] (n = 1) | 0 of 1 | 0 of 1 |
| `first@1` | possible | 2 of 3 | 100.0% [20.7%, 100.0%] (n = 1) | 100.0% [20.7%, 100.0%] (n = 1) | 0 of 1 | 0 of 1 |
| `second@1` | certain | 0 of 3 | undefined (n = 0) | 0.0% [0.0%, 79.3%] (n = 1) | 0 of 1 | 1 of 1 |
| `second@1` | likely | 1 of 3 | undefined (n = 0) | 0.0% [0.0%, 79.3%] (n = 1) | 0 of 1 | 1 of 1 |
| `second@1` | possible | 1 of 3 | undefined (n = 0) | 0.0% [0.0%, 79.3%] (n = 1) | 0 of 1 | 1 of 1 |

</details>

<details><summary>Where they differ most</summary>

| by | value | n | both | baseline only | candidate only | difference |
|---|---|--:|--:|--:|--:|---|
| kind found | ` leaked_call ` | 2 | 0 | 1 | 1 | +0.0 points (-81.1 to +81.1) |
| tier found | ` certain ` | 1 | 0 | 1 | 0 | -100.0 points (-100.0 to +58.7) |
| tier found | ` likely ` | 1 | 0 | 0 | 1 | +100.0 points (-58.7 to +100.0) |

</details>

2 disagreements of 2 shapes:

| n | says leak | label | markup | reason | such as |
|--:|---|---|---|---|---|
| 1 | baseline | 1 of 1 leaks | ` … ` | ` LEAK stands there ` | ` g0 ` |
| 1 | candidate | – | ` … ` | ` MAYBE stands there ` | ` g2 ` |
"""  # noqa: E501
    )


def test_no_label_and_no_difference_are_said_in_words(tmp_path: Path) -> None:
    text = markdown(report_of(tmp_path, [said("hello")]).as_json())
    assert "No output is labelled, so nothing is said of false positives and negatives." in text
    assert "The two agree on every output." in text


def test_of_many_shapes_the_most_frequent_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    signs = "!?%&$"
    records = [said(f"{first}{second}LEAK") for first in signs for second in signs]
    with store_of(tmp_path, records) as store:
        text = markdown(replay(store, spread(), SECOND).as_json())
    assert f"25 disagreements of 25 shapes, the {SHOWN} most frequent:" in text
    assert len(tables(parsed(text))[-1]) == 1 + SHOWN


def spread() -> Detector:
    """A detector whose markup is the whole text, which makes each its own shape."""

    def find(output: Output) -> Finding | None:
        text = output.content or ""
        return Finding("leaked_call", None, "certain", None, "content", 0, len(text), f"<{text}>", "so it is")

    return detector("spread", find, ("LEAK",))


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


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """A report with one disagreement."""
    return report_of(tmp_path_factory.mktemp("plain"), [said("MAYBE", model="m | <b>", engine="`")])


@given(generation_id=st.text(), markup=st.text(), reason=st.text())
def test_any_disagreement_is_one_row_of_six_cells_and_no_html(
    plain: Replay, generation_id: str, markup: str, reason: str
) -> None:
    tokens = parsed(markdown(with_one(plain, generation_id, markup, reason)))
    *_, last = tables(tokens)
    assert [len(row) for row in last] == [6, 6]
    ours = ("<details>", "</details>")
    assert [one.content for one in tokens if one.type == "html_block" and not one.content.startswith(ours)] == []
    assert [c.type for t in tokens for c in t.children or [] if c.type in ("html_inline", "link_open", "image")] == []


def with_one(report: Replay, generation_id: str, markup: str, reason: str) -> Json:
    """The report, with another disagreement in the place of its own."""
    verdict = {
        "leak": True, "kind": "leaked_call", "family": None, "tier": "certain", "tool": None, "channel": "content",
        "markup": markup, "reason": reason, "start": 0, "end": 1, "calls": [],
    }  # fmt: skip
    folding = Folding(())
    folding.take(Disagreement(generation_id, "r", None, None, verdict))
    return {**report.as_json(), "shapes": folding.folded().as_json()}


def test_hostile_segments_stay_in_their_cells(plain: Replay) -> None:
    *_, segments, _ = tables(parsed(markdown(plain.as_json())))
    assert {len(row) for row in segments} == {7}
    assert [row[1].content for row in segments[1:3]] == ["` m | <b> `", "`` ` ``"]


def test_long_text_is_cut_so_that_a_report_fits_a_comment(plain: Replay) -> None:
    huge = "|`" * 100_000
    assert len(markdown(with_one(plain, huge, huge, huge))) < 8_000
    assert code("x" * 1000) == f"` {'x' * (CELL - 1)}… `"
