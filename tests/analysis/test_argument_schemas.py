"""Arguments against a tool's schema: what fits, what is unknown at any depth, which schemas are none."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.argument_schemas import MAX_STEPS, ArgumentSchema, UnusableSchema
from analysis.schema_steps import StepCounter
from tests.timing import takes_less

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def codes(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> set[str]:
    return {each.code for each in ArgumentSchema(schema).violations(arguments)}


PAIR = object_of(x={"type": "integer"}, y={"type": "integer"})
NESTED_ANY_OF = object_of(
    v={"anyOf": [{"type": "null"}, object_of(w={"anyOf": [{"type": "string"}, object_of(k={"type": "integer"})]})]}
)
TREE = {
    **object_of(leaves={"type": "array", "items": {"$ref": "#"}}, at={"$ref": "#/$defs/pair"}),
    "$defs": {"pair": PAIR},
}


@pytest.mark.parametrize(
    ("schema", "known", "unknown"),
    [
        pytest.param(PAIR, {"x": 1}, {"x": 1, "z": 1}, id="properties"),
        pytest.param({"type": "object"}, {}, {"x": 1}, id="an object without properties allows none"),
        pytest.param({}, {}, {"x": 1}, id="nor does an empty schema, at the top"),
        pytest.param({**PAIR, "additionalProperties": True}, {"z": {"deep": {"er": 1}}}, None, id="additional: true"),
        pytest.param(
            {**PAIR, "additionalProperties": PAIR},
            {"z": {"x": 1}},
            {"z": {"q": 1}},
            id="additional: a schema, which closes in turn",
        ),
        pytest.param({**PAIR, "additionalProperties": False}, {"x": 1}, {"z": 1}, id="additional: false"),
        pytest.param({**PAIR, "unevaluatedProperties": True}, {"z": {"a": 1}}, None, id="unevaluated: true"),
        pytest.param(
            {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}},
            {"x-a": 1},
            {"y-a": 1},
            id="a pattern that matches",
        ),
        pytest.param(
            {**PAIR, "patternProperties": {"^x-": PAIR}, "additionalProperties": False},
            {"x": 1, "x-a": {"y": 1}},
            {"x-a": {"z": 1}},
            id="a pattern beside properties, and below it",
        ),
        pytest.param(object_of(o=PAIR), {"o": {"x": 1}}, {"o": {"x": 1, "z": 1}}, id="one level down"),
        pytest.param(object_of(o={"type": "object"}), {"o": {}}, {"o": {"z": 1}}, id="a nested bare object is closed"),
        pytest.param(object_of(o={}), {"o": {"z": {"z": 1}}}, None, id="any value: free below"),
        pytest.param(object_of(o={"description": "any"}), {"o": {"z": 1}}, None, id="only described in words: free"),
        pytest.param(object_of(l={"type": "array"}), {"l": [{"z": 1}]}, None, id="elements without a schema: free"),
        pytest.param(
            object_of(l={"type": "array", "items": PAIR}),
            {"l": [{"x": 1}, {"y": 1}]},
            {"l": [{"x": 1}, {"z": 1}]},
            id="in an element",
        ),
        pytest.param(
            object_of(o={"enum": [{"z": 1}]}, c={"const": {"additionalProperties": True}}),
            {"o": {"z": 1}, "c": {"additionalProperties": True}},
            None,
            id="a value that is named whole",
        ),
        pytest.param(
            NESTED_ANY_OF,
            {"v": {"w": {"k": 1}}},
            {"v": {"w": {"k": 1, "z": 1}}},
            id="anyOf within anyOf",
        ),
        pytest.param(
            {"anyOf": [object_of(x={"type": "string"}, z={}), PAIR]},
            {"x": 1, "y": 1},
            {"x": 1, "z": 1},
            id="a branch that does not hold makes nothing known",
        ),
        pytest.param(
            {"anyOf": [object_of(a={}), object_of(b={})]}, {"a": 1, "b": 1}, {"a": 1, "c": 1}, id="both branches hold"
        ),
        pytest.param(
            {"oneOf": [{**object_of(a={}), "required": ["a"]}, {**object_of(b={}), "required": ["b"]}]},
            {"a": 1},
            {"a": 1, "c": 1},
            id="oneOf",
        ),
        pytest.param(
            {"allOf": [object_of(o=object_of(a={})), object_of(o=object_of(b={}))]},
            {"o": {"a": 1, "b": 1}},
            {"o": {"a": 1, "c": 1}},
            id="allOf: one object described in two places",
        ),
        pytest.param(
            {"if": {"required": ["a"]}, "then": object_of(a={}, b={}), "else": object_of(c={})},
            {"a": 1, "b": 1},
            {"a": 1, "c": 1},
            id="conditions",
        ),
        pytest.param(
            TREE,
            {"leaves": [{"leaves": [], "at": {"x": 1}}]},
            {"leaves": [{"at": {"z": 1}}]},
            id="local references, one of them recursive",
        ),
        pytest.param(
            {"$schema": DRAFT_7, **object_of(o={"$ref": "#/definitions/p"}), "definitions": {"p": PAIR}},
            {"o": {"x": 1}},
            {"o": {"z": 1}},
            id="draft 7, with definitions",
        ),
        pytest.param(object_of(**{"a~/b": PAIR}), {"a~/b": {"x": 1}}, {"a~/b": {"z": 1}}, id="pointer characters"),
        pytest.param(
            object_of(type={}, properties={}, **{"$ref": {}}),
            {"type": {"z": 1}, "properties": {"z": 1}, "$ref": {"z": 1}},
            {"required": 1},
            id="properties that are called like keywords",
        ),
        pytest.param(
            object_of(additionalProperties={"type": "boolean"}),
            {"additionalProperties": True},
            {"z": True},
            id="a property that is called additionalProperties",
        ),
    ],
)
def test_unknown_properties(schema: Any, known: dict[str, Any], unknown: dict[str, Any] | None) -> None:
    assert codes(schema, known) == set()
    if unknown is not None:
        assert codes(schema, unknown) == {"unknown_property"}


@pytest.mark.parametrize(
    ("schema", "arguments", "expected"),
    [
        pytest.param({**PAIR, "required": ["x"]}, {}, {"missing_required"}, id="a required property"),
        pytest.param(
            object_of(o={**PAIR, "required": ["x"]}),
            {"o": {"y": 1}},
            {"missing_required"},
            id="required one level down",
        ),
        pytest.param(PAIR, {"x": "1"}, {"wrong_type"}, id="a number as text"),
        pytest.param(PAIR, {"x": True}, {"wrong_type"}, id="a boolean is no integer"),
        pytest.param(
            {**PAIR, "required": ["y"]}, {"x": "1"}, {"wrong_type", "missing_required"}, id="two faults, two codes"
        ),
        pytest.param(
            object_of(v={"anyOf": [{"type": "null"}, {"type": "string"}]}), {"v": 1}, {"wrong_type"}, id="of no branch"
        ),
        pytest.param(NESTED_ANY_OF, {"v": {"w": {"k": "1"}}}, {"wrong_type"}, id="of no branch, two levels down"),
        pytest.param(
            object_of(v={"anyOf": [{"type": "string"}, {"const": 5}]}),
            {"v": 1},
            {"schema_violation"},
            id="mixed reasons",
        ),
        pytest.param(object_of(v={"enum": ["a", "b"]}), {"v": "c"}, {"schema_violation"}, id="none of the values"),
        pytest.param(object_of(v={"minimum": 2}), {"v": 1}, {"schema_violation"}, id="too small"),
        pytest.param(
            object_of(v={"pattern": "^(a+)+$(?=b)"}), {"v": "a" * 60 + "!"}, {"schema_violation"}, id="evil regex"
        ),
    ],
)
def test_the_code_tells_what_does_not_fit(schema: Any, arguments: dict[str, Any], expected: set[str]) -> None:
    assert codes(schema, arguments) == expected


def nested(keyword: str, levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {keyword: schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        pytest.param("{}", "schema_invalid", id="a text"),
        pytest.param([], "schema_invalid", id="an array"),
        pytest.param({"type": "strnig"}, "schema_invalid", id="no such type"),
        pytest.param(object_of(a=5), "schema_invalid", id="a property that is a number"),
        pytest.param(object_of(a={"pattern": "("}), "schema_invalid", id="a pattern that is none"),
        pytest.param(object_of(a={"$ref": "#/$defs/none"}), "schema_invalid", id="a reference to nothing"),
        pytest.param({"$schema": "https://example.test/own"}, "schema_invalid", id="a dialect nobody knows"),
        pytest.param(object_of(**{"a\ud800": {}}), "schema_invalid", id="a lone surrogate"),
        pytest.param(nested("not", 150), "schema_invalid", id="too many levels"),
        pytest.param(nested("not", 20_000), "schema_invalid", id="far too many levels"),
        pytest.param(object_of(a={"$id": "https://example.test/a"}), "schema_invalid", id="a document in the document"),
        pytest.param({"$ref": "https://example.test/schema"}, "remote_reference", id="another host"),
        pytest.param(object_of(a={"items": {"$ref": "file:///etc/hostname"}}), "remote_reference", id="a file"),
        pytest.param(object_of(a={"$ref": "other.json#/a"}), "remote_reference", id="another document"),
        pytest.param({"$dynamicRef": "https://example.test/x"}, "remote_reference", id="a dynamic reference"),
    ],
)
def test_a_schema_that_nothing_can_be_checked_against(schema: object, code: str) -> None:
    with pytest.raises(UnusableSchema) as refused:
        ArgumentSchema(schema)
    assert refused.value.code == code


def test_arguments_that_would_take_too_long_are_refused() -> None:
    schema = object_of(l={"type": "array", "items": {"type": "integer"}})
    assert codes(schema, {"l": [0] * (MAX_STEPS - 3)}) == set()
    assert codes(schema, {"l": [0] * MAX_STEPS}) == {"too_costly"}
    assert codes(object_of(l={"type": "array"}), {"l": [0] * 1_000_000}) == set()


PAIRS = {f"n{at}": {"allOf": [{"$ref": f"#/$defs/n{at + 1}"}] * 2} for at in range(60)}
LEVELS: dict[str, Any] = {}
for _ in range(60):
    LEVELS = {"a": LEVELS}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"$ref": "#/$defs/n0", "$defs": {**PAIRS, "n60": PAIR}}, id="references that double sixty times"),
        pytest.param({"allOf": [object_of(a={"$ref": "#"})] * 2}, id="one that doubles with each level of the value"),
        pytest.param(
            {"$anchor": "x", "anyOf": [object_of(a={"$ref": "#x"}), object_of(a={"$ref": "#x"}, b={})]},
            id="by an anchor",
        ),
        pytest.param({"patternProperties": {f"{at}|a": {"$ref": "#"} for at in range(3)}}, id="by patterns"),
        pytest.param({"anyOf": [{"additionalProperties": {"$ref": "#"}}] * 2}, id="by further properties"),
        pytest.param({"$ref": "#"}, id="itself"),
        pytest.param(
            {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, id="a ring"
        ),
        pytest.param({"allOf": [{"$ref": "#"}, {"$dynamicRef": "#"}]}, id="itself, as two parts of itself"),
    ],
)
def test_a_schema_that_grows_without_end_is_answered_in_a_second(schema: dict[str, Any]) -> None:
    assert codes(schema, LEVELS) == {"too_costly"}
    assert takes_less(1, lambda: codes(schema, LEVELS))


@pytest.mark.parametrize(
    ("schema", "arguments", "visits"),
    [
        pytest.param(PAIR, {"x": 1, "y": 1, "z": 1}, 3, id="properties"),
        pytest.param(object_of(l={"items": PAIR}), {"l": [{"x": 1}] * 5}, 12, id="elements"),
        pytest.param({"anyOf": [PAIR, PAIR]}, {"x": 1}, 5, id="alternatives"),
        pytest.param(TREE, {"leaves": [{}, {}], "at": {"x": 1}}, 9, id="references"),
        pytest.param({"$ref": "#/$defs/a~1b%20c/0", "$defs": {"a/b c": [PAIR]}}, {"x": 1}, 3, id="pointer characters"),
        pytest.param({"$ref": "#/$defs/none"}, {}, 2, id="a reference to nothing"),
        pytest.param({"if": True, "then": {}, "dependentSchemas": {"a": {}}}, {}, 4, id="conditions"),
        pytest.param(
            {"propertyNames": {"minLength": 1}, "additionalProperties": True}, {"a": 1, "b": 1}, 5, id="names"
        ),
    ],
)
def test_the_visits_that_are_counted(schema: dict[str, Any], arguments: dict[str, Any], visits: int) -> None:
    counter = StepCounter(schema)
    assert not counter.exceeds(visits, arguments)
    assert counter.exceeds(visits - 1, arguments)


def test_as_many_steps_as_are_taken_take_less_than_three_seconds() -> None:
    schema = object_of(l={"type": "array", "items": {"anyOf": [{"type": "string"}, PAIR]}})
    arguments = {"l": [{"x": 1}] * (MAX_STEPS // 4 - 2)}
    assert codes(schema, arguments) == set()
    assert takes_less(3, lambda: codes(schema, arguments))


NAMES = st.sampled_from(["a", "b", "c", "type", "a/b", "~"])
PLAIN = st.recursive(
    st.just({"type": "integer"}),
    lambda inner: st.dictionaries(NAMES, inner, max_size=3).map(lambda each: object_of(**each)),
    max_leaves=6,
).filter(lambda schema: schema["type"] == "object")


def sample(schema: dict[str, Any]) -> Any:
    """The value with every property of a schema of plain objects and integers."""
    if schema["type"] == "integer":
        return 1
    return {name: sample(each) for name, each in schema["properties"].items()}


@given(schema=PLAIN, data=st.data())
def test_what_a_schema_lists_is_known_and_one_name_more_is_not(schema: dict[str, Any], data: st.DataObject) -> None:
    arguments = sample(schema)
    assert codes(schema, arguments) == set()
    place = arguments
    while inner := [each for each in place.values() if isinstance(each, dict)]:
        if data.draw(st.booleans()):
            break
        place = data.draw(st.sampled_from(inner))
    place["unheard of"] = 1
    assert codes(schema, arguments) == {"unknown_property"}
