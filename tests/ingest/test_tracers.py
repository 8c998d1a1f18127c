"""Braintrust, MLflow, Langfuse and Weave: the traps of each, and what stays unknown."""

import json
from typing import Any

import pytest

from ingest.formats import Item, Mapped, Skipped
from ingest.formats.braintrust import BRAINTRUST
from ingest.formats.langfuse import LANGFUSE
from ingest.formats.mlflow import MLFLOW
from ingest.formats.weave import WEAVE
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]

LS = {"type": "function", "function": {"name": "ls"}}
MESSAGES = [{"role": "user", "content": "hi"}]
CHOICES = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]
COMPLETION = {"id": "r1", "object": "chat.completion", "model": "m-1", "choices": CHOICES}
REQUEST = {"model": "m", "messages": MESSAGES, "tools": [LS]}
NESTED = "a call already told by a span around it or inside"
NO_TEXT = "a response whose text was not logged"


def span(**rest: Any) -> Object:
    return {
        "id": "i2", "span_id": "s2", "root_span_id": "s1", "span_parents": ["s1"], "span_attributes": {"type": "llm"},
        "input": MESSAGES, "output": CHOICES, "metadata": {"provider": "openai", "model": "m", "tools": [LS]},
        "metrics": {"start": 1796000000.5, "prompt_tokens": 9, "completion_tokens": 3}, **rest,
    }  # fmt: skip


def spans(*values: Any) -> list[Item]:
    return list(BRAINTRUST.read(decoded(*values)))


def test_a_span_keeps_choices_for_an_output_and_parameters_in_its_metadata() -> None:
    found = only(spans(span()))
    assert (found.run_id, found.generation_id, found.content, found.model) == ("s1", "s2", "hello", "m")
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (["ls"], "native")
    assert found.usage
    assert found.usage.output_tokens == 3
    assert found.finish_fidelity == "wire"


@pytest.mark.parametrize(
    ("metadata", "mode"),
    [
        pytest.param({"provider": "openai", "model": "m"}, "none", id="the wrapper logged no tools"),
        pytest.param({"model": "m"}, None, id="a span logged by hand may leave them out"),
        pytest.param(None, None, id="no metadata"),
    ],
)
def test_no_tools_are_none_only_where_all_parameters_were_logged(metadata: Any, mode: str | None) -> None:
    assert only(spans(span(metadata=metadata))).call_mode == mode


def test_parts_of_a_span_are_merged_by_id() -> None:
    begun = {key: value for key, value in span().items() if key not in ("output", "metrics")}
    ended = {"id": "i2", "_is_merge": True, "project_id": "p", "output": CHOICES, "metrics": {"prompt_tokens": 9}}
    items = spans(begun, ended)
    assert {item.line: type(item) for item in items} == {1: Skipped, 2: Mapped}
    assert only(items).content == "hello"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"span_attributes": {"type": "task"}}, "not a call of a model", id="a task"),
        pytest.param({"metrics": {"cached": 1}}, "answered from a cache: no new generation", id="cached"),
        pytest.param({"output": None}, NO_TEXT, id="no output"),
    ],
)
def test_spans_without_a_generation_are_skipped(change: Object, why: str) -> None:
    (item,) = spans(span(**change))
    assert reason(item) == why


def test_a_span_inside_the_span_of_a_model_is_the_same_call() -> None:
    _, inner = spans(span(), span(id="i3", span_id="s3", span_parents=["s2"]))
    assert reason(inner) == NESTED


def test_an_output_may_be_a_mere_text_or_a_message() -> None:
    assert only(spans(span(output="hello"))).content == "hello"
    assert only(spans(span(output={"role": "assistant", "content": "hello"}))).content == "hello"


def test_a_failed_span_keeps_its_error() -> None:
    assert only(spans(span(output=None, error="Timeout"))).status == "error"


def traced(attributes: Object, **rest: Any) -> Object:
    told = {
        "mlflow.traceRequestId": "tr-1",
        "mlflow.spanType": "CHAT_MODEL",
        "mlflow.spanInputs": REQUEST,
        "mlflow.spanOutputs": COMPLETION,
        **attributes,
    }
    return {
        "span_id": "b1",
        "parent_span_id": None,
        "start_time_unix_nano": 1796000000500000000,
        "status": {"code": "STATUS_CODE_OK", "message": ""},
        "attributes": {name: json.dumps(value) for name, value in told.items()},
        **rest,
    }


def traces(*values: Any) -> list[Item]:
    return list(MLFLOW.read(decoded(*values)))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"spans": [traced({})]}, id="traces.json"),
        pytest.param({"info": {"trace_id": "tr-1"}, "data": {"spans": [traced({})]}}, id="Trace.to_json"),
        pytest.param([{"spans": [traced({})]}], id="a list of traces"),
    ],
)
def test_the_attributes_of_a_span_are_json_in_strings(document: Any) -> None:
    assert MLFLOW.sniff([document]) == 1
    found = only(traces(document))
    assert (found.run_id, found.generation_id, found.content, found.model) == ("tr-1", "tr-1:b1", "hello", "m-1")
    assert [tool.name for tool in found.tools or ()] == ["ls"]
    assert found.started_at
    assert found.started_at.timestamp() == 1796000000.5


def test_previews_are_never_read() -> None:
    info = {"trace_id": "tr-1", "response_preview": '"<tool_call>"', "request_preview": "{}"}
    bare = traced({})
    del bare["attributes"]["mlflow.spanOutputs"]
    (item,) = traces({"info": info, "data": {"spans": [bare]}})
    assert reason(item) == NO_TEXT


def test_the_session_of_a_trace_is_its_run() -> None:
    info = {"trace_metadata": {"mlflow.trace.session": "s9"}}
    assert only(traces({"info": info, "data": {"spans": [traced({})]}})).run_id == "s9"


def test_every_span_of_a_trace_is_answered_and_a_call_is_told_once() -> None:
    agent = traced({"mlflow.spanType": "AGENT"}, span_id="b0")
    inner = traced({}, span_id="b2", parent_span_id="b1")
    items = traces({"spans": [agent, traced({}), inner, 7]})
    assert [item.line for item in items] == [1, 1, 1, 1]
    assert [reason(item) for item in (items[0], items[2], items[3])] == [
        "not a call of a model", NESTED, "a span that is no object",
    ]  # fmt: skip


def test_tools_that_mlflow_keeps_apart_are_offered() -> None:
    asked = {"mlflow.spanInputs": {"messages": [[{"content": "hi", "type": "human"}]]}, "mlflow.chat.tools": [LS]}
    said = {"generations": [[{"message": {"content": "hello", "type": "ai", "tool_calls": []}}]]}
    found = only(traces({"spans": [traced({**asked, "mlflow.spanOutputs": said})]}))
    assert ([tool.name for tool in found.tools or ()], found.content) == (["ls"], "hello")


def test_a_span_that_failed_keeps_its_message() -> None:
    status = {"code": "STATUS_CODE_ERROR", "message": "Timeout"}
    found = only(traces({"spans": [traced({"mlflow.spanOutputs": None}, status=status)]}))
    assert (found.status, (found.model_extra or {})["error"]) == ("error", "Timeout")


def seen(**rest: Any) -> Object:
    return {
        "id": "o1", "trace_id": "t1", "type": "GENERATION", "parent_observation_id": "", "session_id": "s1",
        "start_time": "2026-11-01 10:00:00.500000", "input": json.dumps(REQUEST),
        "output": json.dumps({"role": "assistant", "content": "hello"}), "provided_model_name": "m",
        "usage_details": {"input": 9, "output": 3}, "level": "DEFAULT", "tool_calls": [], "tool_definitions": {},
        **rest,
    }  # fmt: skip


def observed(*values: Any) -> list[Item]:
    return list(LANGFUSE.read(decoded(*values)))


def test_a_row_holds_input_and_output_as_json_in_strings() -> None:
    found = only(observed(seen()))
    assert (found.run_id, found.generation_id, found.content, found.model) == ("s1", "o1", "hello", "m")
    assert (found.finish_fidelity, found.call_mode) == ("absent", "native")
    assert found.started_at
    assert found.started_at.isoformat() == "2026-11-01T10:00:00.500000+00:00"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        pytest.param("hello", "hello", id="a mere text"),
        pytest.param('{"path": "a"}', '{"path": "a"}', id="a text that is JSON"),
        pytest.param('{"content": "a"}', '{"content": "a"}', id="a text that is JSON and names content"),
        pytest.param(json.dumps(COMPLETION), "hello", id="a whole response"),
        pytest.param(json.dumps([{"role": "assistant", "content": "hello"}]), "hello", id="a list of one message"),
    ],
)
def test_an_output_is_opened_only_if_it_is_a_message(output: str, text: str) -> None:
    assert only(observed(seen(output=output))).content == text


@pytest.mark.parametrize(
    ("change", "tools", "mode"),
    [
        pytest.param({"input": json.dumps(MESSAGES)}, None, None, id="a list of messages does not tell"),
        pytest.param({"input": json.dumps({"messages": MESSAGES})}, [], "none", id="a request without tools"),
        pytest.param(
            {"input": json.dumps(MESSAGES), "tool_definitions": {"ls": '{"description": "list"}'}},
            ["ls"],
            "native",
            id="definitions that Langfuse found",
        ),
    ],
)
def test_tools_are_known_where_the_input_is_a_request(change: Object, tools: Any, mode: str | None) -> None:
    found = only(observed(seen(**change)))
    names = [tool.name for tool in found.tools] if found.tools is not None else None
    assert (names, found.call_mode) == (tools, mode)


def test_calls_in_a_column_of_their_own_count_where_the_output_has_none() -> None:
    call = json.dumps({"id": "c1", "name": "ls", "arguments": "{}"})
    found = only(observed(seen(output="", tool_calls=[call], status_message="x", level="ERROR")))
    assert [each.name for each in found.tool_calls or ()] == ["ls"]


def test_a_trace_gives_its_session_to_its_observations() -> None:
    inner = {
        "id": "o2", "traceId": "t1", "type": "GENERATION", "startTime": "2026-11-01T10:00:00Z", "model": "m",
        "parentObservationId": None, "input": MESSAGES, "output": {"role": "assistant", "content": "hello"},
    }  # fmt: skip
    trace = {
        "id": "t1",
        "sessionId": "s7",
        "output": "hello",
        "observations": [{**inner, "id": "o1", "type": "SPAN"}, inner],
    }
    items = observed([trace])
    assert LANGFUSE.sniff([[trace]]) == 1
    assert [type(item) for item in items] == [Skipped, Mapped]
    assert (only(items).run_id, only(items).content) == ("s7", "hello")


def test_create_and_update_of_an_observation_are_one_generation() -> None:
    begun = {"type": "generation-create", "id": "e1", "body": {"id": "o1", "traceId": "t1", "input": REQUEST}}
    ended = {"type": "generation-update", "id": "e2", "body": {"id": "o1", "output": COMPLETION}}
    other = {"type": "trace-create", "id": "e0", "body": {"id": "t1"}}
    items = observed({"batch": [other, begun, ended]})
    assert [type(item) for item in items] == [Skipped, Skipped, Mapped]
    found = only(items)
    assert (found.run_id, found.content, found.finish_reason, found.call_mode) == ("t1", "hello", "stop", "native")


@pytest.mark.parametrize("kind", ["SPAN", "EVENT", "TOOL", "AGENT"])
def test_other_observations_are_skipped(kind: str) -> None:
    (item,) = observed(seen(type=kind))
    assert reason(item) == "not a call of a model"


def test_an_error_is_told_with_its_message() -> None:
    found = only(observed(seen(output="", level="ERROR", status_message="Timeout")))
    assert (found.status, (found.model_extra or {})["error"]) == ("error", "Timeout")


def call(**rest: Any) -> Object:
    return {
        "id": "c1", "op_name": "weave:///e/p/op/openai.chat.completions.create:v0", "trace_id": "t1", "parent_id": "c0",
        "started_at": "2026-11-01T10:00:00Z", "inputs": REQUEST, "output": COMPLETION, "exception": None, **rest,
    }  # fmt: skip


def calls(*values: Any) -> list[Item]:
    return list(WEAVE.read(decoded(*values)))


def test_a_call_of_a_client_is_a_generation() -> None:
    found = only(calls(call()))
    assert (found.run_id, found.generation_id, found.content, found.model) == ("t1", "c1", "hello", "m-1")
    assert only(calls(call(thread_id="th"))).run_id == "th"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"inputs": {"q": "hi"}, "output": "hello"}, "not a call of a model", id="a function of the user"),
        pytest.param({"output": None}, NO_TEXT, id="still running"),
        pytest.param(
            {"output": "weave:///e/p/object/x:1"},
            "the response is a weave:/// reference, which the export does not hold",
            id="a reference",
        ),
    ],
)
def test_calls_without_a_response_are_told_apart(change: Object, why: str) -> None:
    (item,) = calls(call(**change))
    assert reason(item) == why


def test_tools_behind_a_reference_are_unknown() -> None:
    found = only(calls(call(inputs={**REQUEST, "tools": "weave:///e/p/object/tools:1"})))
    assert (found.tools, found.call_mode, found.content) == (None, None, "hello")


def test_a_call_that_raised_is_an_error() -> None:
    found = only(calls(call(output=None, exception="Timeout")))
    assert (found.status, [tool.name for tool in found.tools or ()]) == ("error", ["ls"])


def test_the_call_inside_a_call_is_the_same() -> None:
    _, inner = calls(call(), call(id="c2", parent_id="c1"))
    assert reason(inner) == NESTED


def test_equal_answers_are_as_many_generations() -> None:
    assert len(generations(calls(call(), call(id="c5")))) == 2
