"""Raw argument text is read as the tool's schema types it; what does not fit stays text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.evidence.typed import typed


@pytest.mark.parametrize(
    ("raw", "schema", "value"),
    [
        pytest.param("3", {"type": "integer"}, 3, id="an integer"),
        pytest.param(" 3\n", {"type": "integer"}, 3, id="blanks around it"),
        pytest.param("3.5", {"type": "number"}, 3.5, id="a number"),
        pytest.param("3", {"type": "string"}, "3", id="digits where text is wanted"),
        pytest.param(" x ", {"type": "string"}, " x ", id="text keeps its blanks"),
        pytest.param("true", {"type": "boolean"}, True, id="a boolean"),
        pytest.param("True", {"type": "boolean"}, True, id="a boolean as Python writes it"),
        pytest.param("FALSE", {"type": "boolean"}, False, id="a boolean in capitals"),
        pytest.param("yes", {"type": "boolean"}, "yes", id="a word that is no boolean"),
        pytest.param("None", {"type": "null"}, None, id="null as Python writes it"),
        pytest.param('["a"]', {"type": "array"}, ["a"], id="a list"),
        pytest.param('{"a": 1}', {"type": "object"}, {"a": 1}, id="an object"),
        pytest.param("many", {"type": "integer"}, "many", id="a word where a number is wanted"),
        pytest.param("3", {"type": ["string", "integer"]}, "3", id="text is among the types"),
        pytest.param("3", {"type": ["integer", "null"]}, 3, id="several types without text"),
        pytest.param("null", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, id="anyOf"),
        pytest.param("3", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3", id="anyOf with text"),
        pytest.param("3", {"oneOf": [{"type": "integer"}]}, 3, id="oneOf"),
        pytest.param("3", {}, "3", id="a property without a type"),
        pytest.param("3", True, "3", id="a schema that is true"),
        pytest.param("3", "integer", "3", id="a property that is no schema"),
        pytest.param("3", {"type": 5}, "3", id="a type that is none"),
        pytest.param("3", {"anyOf": 5}, "3", id="an anyOf that is none"),
        pytest.param("3", {"type": {"a": 1}}, "3", id="a type that is an object"),
        pytest.param("true", {"type": "integer"}, "true", id="JSON of another type than the schema wants"),
        pytest.param("[" * 10_000, {"type": "array"}, "[" * 10_000, id="nested ten thousand deep"),
        pytest.param("NaN", {"type": "number"}, "NaN", id="a number that JSON does not have"),
        pytest.param("1e999", {"type": "number"}, "1e999", id="a number beyond a double"),
        pytest.param("3.0", {"type": "integer"}, 3.0, id="a whole number with a point"),
        pytest.param("9" * 5_000, {"type": "integer"}, "9" * 5_000, id="an integer of too many digits"),
    ],
)
def test_a_value_by_its_property(raw: str, schema: Any, value: Any) -> None:
    found = typed({"a": raw}, {"properties": {"a": schema}})["a"]
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(None, id="none in the source"),
        pytest.param({}, id="empty"),
        pytest.param({"properties": None}, id="properties that are none"),
        pytest.param({"properties": ["a"]}, id="properties in a list"),
        pytest.param({"properties": {"b": {"type": "integer"}}}, id="another property"),
    ],
)
def test_without_a_property_text_stays_text(schema: Any) -> None:
    assert typed({"a": "3"}, schema) == {"a": "3"}


def test_what_is_no_text_stays_as_it_is() -> None:
    assert typed({"a": 3, "b": [1]}, {"properties": {"a": {"type": "string"}}}) == {"a": 3, "b": [1]}


@given(st.text(), st.sampled_from(["integer", "number", "boolean", "array", "object", "null"]))
def test_any_text_is_answered(raw: str, kind: str) -> None:
    found = typed({"a": raw}, {"properties": {"a": {"type": kind}}})
    assert list(found) == ["a"]
