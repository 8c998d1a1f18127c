"""Hostile texts: any text is answered, spans hold, and a megabyte of false starts takes no more than its length."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.grammars import grammars, read_with, readings, worth_asking
from analysis.reading import Reading, Scan
from tests.analysis.grammars.pieces import ANCHORS, EXAMPLES, FALSE_STARTS, TAILS

NAMES = frozenset({"a", "b", "look", "x.y", "(z)*"})
TEXTS = st.lists(
    st.one_of(st.sampled_from((*ANCHORS, *FALSE_STARTS)), st.sampled_from(EXAMPLES), st.text(max_size=8)), max_size=12
).map("".join)


def seconds(text: str, names: frozenset[str] = NAMES) -> float:
    start = process_time()
    readings(text, names)
    return process_time() - start


def sound(text: str, found: list[Reading]) -> bool:
    """Spans lie in the text, in order, apart, with no blank at their edges; calls have names."""
    edges = [edge for each in found for edge in (each.start, each.end)]
    return (
        edges == sorted(edges)
        and all(0 <= each.start < each.end <= len(text) for each in found)
        and all(text[each.start : each.end] == text[each.start : each.end].strip() for each in found)
        and all(call.name for each in found for call in each.calls)
    )


@given(TEXTS, st.sampled_from((NAMES, frozenset[str]())))
def test_any_text_is_answered(text: str, names: frozenset[str]) -> None:
    assert sound(text, readings(text, names))


@given(st.sampled_from(EXAMPLES), st.data())
def test_any_damage_is_answered(text: str, data: st.DataObject) -> None:
    """A piece taken out, another put in."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    damaged = text[:start] + data.draw(st.one_of(st.sampled_from(FALSE_STARTS), st.text(max_size=4))) + text[end:]
    assert sound(damaged, readings(damaged, NAMES))


@given(TEXTS, st.sampled_from((NAMES, frozenset[str]())))
def test_the_prefilter_loses_nothing(text: str, names: frozenset[str]) -> None:
    """Grammars that are not asked have nothing to say: asked all the same, they find nothing."""
    asked = worth_asking(text, names)
    unasked = [grammar for grammar in grammars() if grammar not in asked]
    assert read_with(unasked, text, names) == []
    assert readings(text, names) == read_with(grammars(), text, names)


@given(TEXTS)
def test_no_value_is_invented(text: str) -> None:
    """What closed is among the arguments, where those are told."""
    for reading in readings(text, NAMES):
        for call in reading.calls:
            assert call.arguments is None or all(call.arguments.get(key) == call.closed[key] for key in call.closed)


@pytest.mark.parametrize("piece", FALSE_STARTS)
def test_false_starts_take_linear_time(piece: str) -> None:
    """Four times the text takes less than eight times as long (a quadratic reading: sixteen); the best of three."""
    for tail in TAILS:
        small, large = (piece * (size // len(piece)) + tail for size in (30_000, 120_000))
        ratios = (seconds(large) / max(seconds(small), 0.02) for _ in range(3))
        assert any(ratio < 8 for ratio in ratios)


@pytest.mark.slow
@pytest.mark.parametrize("piece", FALSE_STARTS)
def test_a_megabyte_of_false_starts_takes_two_seconds(piece: str) -> None:
    """On a busy machine; a second on a quiet one."""
    for tail in TAILS:
        text = piece * (1_000_000 // len(piece)) + tail
        assert any(seconds(text) < 2 for _ in range(3))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<tool_call>{"name": "look", "arguments": ' + '{"a":' * 10_000 + "1" + "}" * 10_000, id="objects"),
        pytest.param(
            '<tool_call>{"name": "look", "arguments": {"a": ' + "[" * 10_000 + "]" * 10_000 + "}}", id="lists"
        ),
        pytest.param("[look(a=" + "[" * 10_000 + "]" * 10_000 + ")]", id="Python"),
        pytest.param("<|tool_call>call:look{a:" + "{a:" * 10_000 + "}" * 10_000 + "}", id="Gemma's braces"),
        pytest.param("<function=look><parameter=a>" * 10_000, id="elements"),
        pytest.param('{"tool_calls": [' * 10_000 + "{}" + "]}" * 10_000, id="envelopes"),
    ],
)
def test_brackets_nested_ten_thousand_deep_are_answered(text: str) -> None:
    assert sound(text, readings(text, NAMES))
    assert seconds(text) < 1


def test_five_thousand_names_cost_little() -> None:
    names = frozenset(f"tool_{number}(.*)+[a-z]" for number in range(5_000)) | {"look"}
    text = "The sky is up there, and all is well.\n" * 25_000 + '{"name": "look", "arguments": {}}'
    assert [call.name for reading in readings(text, names) for call in reading.calls] == ["look"]
    assert min(seconds(text, names) for _ in range(3)) < 1


@pytest.mark.parametrize("sign", ["\ud800", "\x00", "\u2028", "\u0130", "\U0001f600"])
def test_odd_characters_move_no_span(sign: str) -> None:
    text = f'{sign}\n<tool_call>\n{{"name": "look", "arguments": {{"a": "{sign}"}}}}\n</tool_call>\n{sign}'
    [reading] = readings(text, NAMES)
    assert text[reading.start : reading.end].startswith("<tool_call>")
    assert text[reading.start : reading.end].endswith("</tool_call>")


def test_a_spent_budget_ends_the_reading() -> None:
    scan = Scan("<tool_call>{}" * 10, NAMES)
    scan.left = 0
    assert [reading for grammar in grammars() for reading in grammar.read(scan) if reading.calls] == []
