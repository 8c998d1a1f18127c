"""OpenInference, OpenLLMetry, the AI SDK, OpenRouter: how each writes a model call into a span."""

import json
from typing import Any

import pytest

from ingest.records import Generation
from tests.ingest.otlp_signals import CHAT, read, said, span, traces
from tests.ingest.samples import generations, only

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


def test_a_raw_response_is_preferred_to_what_was_made_of_it() -> None:
    request = {"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "ls"}}]}
    attributes = {**LLM, f"{OUT}content": "other", "output.value": json.dumps(BODY), "input.value": json.dumps(request)}
    found = one(attributes)
    assert (found.content, found.reasoning, names(found), found.call_mode) == (LEAK, "hm", ["ls"], "native")
    assert (found.engine, found.engine_version, found.generation_id) == ("llama.cpp", "b6000", f"{1:016x}")
    assert (found.model_extra or {})["response_id"] == "x"
    assert found.started_at is not None
    assert found.started_at.year == 2026


TOOL = {"llm.tools.0.tool.json_schema": json.dumps({"type": "function", "function": {"name": "ls"}})}


@pytest.mark.parametrize(
    ("request_body", "rest", "tools"),
    [
        pytest.param({"model": "m", "messages": []}, {}, [], id="a whole request without tools: none offered"),
        pytest.param({"messages": []}, {}, None, id="mere messages: not known"),
        pytest.param({"messages": []}, TOOL, ["ls"], id="mere messages, and tools beside them"),
        pytest.param(None, TOOL, ["ls"], id="no request, and tools"),
        pytest.param(None, {"llm.tools.0.tool.name": "ls"}, ["ls"], id="a tool by its name"),
        pytest.param(
            None, {"llm.tools.0.tool.name": "ls", "llm.tools.0.tool.json_schema": '{"n'}, ["ls"], id="one cut"
        ),
        pytest.param(None, {}, None, id="nothing"),
    ],
)
def test_the_tools_of_openinference(request_body: Any, rest: Any, tools: Any) -> None:
    found = one({**LLM, "output.value": json.dumps(BODY), "input.value": json.dumps(request_body), **rest})
    assert names(found) == tools


def test_flattened_messages_are_put_together() -> None:
    call = f"{OUT}tool_calls.0.tool_call."
    found = one({**LLM, f"{OUT}role": "assistant", f"{call}id": "c", f"{call}function.name": "ls",
                 f"{call}function.arguments": "{", "llm.model_name": "m"})  # fmt: skip
    assert "content" not in found.model_fields_set
    assert [each.model_dump(exclude_unset=True) for each in found.tool_calls or ()] == [
        {"id": "c", "name": "ls", "arguments": "{"}
    ]


@pytest.mark.parametrize(
    ("attributes", "content", "fidelity"),
    [
        pytest.param({f"{OUT}contents.0.message_content.type": "text",
                      f"{OUT}contents.0.message_content.text": "a"}, "a", "exact", id="one content"),
        pytest.param({f"{OUT}content": "__REDACTED__"}, "__REDACTED__", "redacted", id="hidden"),
        pytest.param({"output.value": "__REDACTED__"}, "__REDACTED__", "redacted", id="the output hidden"),
        pytest.param({"output.value": "a", "output.mime_type": "text/plain"}, "a", "rebuilt", id="a mere text"),
        pytest.param({"llm.choices.0.completion.text": "a"}, "a", "rebuilt", id="a completion"),
        pytest.param({f"{OUT}content": "abcdefghij", "output.value": '{"choices'}, "abcdefghij", "exact", id="whole"),
        pytest.param({f"{OUT}content": "abcdefghi", "output.value": '{"choices'}, "abcdefghi", "truncated", id="cut"),
    ],
)  # fmt: skip
def test_other_outputs_of_openinference(attributes: Any, content: str, fidelity: str) -> None:
    found = one(LLM | attributes)
    assert (found.content, found.text_fidelity) == (content, fidelity)


def test_openllmetry_flattened_its_completions_and_functions() -> None:
    call, function = "gen_ai.completion.0.tool_calls.0.", "llm.request.functions.0."
    found = one({"gen_ai.prompt.0.role": "user", "gen_ai.completion.0.role": "assistant", f"{call}id": "c",
                 f"{call}name": "ls", f"{call}arguments": '{"a":1}', f"{function}name": "ls",
                 f"{function}parameters": '{"type":"object"}', "llm.request.functions.1.name": "cat",
                 "gen_ai.usage.prompt_tokens": 3})  # fmt: skip
    assert [each.model_dump(exclude_unset=True) for each in found.tool_calls or ()] == [
        {"id": "c", "name": "ls", "arguments": '{"a":1}'}
    ]
    assert [tool.model_dump(exclude_unset=True) for tool in found.tools or ()] == [
        {"name": "ls", "parameters": {"type": "object"}},
        {"name": "cat"},
    ]
    assert found.usage is not None
    assert found.usage.input_tokens == 3


def test_two_completions_are_two_generations() -> None:
    attributes = {"gen_ai.completion.0.content": "a", "gen_ai.completion.1.content": LEAK}
    found = generations(read(traces(span(1, attributes))))
    assert [(each.generation_id, each.content) for each in found] == [(f"{1:016x}", "a"), (f"{1:016x}#1", LEAK)]


def test_litellm_flattens_a_retired_function_call() -> None:
    found = one({"gen_ai.completion.0.function_call.name": "ls", "gen_ai.completion.0.function_call.arguments": "{}"})
    assert [(call.name, call.arguments) for call in found.tool_calls or ()] == [("ls", "{}")]


@pytest.mark.parametrize(
    ("attributes", "tools", "mode"),
    [
        pytest.param(
            {"ai.prompt.tools": ['{"name":"ls","inputSchema":{"type":"object"}}']}, ["ls"], "native", id="tools"
        ),
        pytest.param({"ai.prompt.messages": "[]"}, [], "none", id="a prompt without tools: none offered"),
        pytest.param({}, None, None, id="no prompt recorded"),
    ],
)
def test_the_tools_of_the_ai_sdk(attributes: Any, tools: Any, mode: Any) -> None:
    found = one({"ai.operationId": DO, "ai.response.text": LEAK, **attributes})
    assert (found.content, names(found), found.call_mode) == (LEAK, tools, mode)


def test_calls_of_the_ai_sdk_keep_their_input() -> None:
    calls = [{"toolCallId": "c", "toolName": "ls", "input": '{"a":1}'}, {"toolName": "cat", "args": {"b": 2}}]
    found = one({"ai.operationId": DO, "ai.response.toolCalls": json.dumps(calls)})
    assert [each.model_dump(exclude_unset=True) for each in found.tool_calls or ()] == [
        {"id": "c", "name": "ls", "arguments": '{"a":1}'},
        {"name": "cat", "arguments": {"b": 2}},
    ]


def test_a_stream_of_the_ai_sdk_was_put_together() -> None:
    found = one({"ai.response.text": LEAK, "ai.response.reasoning": "hm"}, name="ai.streamText.doStream")
    assert (found.content, found.reasoning, found.text_fidelity) == (LEAK, "hm", "rebuilt")


def test_openrouter_tells_a_completion_its_calls_and_the_upstream_provider() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    completion = {"completion": LEAK, "reasoning": "hm", "toolCalls": [call], "rawRequest": {"tools": [call]}}
    attributes = {**CHAT, "gen_ai.completion": json.dumps(completion), "gen_ai.response.finish_reason": "stop",
                  "trace.metadata.openrouter.provider_name": "DeepInfra", "gen_ai.provider.name": "openrouter",
                  "session.id": "s1"}  # fmt: skip
    found = one(attributes)
    assert (found.content, found.reasoning, found.provider, found.run_id) == (LEAK, "hm", "DeepInfra", "s1")
    assert [(each.id, each.name) for each in found.tool_calls or ()] == [("c", "ls")]
    assert (names(found), found.finish_reason, found.finish_fidelity) == (["ls"], "stop", "wire")


def test_a_raw_body_may_stand_in_one_attribute() -> None:
    found = one({**CHAT, "gen_ai.completion": json.dumps(BODY)})
    assert (found.content, found.reasoning, found.generation_id) == (LEAK, "hm", f"{1:016x}")


def test_each_span_of_a_message_has_its_own_dialect() -> None:
    spans = [
        span(1, said("a")),
        span(2, {**LLM, f"{OUT}content": "b"}),
        span(3, {"ai.operationId": DO, "ai.response.text": "c"}),
        span(4, {"gen_ai.completion.0.content": "d"}),
        span(5, {"gen_ai.completion": '{"completion": "e"}'}),
    ]
    assert [each.content for each in generations(read(traces(*spans)))] == ["a", "b", "c", "d", "e"]
