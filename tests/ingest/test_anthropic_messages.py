"""What is peculiar to Anthropic's Messages API and to Amazon's Converse, which is read as it is."""

from base64 import b64encode
from typing import Any

import pytest

from ingest.formats import Item
from ingest.formats.anthropic_messages import ANTHROPIC_MESSAGES
from ingest.formats.bedrock_converse import BEDROCK_CONVERSE
from ingest.records import Generation
from tests.ingest.provider_bodies import REQUESTS, RESPONSES
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]


def read(*values: Any) -> list[Item]:
    return list(ANTHROPIC_MESSAGES.read(decoded(*values)))


def replied(*content: Any, **rest: Any) -> Generation:
    return only(read({**RESPONSES["anthropic-messages"], "content": list(content), **rest}))


def text(value: str) -> Object:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param([text("a")], {"content": "a", "text_fidelity": "exact"}, id="one text"),
        pytest.param([text("a"), text("b")], {"content": "ab", "text_fidelity": "rebuilt"}, id="two texts"),
        pytest.param([text("")], {"content": "", "text_fidelity": "exact"}, id="an empty text"),
        pytest.param([], {"content": None}, id="nothing"),
        pytest.param(
            [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}],
            {"content": None, "tool_calls": [{"id": "t", "name": "ls", "arguments": {}}]},
            id="a call without text",
        ),
        pytest.param(
            [{"type": "tool_use", "id": "t", "name": "ls"}],
            {"content": None, "tool_calls": [{"id": "t", "name": "ls"}]},
            id="no input, none invented",
        ),
        pytest.param(
            [{"type": "redacted_thinking", "data": "openrouter.reasoning:" + b64encode(b'{"text":"r"}').decode()}],
            {"content": None, "reasoning": "r"},
            id="reasoning that OpenRouter packs",
        ),
        pytest.param(
            [{"type": "redacted_thinking", "data": "openrouter.reasoning:?"}],
            {"content": None, "content_parts": [{"type": "redacted_thinking", "data": "openrouter.reasoning:?"}]},
            id="a broken package is kept",
        ),
        pytest.param(
            [text("a"), {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}],
            {"content": "a", "text_fidelity": "exact",
             "content_parts": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]},
            id="a tool of the server is kept",
        ),
        pytest.param([7, {}], {"content": None, "content_parts": [7, {}]}, id="what is no block is kept"),
    ],
)  # fmt: skip
def test_blocks(content: list[Any], expected: Object) -> None:
    own = {"type", "run_id", "generation_id", "model", "usage", "finish_reason", "finish_fidelity"}
    found = replied(*content).model_dump(exclude_unset=True)
    assert {key: value for key, value in found.items() if key not in own} == expected


@pytest.mark.parametrize(
    ("reason_", "expected"),
    [
        pytest.param("pause_turn", ("pause_turn", "wire"), id="as it came"),
        pytest.param(None, (None, "absent"), id="null"),
    ],
)
def test_the_stop_reason(reason_: str | None, expected: tuple[str | None, str]) -> None:
    found = replied(text("a"), stop_reason=reason_, stop_sequence="###")
    assert (found.finish_reason, found.finish_fidelity) == expected
    assert found.model_extra == {"stop_sequence": "###"}
    assert found.status is None


@pytest.mark.parametrize(
    ("request_", "tools", "mode"),
    [
        pytest.param({}, ["ls"], "native", id="tools"),
        pytest.param({"tools": []}, [], "none", id="none"),
        pytest.param({"tool_choice": {"type": "none"}}, ["ls"], "none", id="not to be called"),
        pytest.param({"tools": [{"type": "web_search_1", "name": "web_search"}]}, ["web_search"], "native", id="named"),
        pytest.param({"tools": [{"type": "mcp"}]}, ["mcp"], "native", id="a type for a name"),
    ],
)
def test_tools(request_: Object, tools: list[str], mode: str) -> None:
    asked = {**REQUESTS["anthropic-messages"], **request_}
    found = only(read({"request": asked, "response": RESPONSES["anthropic-messages"]}))
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (tools, mode)


def test_results_of_tools_link_a_run() -> None:
    call = RESPONSES["anthropic-messages"]["content"][2]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "f"}, text("go on")]}
    rewritten = [{"role": "user", "content": "changed"}, {"role": "assistant", "content": [call]}, result]
    again = {**REQUESTS["anthropic-messages"], "messages": rewritten}
    pairs = [{"request": each, "response": RESPONSES["anthropic-messages"]}
             for each in (REQUESTS["anthropic-messages"], again)]  # fmt: skip
    assert len({one.run_id for one in generations(read(*pairs))}) == 1


def test_an_error_envelope() -> None:
    envelope = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "q"}
    record = {"request": REQUESTS["anthropic-messages"], "response": envelope}
    assert ANTHROPIC_MESSAGES.sniff([record]) == 1
    found = only(read(record))
    assert (found.status, found.content, (found.model_extra or {})["error"]) == ("error", None, envelope["error"])
    assert found.model == "m"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({**RESPONSES["anthropic-messages"], "stop_reason": 7}, "stop reason is no text", id="stop reason"),
        pytest.param(
            {
                "request": {**REQUESTS["anthropic-messages"], "messages": [7]},
                "response": RESPONSES["anthropic-messages"],
            },
            "messages holds",
            id="a number as message",
        ),
        pytest.param(
            {"request": {**REQUESTS["anthropic-messages"], "tools": 7}, "response": RESPONSES["anthropic-messages"]},
            "tools is not a list",
            id="tools",
        ),
        pytest.param(
            {**RESPONSES["anthropic-messages"], "content": [{"type": "tool_use", "id": "c"}]}, "name", id="no name"
        ),
    ],
)
def test_a_line_that_is_not_understood_says_why(value: Any, why: str) -> None:
    (item,) = read(value)
    assert why in reason(item)


def converse(*values: Any) -> list[Item]:
    return list(BEDROCK_CONVERSE.read(decoded(*values)))


def test_converse_has_its_model_from_the_log_around_it() -> None:
    log = {
        "timestamp": "2026-11-30T12:00:00Z",
        "modelId": "qwen",
        "input": {"inputBodyJson": REQUESTS["bedrock-converse"]},
        "output": {"outputBodyJson": RESPONSES["bedrock-converse"]},
    }
    found = only(converse(log))
    assert (found.model, str(found.started_at)) == ("qwen", "2026-11-30 12:00:00+00:00")


@pytest.mark.parametrize(
    ("config", "tools", "mode"),
    [
        pytest.param({"tools": [{"cachePoint": {}}]}, [], "none", id="a cache point is no tool"),
        pytest.param(
            {"tools": [{"toolSpec": {"name": "ls"}}], "toolChoice": {"auto": {}}}, ["ls"], "native", id="auto"
        ),
        pytest.param(None, [], "none", id="none"),
    ],
)
def test_converse_tools(config: Any, tools: list[str], mode: str) -> None:
    record = {
        "request": {**REQUESTS["bedrock-converse"], "toolConfig": config},
        "response": RESPONSES["bedrock-converse"],
    }
    found = only(converse(record))
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (tools, mode)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({"output": {"message": {"content": 7}}, "stopReason": "x"}, "not a list of blocks", id="content"),
        pytest.param({**RESPONSES["bedrock-converse"], "stopReason": 7}, "stop reason is no text", id="stop reason"),
    ],
)
def test_converse_that_is_not_understood(value: Any, why: str) -> None:
    (item,) = converse(value)
    assert why in reason(item)
