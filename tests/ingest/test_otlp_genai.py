"""The conventions of OpenTelemetry for a model call, current and retired: text, calls, tools, finish reason."""

import json
from typing import Any

import pytest

from ingest.records import Generation
from tests.ingest.otlp_signals import CHAT, event, logs, pairs, read, said, span, traces
from tests.ingest.samples import only

LEAK = "Here.\n<tool_call>\n{}\n</tool_call>"
CALL = {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"a": 1}}
THOUGHT = {"type": "reasoning", "content": "hm"}
LLM = {"openinference.span.kind": "LLM"}
OUT = "llm.output_messages.0.message."
BODY = {
    "id": "x", "model": "m-1", "created": 5, "system_fingerprint": "b6000-abcdef1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": LEAK, "reasoning_content": "hm"}}],
}  # fmt: skip
DO = "ai.generateText.doGenerate"


def one(attributes: Any, **rest: Any) -> Generation:
    return only(read(traces(span(1, attributes, **rest))))


def names(found: Generation) -> list[str] | None:
    return [tool.name for tool in found.tools or ()] if "tools" in found.model_fields_set else None


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([LEAK], {"content": LEAK, "text_fidelity": "exact"}, id="a text"),
        pytest.param([LEAK, THOUGHT],
                     {"content": LEAK, "reasoning": "hm", "text_fidelity": "exact"}, id="and a thought"),
        pytest.param(["a", "b"], {"content": "ab", "text_fidelity": "rebuilt"}, id="two texts"),
        pytest.param(["a", CALL, "b"], {"content": "ab", "text_fidelity": "rebuilt"}, id="a call between two texts"),
        pytest.param([THOUGHT, THOUGHT], {"reasoning": "hmhm", "text_fidelity": "rebuilt"}, id="two thoughts"),
        pytest.param([], {"content": None}, id="no part: an empty answer"),
        pytest.param([""], {"content": ""}, id="an empty text"),
        pytest.param([{"type": "text", "content": None}], {"content": None}, id="a text that is null"),
    ],
)  # fmt: skip
def test_parts_become_channels(parts: list[Any], expected: dict[str, Any]) -> None:
    found = one(said(*parts))
    assert {key: getattr(found, key) for key in expected} == expected


def test_a_channel_without_a_part_is_absent() -> None:
    assert one(said(CALL)).model_fields_set.isdisjoint({"content", "reasoning", "text_fidelity"})
    assert one(said("a")).model_fields_set.isdisjoint({"reasoning", "tool_calls", "tools", "call_mode"})


def test_parts_of_other_kinds_are_kept_beside() -> None:
    found = one(said({"type": "server_tool_call", "name": "search"}))
    assert found.content is None
    assert (found.model_extra or {})["content_parts"] == [{"type": "server_tool_call", "name": "search"}]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(CALL, {"id": "c1", "name": "ls", "arguments": {"a": 1}}, id="an object"),
        pytest.param({**CALL, "arguments": '{"a": 1'}, {"id": "c1", "name": "ls", "arguments": '{"a": 1'}, id="a text"),
        pytest.param({"type": "tool_call", "name": "ls"}, {"name": "ls"}, id="none: none is invented"),
        pytest.param({**CALL, "arguments": None}, {"id": "c1", "name": "ls", "arguments": None}, id="null"),
    ],
)
def test_arguments_stay_as_they_are(call: Any, expected: Any) -> None:
    [found] = one(said(call)).tool_calls or []
    assert found.model_dump(exclude_unset=True) == expected


OPENLLMETRY = {"gen_ai.openai.api_base": "http://gpu1/v1/", "gen_ai.is_streaming": False}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        pytest.param(said("a", finish_reason="tool_calls"), ("tool_calls", "wire"), id="passed through"),
        pytest.param(said("a", finish_reason="tool_call"), ("tool_call", "mapped"), id="the conventions' own word"),
        pytest.param(said("a") | OPENLLMETRY, ("stop", "mapped"), id="OpenLLMetry maps all"),
        pytest.param(
            said("a", finish_reason=None) | {"gen_ai.response.finish_reasons": ["length"]},
            ("length", "wire"),
            id="on the span",
        ),
        pytest.param(
            said("a", finish_reason="") | {"gen_ai.response.finish_reasons": '["length"]'},
            ("length", "wire"),
            id="on the span, JSON in a text",
        ),
        pytest.param(said("a", finish_reason=None), (None, "absent"), id="nowhere"),
        pytest.param({**LLM, f"{OUT}content": "a", "llm.finish_reason": "stop"}, ("stop", "wire"), id="OpenInference"),
        pytest.param({**LLM, f"{OUT}content": "a"}, (None, "absent"), id="OpenInference, none"),
        pytest.param(
            {"ai.operationId": DO, "ai.response.text": "a", "ai.response.finishReason": "tool-calls"},
            ("tool-calls", "mapped"),
            id="the AI SDK maps all",
        ),
        pytest.param(
            {"gen_ai.completion.0.content": "a", "gen_ai.completion.0.finish_reason": "stop"},
            ("stop", "wire"),
            id="flattened",
        ),
    ],
)
def test_a_finish_reason_says_how_it_was_obtained(attributes: Any, expected: Any) -> None:
    found = one(attributes)
    assert (found.finish_reason, found.finish_fidelity) == expected


DEFINITIONS = [
    {"type": "function", "name": "ls"},
    {"type": "function", "name": "cat", "parameters": {"type": "object"}},
]


@pytest.mark.parametrize(
    ("attributes", "tools", "mode"),
    [
        pytest.param({}, None, None, id="not recorded"),
        pytest.param(
            {"gen_ai.tool.definitions": json.dumps(DEFINITIONS)}, ["ls", "cat"], "native", id="JSON in a text"
        ),
        pytest.param({"gen_ai.tool.definitions": DEFINITIONS}, ["ls", "cat"], "native", id="structured"),
        pytest.param({"gen_ai.tool.definitions": [json.dumps(DEFINITIONS[0])]}, ["ls"], "native", id="texts in a list"),
        pytest.param({"gen_ai.tool.definitions": "[]"}, [], "none", id="none offered"),
        pytest.param({"gen_ai.tool.definitions": '[{"name": "l'}, None, None, id="cut: not known"),
        pytest.param({"gen_ai.tool.definitions": "ls, cat"}, None, None, id="prose"),
    ],
)
def test_tools_are_known_where_they_are_recorded(attributes: Any, tools: Any, mode: Any) -> None:
    found = one(said("a") | attributes)
    assert (names(found), found.call_mode) == (tools, mode)


def test_a_tool_without_parameters_has_none() -> None:
    first, second = one(said("a") | {"gen_ai.tool.definitions": DEFINITIONS}).tools or []
    assert "parameters" not in first.model_fields_set
    assert second.parameters == {"type": "object"}


def test_an_event_holds_the_conventions_structured() -> None:
    attributes: dict[str, Any] = {
        **CHAT,
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": LEAK}]}],
    }
    attributes["gen_ai.tool.definitions"] = DEFINITIONS
    found = only(read(logs(event(1, "gen_ai.client.inference.operation.details", attributes=attributes))))
    assert (found.content, names(found), found.model) == (LEAK, ["ls", "cat"], "m")


def test_an_attribute_that_was_cut_tells_what_is_left() -> None:
    whole = said(THOUGHT, LEAK)["gen_ai.output.messages"]
    found = one({**CHAT, "gen_ai.output.messages": whole[: whole.index("call")]})
    assert (found.reasoning, found.content, found.text_fidelity) == ("hm", "Here.\n<tool_", "truncated")


def test_messages_of_others_are_no_output() -> None:
    history = [{"role": "user", "parts": []}, {"role": "assistant", "parts": [{"type": "text", "content": "a"}]}]
    assert one({**CHAT, "gen_ai.output.messages": json.dumps(history)}).content == "a"


def test_a_message_with_a_content_instead_of_parts_is_read_too() -> None:
    message = {"role": "assistant", "content": LEAK, "finish_reason": "stop"}
    found = one({**CHAT, "gen_ai.output.messages": json.dumps([message])})
    assert (found.content, found.finish_reason) == (LEAK, "stop")


@pytest.mark.parametrize(
    "event_of",
    [
        pytest.param(("gen_ai.choice", {"message": json.dumps({"content": LEAK})}), id="a choice, JSON in a text"),
        pytest.param(("gen_ai.choice", {"content": LEAK}), id="a choice without a message"),
        pytest.param(
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([{"content": LEAK}])}), id="a completion"
        ),
        pytest.param(("gen_ai.client.inference.operation.details", said(LEAK)), id="the details"),
    ],
)
def test_the_events_of_a_span_itself_tell_its_text(event_of: Any) -> None:
    name, attributes = event_of
    assert one(CHAT, events=[{"name": name, "attributes": pairs(attributes)}]).content == LEAK


def test_pydantic_ai_puts_the_retired_events_into_an_attribute() -> None:
    choice = {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": LEAK}}
    events = [{"event.name": "gen_ai.user.message", "content": "hi"}, choice]
    assert one({**CHAT, "events": json.dumps(events)}).content == LEAK


def test_a_retired_event_may_name_itself_in_an_attribute() -> None:
    record = event(1, "", {"message": {"content": LEAK}}, {"event.name": "gen_ai.choice"})
    assert only(read(logs(record))).content == LEAK


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param({"gen_ai.usage.input_tokens": 1, "gen_ai.usage.output_tokens": 2}, (1, 2), id="current"),
        pytest.param({"gen_ai.usage.prompt_tokens": 1, "gen_ai.usage.completion_tokens": 2.0}, (1, 2), id="retired"),
        pytest.param({"gen_ai.usage.input_tokens": -1, "llm.token_count.completion": 2}, (None, 2), id="no count"),
        pytest.param({"gen_ai.usage.input_tokens": True, "ai.usage.outputTokens": 0}, (None, 0), id="zero"),
    ],
)
def test_usage_has_several_names(counts: Any, expected: Any) -> None:
    usage = one(said("a") | counts).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == expected


def test_the_model_that_answered_counts_and_the_one_asked_for_is_kept() -> None:
    found = one(said("a") | {"gen_ai.response.model": "m-2026"})
    assert (found.model, (found.model_extra or {})["requested_model"]) == ("m-2026", "m")
