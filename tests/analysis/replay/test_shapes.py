"""Disagreements that are alike are one shape; their examples show both verdicts in the text."""

from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import Detector, Finding
from analysis.output import Output
from analysis.replay import replay, shapes
from analysis.replay.skeleton import MOST, reason_class, skeleton, vocabulary
from tests.analysis.stories import WORDS, Json, detector, finds, label, said, store_of
from tests.timing import takes_less

SYNTAX = vocabulary(["<<call>>"])
FIRST = finds("first", WORDS)
SECOND = finds("second", {"MAYBE": ("leaked_call", "likely")})
QWEN = "<tool_call>\n<function={}>\n<parameter=path>\n{}\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        pytest.param(
            QWEN.format("ls", "a.txt"),
            "<tool_call> <function=…> <parameter=…> … </parameter> </function> </tool_call>",
            id="tags",
        ),
        pytest.param('{"name": "ls", "arguments": {"path": "a", "n": 3}}', '{"name": …, "arguments": {…}}', id="JSON"),
        pytest.param('{"name": "ls", "arguments": {"pa', '{"name": …, "arguments": {…', id="JSON that is cut"),
        pytest.param('{"name": "a \\" b", "x": 1}', '{"name": …}', id="an escaped quote"),
        pytest.param(
            "<|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{}",
            "<|tool_call_begin|>…<|tool_call_argument_begin|>{}",
            id="tokens",
        ),
        pytest.param("<function=name> must come first; in a.py.", "<function=…> …", id="prose after a tag"),
        pytest.param("the function name must come first", "…", id="prose with words of the syntax"),
        pytest.param("<parameter=a>1</parameter> <parameter=b>2</parameter>", "<parameter=…>…</parameter>", id="twice"),
        pytest.param("<<call>>ls(1)<</call>>", "<<call>>…<</call>>", id="syntax of a detector of one's own"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_skeleton_is_what_the_syntax_leaves(markup: str, expected: str) -> None:
    assert skeleton(markup, SYNTAX) == expected


NAME = st.from_regex(r"[a-z]{2,8}_[a-z]{2,8}", fullmatch=True).filter(lambda name: name not in SYNTAX)


@given(NAME, NAME, st.integers(), st.integers())
def test_names_and_numbers_do_not_matter(one: str, other: str, a: int, b: int) -> None:
    assert skeleton(QWEN.format(one, a), SYNTAX) == skeleton(QWEN.format(other, b), SYNTAX)


@given(st.text())
def test_any_text_has_a_short_skeleton(text: str) -> None:
    assert len(skeleton(text, SYNTAX)) <= MOST


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"' * 100_000, id="quotes"),
        pytest.param('"\\' * 50_000, id="escapes"),
        pytest.param("<function=" * 10_000, id="openers"),
        pytest.param("ab ." * 30_000, id="words"),
        pytest.param("".join(map(chr, range(0x2500, 0x2600))) * 400, id="signs"),
    ],
)
def test_hostile_markup_takes_no_time(text: str) -> None:
    numbers = count()  # a text that was seen before is not read again

    def twenty() -> None:
        for at in islice(numbers, 20):
            skeleton(f"{at}{text}", SYNTAX)
            reason_class(f"{at}{text}", frozenset())

    assert takes_less(1, twenty)


@pytest.mark.parametrize(
    ("reason", "names", "expected"),
    [
        pytest.param("a call of ls, which is offered", {"ls"}, "a call of …, which is offered", id="a name"),
        pytest.param("a call of ls, read", {"ls", "read"}, "a call of …", id="names"),
        pytest.param("it quotes 'x y' and `z` 12 times", set(), "it quotes … and … times", id="quotes and numbers"),
        pytest.param("in the syntax of qwen3_coder_xml", set(), "in the syntax of qwen3_coder_xml", id="a family"),
        pytest.param("a call of a.b:0. It", {"a.b:0"}, "a call of … It", id="a name with signs"),
    ],
)
def test_the_class_of_a_reason_names_nobody(reason: str, names: set[str], expected: str) -> None:
    assert reason_class(reason, frozenset(names)) == expected


def report_of(folder: Path, records: list[Json], *pair: Detector) -> Any:
    baseline, candidate = pair or (FIRST, SECOND)
    with store_of(folder, records) as store:
        return replay(store, baseline, candidate).as_json()


def test_the_most_frequent_shape_comes_first_and_labels_are_counted(tmp_path: Path) -> None:
    records = [said("CUT a"), said("LEAK 1"), said("LEAK 2"), said("LEAK 3"), said("LEAK 4"), said("MAYBE 5")]
    found = report_of(tmp_path, [*records, label("g1", True), label("g2", False)])["shapes"]
    told = [(each["n"], each["says_leak"], each["labelled"]) for each in found["rows"]]
    assert told == [
        (4, "baseline", {"n": 2, "leaks": 1}),
        (1, "baseline", {"n": 0, "leaks": 0}),
        (1, "candidate", {"n": 0, "leaks": 0}),
    ]
    assert found["rows"][0]["baseline"]["kind"] == "leaked_call"
    assert found["rows"][0]["candidate"] is None
    assert found["rows"][2]["baseline"]["kind"] == "orphan_markup"
    assert [each["generation_id"] for each in found["rows"][0]["examples"]] == ["g1", "g2", "g3"]
    assert found["left_out"] == {"shapes": 0, "disagreements": 0}


def test_what_is_not_shown_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "SHOWN", 1)
    monkeypatch.setattr(shapes, "MOST", 2)
    found = report_of(tmp_path, [said("LEAK"), said("LEAK b"), said("CUT"), said("MAYBE"), said("CUT c")])["shapes"]
    assert [each["n"] for each in found["rows"]] == [2]
    assert found["left_out"] == {"shapes": 1, "disagreements": 3}


def spans(name: str, channel: Any, start: int, end: int, tier: Any) -> Detector:
    """A detector that finds the same span in every output that has an X."""

    def find(output: Output) -> Finding | None:
        text = (output.content if channel == "content" else output.reasoning) or ""
        return Finding("leaked_call", None, tier, None, channel, start, end, text[start:end][:200], "so it is")

    return detector(name, find, ("X",))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            ("content", 2, 6), ("content", 4, 8),
            [("content", 0, [("X ", []), ("ab", ["baseline"]), ("cd", ["baseline", "candidate"]),
                             ("ef", ["candidate"]), ("gh", [])], 0)],
            id="spans that overlap",
        ),
        pytest.param(
            ("content", 2, 4), ("content", 2, 4),
            [("content", 0, [("X ", []), ("ab", ["baseline", "candidate"]), ("cdefgh", [])], 0)],
            id="the same span",
        ),
        pytest.param(
            ("content", 0, 2), ("reasoning", 1, 3),
            [("content", 0, [("X ", ["baseline"]), ("abcdefgh", [])], 0),
             ("reasoning", 0, [("0", []), ("12", ["candidate"]), ("34", [])], 0)],
            id="two channels",
        ),
        pytest.param(("tool_name", 0, 2), ("tool_arguments", 1, 3), [], id="no text of a channel that is none"),
    ],
)  # fmt: skip
def test_both_verdicts_are_marked_in_the_text(
    first: tuple[str, int, int], second: tuple[str, int, int], expected: list[Any], tmp_path: Path
) -> None:
    pair = spans("left", *first, "likely"), spans("right", *second, "possible")
    [shape] = report_of(tmp_path, [said("X abcdefgh", reasoning="01234")], *pair)["shapes"]["rows"]
    told = [
        (
            each["channel"],
            each["hidden_before"],
            [(piece["text"], piece["by"]) for piece in each["pieces"]],
            each["hidden_after"],
        )
        for each in shape["examples"][0]["passages"]
    ]
    assert told == expected


def test_of_a_long_text_the_part_around_the_marks_is_shown(tmp_path: Path) -> None:
    text = f"{'é' * 1000}LEAK{'y' * 2000}"
    [shape] = report_of(tmp_path, [said(text)])["shapes"]["rows"]
    [passage] = shape["examples"][0]["passages"]
    assert "".join(piece["text"] for piece in passage["pieces"]) == f"{'é' * 160}LEAK{'y' * 160}"
    assert (passage["hidden_before"], passage["hidden_after"]) == (840, 1840)


def test_marks_far_apart_are_two_passages(tmp_path: Path) -> None:
    pair = spans("left", "content", 0, 3, "likely"), spans("right", "content", 4990, 4995, "possible")
    [shape] = report_of(tmp_path, [said("X" + "a" * 5000)], *pair)["shapes"]["rows"]
    sides = [[piece["by"] for piece in each["pieces"] if piece["by"]] for each in shape["examples"][0]["passages"]]
    assert sides == [[["baseline"]], [["candidate"]]]


def test_an_id_that_names_several_outputs_shows_the_right_one(tmp_path: Path) -> None:
    records = [said(f"{'z' * at} LEAK {at}", generation_id="same", round=at) for at in range(3)]
    [shape] = report_of(tmp_path, records)["shapes"]["rows"]
    for each in shape["examples"]:
        [passage] = each["passages"]
        assert [piece["text"] for piece in passage["pieces"] if piece["by"]] == ["LEAK"]
