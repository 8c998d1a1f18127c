"""Values, ids and times of OpenTelemetry, and the exports that hold its spans."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.otlp import OTLP
from ingest.otlp.signals import spans_of
from ingest.otlp.values import flat, hex_id, listed, moment_of, opened, value_of
from tests.ingest.otlp_signals import CHAT, any_value, read, said, span, traces
from tests.ingest.samples import decoded, only

HELLO = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "hello"}
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(value=values)
def test_a_value_comes_back_from_its_form(value: Any) -> None:
    assert value_of(any_value(value)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"intValue": 7}, 7, id="an integer as a number"),
        pytest.param({"intValue": "7x"}, None, id="an integer that is none"),
        pytest.param({"doubleValue": 0.5}, 0.5, id="a double"),
        pytest.param({"doubleValue": "NaN"}, None, id="a double that JSON has not"),
        pytest.param({"bytesValue": "AAE="}, "AAE=", id="bytes stay as they are written"),
        pytest.param({"kvlistValue": {}}, {}, id="an object without members"),
        pytest.param({"arrayValue": {"values": [{}]}}, [None], id="an empty value"),
        pytest.param({"unknownValue": 1}, None, id="a kind that is not known"),
    ],
)
def test_a_value_of_each_kind(value: Any, expected: Any) -> None:
    assert value_of(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("EEE19B7EC3C1B174", "eee19b7ec3c1b174", id="hex"),
        pytest.param("0xeee19b7ec3c1b174", "eee19b7ec3c1b174", id="hex with its prefix"),
        pytest.param("7uGbfsPBsXQ=", "eee19b7ec3c1b174", id="Base64, as protobuf writes bytes"),
        pytest.param("0000000000000000", "", id="the invalid id"),
        pytest.param("?uGbfsPBsXQ=", "?uGbfsPBsXQ=", id="neither"),
        pytest.param(7, "", id="a number"),
    ],
)
def test_an_id_is_hex_however_it_is_written(value: Any, expected: str) -> None:
    assert hex_id(value, 8) == expected


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        pytest.param("1796027728236521394", "2026-11-30 08:35:28.236521+00:00", id="as a text"),
        pytest.param(1796027728236521394, "2026-11-30 08:35:28.236521+00:00", id="as a number"),
        pytest.param("0", "None", id="none"),
        pytest.param("9" * 20, "None", id="far ahead"),
        pytest.param(1.5, "None", id="a fraction"),
    ],
)
def test_a_time_keeps_its_microseconds(nanoseconds: Any, expected: str) -> None:
    assert str(moment_of(nanoseconds)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param('{"a": 1}', ({"a": 1}, "exact"), id="JSON in a text"),
        pytest.param({"a": 1}, ({"a": 1}, "exact"), id="an object already"),
        pytest.param(" ", (None, "exact"), id="blank"),
        pytest.param(r'["x\ud83d"]', (["x\ufffd"], "normalised"), id="half a surrogate pair"),
        pytest.param('["a", "bc', (["a", "bc"], "truncated"), id="cut in a text"),
        pytest.param('[{"a": 1, "b', ([{"a": 1}], "truncated"), id="cut in a name"),
    ],
)
def test_json_in_a_text_is_opened(value: Any, expected: Any) -> None:
    assert opened(value) == expected


@pytest.mark.parametrize("value", ["{x", "hello", '["a"] b', "[" * 300])
def test_what_is_no_json_is_told(value: str) -> None:
    with pytest.raises(ValueError, match="should be JSON"):
        opened(value)


def test_a_flattened_list_is_put_together_in_the_order_of_its_numbers() -> None:
    attributes = {"p.10.a": 3, "p.2.a": 2, "p.0.a": 1, "p.0.b.0.c": 4, "p.0": 5, "q.0.a": 6}
    assert listed(attributes, "p.") == [{"a": 1, "b": [{"c": 4}]}, {"a": 2}, {"a": 3}]
    assert listed(attributes, "x.") == []


@given(attributes=st.dictionaries(st.text(alphabet="p.0123ab", min_size=1), st.integers() | st.text()))
def test_any_names_can_be_put_together(attributes: dict[str, Any]) -> None:
    assert isinstance(listed(attributes, "p."), list)


def test_nested_attributes_are_flattened_but_lists_of_values_stay() -> None:
    nested = {"llm": {"output_messages": [{"message": {"content": "a"}}], "stop": ["x", "y"]}, "a.b": 1}
    assert flat(nested) == {"llm.output_messages.0.message.content": "a", "llm.stop": ["x", "y"], "a.b": 1}


PHOENIX = {"name": "c", "context": {"trace_id": "aa", "span_id": "0xbb"}, "parent_id": None, "status_code": "OK"}
PHOENIX_TIME = {"start_time": "2026-11-30T08:40:00+00:00"}
NESTED = {"openinference": {"span": {"kind": "LLM"}}, "llm": {"output_messages": [{"message": {"content": "hello"}}]}}
JAEGER = {"traceID": "aa", "spanID": "bb", "operationName": "c", "startTime": 1796028000000000, "processID": "p1"}
JAEGER_TRACE = {
    "traceID": "aa",
    "spans": [{**JAEGER, "tags": [{"key": key, "type": "string", "value": value} for key, value in HELLO.items()]}],
    "processes": {"p1": {"serviceName": "agent", "tags": []}},
}
TEMPO = {"traceId": "qg==", "spanId": "uw==", "startTimeUnixNano": "1796028000000000000"}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({**PHOENIX, **PHOENIX_TIME, "attributes": HELLO}, id="Phoenix"),
        pytest.param({**PHOENIX, **PHOENIX_TIME, "attributes": NESTED}, id="Phoenix, nested"),
        pytest.param({**PHOENIX, **PHOENIX_TIME, "attributes": json.dumps(HELLO)}, id="Phoenix, JSON in a text"),
        pytest.param([{**PHOENIX, **PHOENIX_TIME, "attributes": HELLO}], id="a list of Phoenix's spans"),
        pytest.param({"data": [{**PHOENIX, **PHOENIX_TIME, "attributes": HELLO}]}, id="a page of Phoenix's service"),
        pytest.param({"traceId": "aa", "spans": [{**PHOENIX, **PHOENIX_TIME, "attributes": HELLO}]}, id="an envelope"),
        pytest.param({"data": [JAEGER_TRACE]}, id="Jaeger"),
        pytest.param({"batches": traces({**span(1, HELLO), **TEMPO})["resourceSpans"]}, id="Tempo"),
    ],
)
def test_an_export_of_spans_is_read_like_otlp(value: Any) -> None:
    one = only(read(value))
    assert one.content == "hello"
    assert str(one.started_at) == "2026-11-30 08:40:00+00:00"
    assert one.run_id in ("aa", "qg==")
    assert one.generation_id in ("bb", "uw==")


def test_a_parent_and_an_error_are_found_in_exports() -> None:
    reference = {"refType": "CHILD_OF", "traceID": "aa", "spanID": "cc"}
    tags = [{"key": "error", "value": True}, {"key": "otel.status_description", "value": "boom"}]
    trace = {**JAEGER_TRACE, "spans": [{**JAEGER, "references": [reference], "tags": tags}]}
    phoenix = {**PHOENIX, "parent_id": "cc", "status_code": "ERROR", "status_message": "boom", "attributes": {}}
    console = {**PHOENIX, "parent_id": "0xcc", "attributes": {}}
    console["status"] = {"status_code": "ERROR", "description": "boom"}
    found = [*spans_of({"data": [trace]}), *spans_of(phoenix), *spans_of(console)]
    assert [(each.span_id, each.parent_id, each.fault) for each in found] == [("bb", "cc", "boom")] * 3


def test_a_span_without_ids_is_a_run_of_its_own_that_stays_the_same() -> None:
    operation = "ai.generateText.doGenerate"
    bare = {"name": operation, "attributes": {"ai.operationId": operation, "ai.response.text": "hello"}}
    one, again = only(read(bare)), only(read(bare))
    assert (one.run_id, one.generation_id, one.content) == (again.run_id, None, "hello")


def test_a_line_that_was_mended_says_so() -> None:
    (line,) = decoded(traces(span(1, said("hi"))))
    assert only(list(OTLP.read([replace(line, mended=True)]))).text_fidelity == "normalised"


@pytest.mark.parametrize("key", ["gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id"])
def test_a_conversation_is_the_run_and_the_trace_is_kept(key: str) -> None:
    one = only(read(traces(span(1, {**said("hi"), key: "talk-1"}))))
    assert one.run_id == "talk-1"
    assert (one.model_extra or {})["trace_id"] == span(1, CHAT)["traceId"]
