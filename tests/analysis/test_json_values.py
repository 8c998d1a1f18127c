"""What counts as JSON: whole, bounded, and strictly no member twice and nothing but Unicode."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.json_values import MAX_DEPTH, UnreadableJson, bounded_json, strict_json
from tests.timing import takes_less

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param('{"a": 1, "a": 1}', "duplicate_member", id="a member twice"),
        pytest.param('[{"b": [{"a": 1, "\\u0061": 2}]}]', "duplicate_member", id="twice in depth, once escaped"),
        pytest.param('{"a": 1', "unclosed_json", id="the last brace is missing"),
        pytest.param('[{"a": 1]', "unclosed_json", id="an inner brace is missing"),
        pytest.param('{"a": "}', "unclosed_json", id="a string does not end, whatever stands in it"),
        pytest.param("", "not_json", id="nothing"),
        pytest.param("{}}", "not_json", id="a brace too many"),
        pytest.param("{'a': 1}", "not_json", id="single quotes"),
        pytest.param('{"a": NaN}', "not_json", id="NaN"),
        pytest.param('{"a": -Infinity}', "not_json", id="an infinity"),
        pytest.param("1e999", "not_json", id="beyond a double"),
        pytest.param("9" * 5000, "not_json", id="a number of five thousand digits"),
        pytest.param('"a\0b"', "not_json", id="a bare NUL in a string"),
        pytest.param("[" * 10_000, "too_deep", id="ten thousand levels, never closed"),
        pytest.param("[" * 10_000 + "]" * 10_000, "too_deep", id="ten thousand levels, closed"),
        pytest.param('{"a":' * 101 + "1" + "}" * 101, "too_deep", id="one level too many"),
        pytest.param('"\\ud800"', "not_unicode", id="an escaped half of a pair"),
        pytest.param('{"\ud800": 1}', "not_unicode", id="a bare half of a pair, in a name"),
    ],
)
def test_what_is_not_taken_strictly(text: str, code: str) -> None:
    with pytest.raises(UnreadableJson) as refused:
        strict_json(text)
    assert refused.value.code == code
    assert str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(' {"a": [1, {"a": 2}]} ', {"a": [1, {"a": 2}]}, id="one name on two levels"),
        pytest.param('"\\ud83d\\ude00"', "😀", id="a whole pair, escaped"),
        pytest.param('"' + "[" * 500 + '"', "[" * 500, id="brackets in a string are no levels"),
        pytest.param('"\\"' + "[" * 500 + '"', '"' + "[" * 500, id="nor behind an escaped quote"),
        pytest.param(f"[{'[],' * 500}[]]", [[]] * 501, id="many brackets, two levels"),
    ],
)
def test_what_is_taken(text: str, value: object) -> None:
    assert strict_json(text) == bounded_json(text) == value


def test_a_hundred_levels_are_taken() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(strict_json(text)) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="the last of equal members"),
        pytest.param('"\\ud800"', "\ud800", id="a lone surrogate"),
    ],
)
def test_what_is_read_but_not_strictly(text: str, value: object) -> None:
    assert bounded_json(text) == value


@given(value=VALUES)
def test_whatever_json_writes_is_read_back(value: object) -> None:
    assert strict_json(json.dumps(value)) == value


@given(value=VALUES, data=st.data())
def test_a_proper_prefix_of_an_object_is_never_taken(value: object, data: st.DataObject) -> None:
    text = json.dumps({"a": value})
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(UnreadableJson) as refused:
        strict_json(text[:cut])
    assert refused.value.code == "unclosed_json"


@given(text=st.text(st.sampled_from('{}[]",:\\a1 \n\ud800')))
def test_any_text_is_answered(text: str) -> None:
    try:
        taken = json.loads(text)
    except ValueError:
        with pytest.raises(UnreadableJson):
            bounded_json(text)
    else:
        assert bounded_json(text) == taken


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param('"\\', id="quotes before escapes"),
        pytest.param('\\"', id="escaped quotes"),
        pytest.param("[],", id="empty arrays"),
        pytest.param('{"a":', id="objects that never close"),
        pytest.param('"a","', id="strings"),
    ],
)
def test_a_megabyte_takes_less_than_a_second(piece: str) -> None:
    text = "[" + piece * (1_000_000 // len(piece))

    def refused() -> None:
        with pytest.raises(UnreadableJson):
            strict_json(text)

    assert takes_less(1, refused)
