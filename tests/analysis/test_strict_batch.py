"""A retry is accepted whole or refused whole, and every refusal has its code."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.output import Call, OfferedTool
from analysis.strict_batch import REASON_CODES, StrictResult, strict_batch

TOOLS = (
    OfferedTool(
        "rate",
        {
            "type": "object",
            "properties": {"stars": {"type": "integer"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "required": ["stars"],
        },
    ),
    OfferedTool("ping", {}),
    OfferedTool("bare"),
    OfferedTool("broken", {"type": "obect"}),
    OfferedTool("remote", {"$ref": "https://example.test/schema"}),
    OfferedTool("list", {"type": "object", "properties": {"l": {"type": "array", "items": {}}}}),
)
GOOD = Call("rate", '{"stars": 3}')


def wrapped(payload: str) -> str:
    return f"<tool_call>{payload}</tool_call>"


def found(result: StrictResult) -> set[tuple[str, int | None]]:
    return {(each.code, each.call) for each in result.refusals}


@pytest.mark.parametrize(
    ("raw", "calls", "envelope"),
    [
        pytest.param(None, [GOOD], "not_checkable", id="structured calls alone"),
        pytest.param(wrapped('[{"name": "rate", "parameters": {"stars": 3}}]'), [GOOD], "ok", id="one call"),
        pytest.param(
            wrapped('[{"parameters": {"note": null, "stars": 1}, "name": "rate"}, {"name": "ping"}]'),
            [Call("rate", '{"stars": 1, "note": null}'), Call("ping", "{}")],
            "ok",
            id="two calls, one without parameters, members in any order",
        ),
        pytest.param(
            '\n<tool_call>\n[ {"name": "ping"} ]\n</tool_call>\n',
            [Call("ping")],
            "ok",
            id="white space around and within",
        ),
    ],
)
def test_a_batch_that_is_accepted(raw: str | None, calls: list[Call], envelope: str) -> None:
    result = strict_batch(raw, calls, TOOLS)
    assert (result.accepted, result.refusals, result.envelope) == (True, (), envelope)


Row = tuple[Any, set[tuple[str, int | None]], str]

ENVELOPES: list[Row] = [
    ('[{"name": "rate", "parameters": {"stars": 3}}]</tool_call>', {("opener_missing", None)}, "no opener"),
    ('Sure: <tool_call>[{"name": "ping"}]</tool_call>', {("opener_missing", None)}, "words before it"),
    ('<tool_call>[{"name": "ping"}]', {("end_marker_missing", None)}, "no end marker"),
    ('<tool_call>[{"name": "ping"}]</tool_call> Done.', {("end_marker_missing", None)}, "words behind it"),
    ("", {("opener_missing", None), ("end_marker_missing", None)}, "nothing"),
    (wrapped('[{"name": "rate", "parameters": {"stars": 3}]'), {("unclosed_json", None)}, "a missing brace"),
    (wrapped('[{"name": "rate", "parameters": {"stars": 3}}'), {("unclosed_json", None)}, "a missing bracket"),
    (wrapped("[{'name': 'ping'}]"), {("not_json", None)}, "single quotes"),
    (wrapped('[{"name": "ping"}]</tool_call><tool_call>[{"name": "ping"}]'), {("not_json", None)}, "two envelopes"),
    (wrapped('{"name": "rate", "parameters": {"stars": 3}}'), {("singleton_shorthand", None)}, "one object"),
    (wrapped('{"name": "ping"}'), {("singleton_shorthand", None)}, "one object without parameters"),
    (wrapped('"ping"'), {("not_a_list", None)}, "a string"),
    (wrapped("null"), {("not_a_list", None)}, "null"),
    (wrapped('["ping"]'), {("call_not_object", 0)}, "a name for a call"),
    (wrapped('[{"name": "ping"}, [1]]'), {("call_not_object", 1)}, "an array for the second call"),
    (wrapped('[{"parameters": {"stars": 3}}]'), {("field_missing", 0)}, "no name"),
    (wrapped('[{"name": "rate"}]'), {("field_missing", 0)}, "no parameters"),
    (
        wrapped('[{"name": "rate", "arguments": {"stars": 3}}]'),
        {("alias_field", 0), ("field_missing", 0)},
        "arguments for parameters",
    ),
    (
        wrapped('[{"tool": "rate", "parameters": {"stars": 3}}]'),
        {("alias_field", 0), ("field_missing", 0)},
        "tool for name",
    ),
    (wrapped('[{"name": "ping", "id": 1}]'), {("unknown_field", 0)}, "an id"),
    (wrapped('[{"name": "ping", "parameters": {}}]'), {("unknown_field", 0)}, "parameters of a tool that takes none"),
    (wrapped('[{"name": 1, "parameters": {}}]'), {("wrong_field_type", 0)}, "a number for a name"),
    (wrapped('[{"name": "rate", "parameters": "{}"}]'), {("wrong_field_type", 0)}, "parameters as text"),
    (wrapped('[{"name": "ping", "name": "ping"}]'), {("duplicate_member", None)}, "a name twice"),
    (
        wrapped('[{"name": "rate", "parameters": {"stars": 3, "stars": 3}}]'),
        {("duplicate_member", None)},
        "a parameter twice",
    ),
    (wrapped('[{"name": "\\ud800"}]'), {("not_unicode", None)}, "half a pair"),
    (wrapped("[" * 10_000), {("too_deep", None)}, "ten thousand levels"),
    (wrapped('[{"name": "ping"}]'), {("calls_differ", None)}, "another call than the structured one"),
    (wrapped("[]"), {("calls_differ", None)}, "an empty batch, though a call is there"),
    (wrapped('[{"name": "rate", "parameters": {"stars": 4}}]'), {("calls_differ", None)}, "other arguments"),
]


@pytest.mark.parametrize(("raw", "refusals"), [pytest.param(raw, refusals, id=why) for raw, refusals, why in ENVELOPES])
def test_an_envelope_that_is_refused(raw: str, refusals: set[tuple[str, int | None]]) -> None:
    result = strict_batch(raw, [GOOD], TOOLS)
    assert (result.accepted, result.envelope) == (False, "refused")
    assert found(result) == refusals


CALLS: list[Row] = [
    ([], {("no_calls", None)}, "no call"),
    ([Call("rate", '{"stars": "3"}')], {("wrong_type", 0)}, "a number as text"),
    ([GOOD, Call("rate", '{"stars": 3, "note": 1}')], {("wrong_type", 1)}, "of no branch of a nested anyOf"),
    ([Call("rate", "{}")], {("missing_required", 0)}, "a required value is missing"),
    ([GOOD, Call("rate", '{"note": "x"}')], {("missing_required", 1)}, "the second call lacks it"),
    ([Call("rate", '{"stars": 3, "why": 1}')], {("unknown_property", 0)}, "an unknown property"),
    ([Call("ping", '{"x": 1}')], {("unknown_property", 0)}, "arguments of a tool that takes none"),
    ([Call("list", f'{{"l": [{"0," * 100_000}0]}}')], {("too_costly", 0)}, "too many values"),
    ([Call("list", f'{{"l": [{"[0]," * 100_000}0]}}')], {("too_costly", 0)}, "too many values, nested"),
    ([Call("rat", '{"stars": 3}')], {("tool_not_offered", 0)}, "a tool that was not offered"),
    ([GOOD, Call("", "{}"), GOOD], {("tool_not_offered", 1)}, "no name"),
    ([Call("bare", "{}")], {("schema_missing", 0)}, "no schema in the source"),
    ([Call("bare", "[")], {("schema_missing", 0), ("unclosed_json", 0)}, "no schema, and no JSON either"),
    ([Call("broken", "{}")], {("schema_invalid", 0)}, "a schema that is not a schema"),
    (
        [Call("broken", "{}"), GOOD, Call("broken", "{}")],
        {("schema_invalid", 0), ("schema_invalid", 2)},
        "called twice",
    ),
    ([Call("remote", "{}")], {("remote_reference", 0)}, "a remote reference"),
    (
        [Call("remote", "{}"), Call("remote")],
        {*(("remote_reference", at) for at in (0, 1)), ("arguments_missing", 1)},
        "two",
    ),
    ([Call("rate")], {("arguments_missing", 0)}, "no arguments"),
    ([Call("rate", "[3]")], {("arguments_not_object", 0)}, "arguments as an array"),
    ([Call("rate", '"{\\"stars\\": 3}"')], {("arguments_not_object", 0)}, "arguments encoded twice"),
    ([Call("rate", "")], {("not_json", 0)}, "empty arguments"),
    ([Call("rate", '{"stars": 3')], {("unclosed_json", 0)}, "cut arguments"),
    ([Call("rate", '{"stars": 3, "stars": 4}')], {("duplicate_member", 0)}, "a member twice"),
    ([Call("list", '{"l": [{"a": 1, "a": 2}]}')], {("duplicate_member", 0)}, "a member twice, in depth"),
    ([Call("rate", '{"stars": 3, "note": "\\udfff"}')], {("not_unicode", 0)}, "half a pair in a value"),
    ([Call("rate", '{"stars":' + "[" * 10_000 + "]" * 10_000 + "}")], {("too_deep", 0)}, "ten thousand levels"),
]


@pytest.mark.parametrize(("calls", "refusals"), [pytest.param(calls, each, id=why) for calls, each, why in CALLS])
def test_calls_that_are_refused(calls: list[Call], refusals: set[tuple[str, int | None]]) -> None:
    result = strict_batch(None, calls, TOOLS)
    assert (result.accepted, result.envelope) == (False, "not_checkable")
    assert found(result) == refusals
    assert all(each.detail for each in result.refusals)


def test_unknown_tools_refuse_each_call() -> None:
    result = strict_batch(None, [GOOD, GOOD], None)
    assert found(result) == {("tools_unknown", 0), ("tools_unknown", 1)}
    assert found(strict_batch(None, [GOOD], ())) == {("tool_not_offered", 0)}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"properties": {"v": {"minimum": 1}}}, id="a bound"),
        pytest.param({"minProperties": 2}, id="a size"),
    ],
)
def test_any_other_keyword_has_one_code(schema: dict[str, Any]) -> None:
    result = strict_batch(None, [Call("t", '{"v": 0}')], [OfferedTool("t", schema)])
    assert found(result) == {("schema_violation", 0)}


def test_every_code_is_pinned_at_least_twice() -> None:
    pinned = Counter(code for _, refusals, _ in ENVELOPES + CALLS for code, _ in refusals)
    pinned += Counter({"tools_unknown": 2, "schema_violation": 2, "no_calls": 1})
    assert {code for code in REASON_CODES if pinned[code] < 2} == set()
    assert set(pinned) <= set(REASON_CODES)


def test_an_envelope_without_calls_and_no_structured_call_is_whole_but_no_batch() -> None:
    result = strict_batch(wrapped("[]"), [], TOOLS)
    assert (found(result), result.envelope) == ({("no_calls", None)}, "ok")


def test_a_whole_envelope_does_not_excuse_arguments_that_do_not_fit() -> None:
    result = strict_batch(wrapped('[{"name": "rate", "parameters": {}}]'), [Call("rate", "{}")], TOOLS)
    assert (found(result), result.envelope, result.accepted) == ({("missing_required", 0)}, "ok", False)


@pytest.mark.parametrize(
    ("inside", "made"),
    [
        pytest.param('{"stars": 1}', '{"stars": true}', id="1 is not true"),
        pytest.param('{"stars": 1}', '{"stars": 1.0}', id="1 is not 1.0"),
        pytest.param('{"stars": 1}', '{"stars": 1', id="what cannot be read differs"),
    ],
)
def test_the_structured_calls_are_those_of_the_envelope(inside: str, made: str) -> None:
    raw = wrapped(f'[{{"name": "rate", "parameters": {inside}}}]')
    assert ("calls_differ", None) in found(strict_batch(raw, [Call("rate", made)], TOOLS))
    assert strict_batch(raw, [Call("rate", inside)], TOOLS).accepted


def test_five_thousand_tools_are_offered_and_the_broken_ones_among_them_are_not_called() -> None:
    many = [OfferedTool(f"tool.*{at}\u00df", {"type": "obect"}) for at in range(5_000)]
    assert strict_batch(None, [GOOD], [*many, *TOOLS]).accepted
    assert found(strict_batch(None, [Call("tool.*7\u00df", "{}")], many)) == {("schema_invalid", 0)}
    assert found(strict_batch(None, [Call("tool.x7\u00df", "{}")], many)) == {("tool_not_offered", 0)}


def test_a_text_of_ten_megabytes_is_an_argument_like_any_other() -> None:
    tools = [OfferedTool("write", {"type": "object", "properties": {"body": {"type": "string"}}})]
    assert strict_batch(None, [Call("write", '{"body": "' + "x" * 10_000_000 + '"}')], tools).accepted


@given(raw=st.none() | st.text(), name=st.sampled_from(["rate", "ping", "nope"]), arguments=st.none() | st.text())
def test_any_text_is_answered(raw: str | None, name: str, arguments: str | None) -> None:
    result = strict_batch(raw, [Call(name, arguments)], TOOLS)
    assert result.accepted == (not result.refusals)
    assert len(set(found(result))) == len(result.refusals)


@given(stars=st.integers(), note=st.none() | st.text(), count=st.integers(1, 4))
def test_the_canonical_is_accepted_and_one_bad_call_refuses_all(stars: int, note: str | None, count: int) -> None:
    arguments = json.dumps({"stars": stars, "note": note})
    raw = wrapped(json.dumps([{"name": "rate", "parameters": {"stars": stars, "note": note}}] * count))
    calls = [Call("rate", arguments)] * count
    assert strict_batch(raw, calls, TOOLS).accepted
    assert not strict_batch(None, [*calls, Call("rate", "{}")], TOOLS).accepted
