"""What is made of a repeated value once is what would be made of it each time."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.repeats import MadeOnce, one_of_equals
from ingest.shapes.openai_message import offered

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


def copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


@given(st.lists(VALUES, max_size=8))
def test_a_value_is_answered_by_one_that_is_written_alike(values: list[Any]) -> None:
    made = MadeOnce[str]()
    for value in [*values, *map(copied, values)]:
        assert json.dumps(one_of_equals(value)) == json.dumps(value)
        assert made.of(one_of_equals(value), json.dumps) == json.dumps(value)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        pytest.param([1], [1.0], id="a whole number and a fraction"),
        pytest.param([1], [True], id="a number and a truth"),
        pytest.param([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], id="another order of keys"),
        pytest.param([0.0], [-0.0], id="two zeros"),
    ],
)
def test_what_python_calls_equal_and_json_writes_otherwise_is_kept_apart(value: Any, other: Any) -> None:
    assert value == other
    assert json.dumps(one_of_equals(other)) == json.dumps(other) != json.dumps(one_of_equals(value))


def test_equal_lists_are_one_object_and_what_is_made_of_it_is_made_once() -> None:
    made, calls = MadeOnce[int](), list[Any]()

    def make(value: Any) -> int:
        calls.append(value)
        return len(value)

    lists = [one_of_equals([{"name": "look at me once"}]) for _ in range(3)]
    assert [made.of(each, make) for each in lists] == [1, 1, 1]
    assert len(calls) == 1
    assert all(each is lists[0] for each in lists)


def test_of_values_that_are_not_kept_it_is_made_anew() -> None:
    """A long one, and one that holds other than JSON: their identity may be another's by the next line."""
    for value in ([{"name": "x" * 100_000}], [{"name": object()}]):
        made = MadeOnce[Any]()
        assert made.of(one_of_equals(value), len) == 1
        assert made.of(one_of_equals(value), list) == value


def test_more_values_than_are_kept_are_all_answered_rightly() -> None:
    made = MadeOnce[str]()
    for turn in range(3):
        for number in range(200):
            value = one_of_equals([{"name": f"tool {number}"}])
            assert made.of(value, json.dumps) == json.dumps(value), turn


def test_a_repeated_offer_is_read_as_the_first() -> None:
    tools = [{"custom": {"name": "run", "format": {}}}, {"type": "web_search"}, {"function": {"name": "ls"}}]
    first = offered(copied(tools))
    assert first == [{"type": "custom", "name": "run", "format": {}}, {"name": "web_search", "type": "web_search"},
                     {"function": {"name": "ls"}}]  # fmt: skip
    assert offered(copied(tools)) is first
