"""Conversations of data sets: calls in text by design, and those that leaked."""

import json
from typing import Any

import pytest

from ingest.formats import Item, Quarantined, Skipped
from ingest.formats.messages import MESSAGES
from ingest.formats.sharegpt import SHAREGPT
from tests.ingest.recorded.openai import LEAK
from tests.ingest.samples import decoded, generations, only, reason

TOOLS = json.dumps([{"name": "bash", "parameters": {"type": "object"}}])
CALL = '{"name": "bash", "arguments": {"command": "ls"}}'


def talk(*turns: tuple[str, Any], **rest: Any) -> dict[str, Any]:
    return {"conversations": [{"from": speaker, "value": value} for speaker, value in turns], **rest}


def read(*values: Any) -> list[Item]:
    return list(SHAREGPT.read(decoded(*values)))


@pytest.mark.parametrize(
    ("value", "mode"),
    [
        pytest.param(talk(("human", "x"), ("gpt", LEAK), tools=TOOLS), None, id="the end: a leak"),
        pytest.param(talk(("human", "x"), ("gpt", LEAK), ("human", "why?")), None, id="a user follows: a leak"),
        pytest.param(talk(("human", "x"), ("gpt", LEAK), ("tool", "a")), "text", id="executed"),
        pytest.param(talk(("system", "use <tool_call>"), ("gpt", LEAK)), "text", id="taught by the first turn"),
        pytest.param(
            talk(("human", "x"), ("gpt", LEAK), system="<tools>[]</tools>"), "text", id="taught by the prompt"
        ),
        pytest.param(talk(("gpt", "<functioncall> {}"), ("function_response", "{}")), "text", id="Glaive's: executed"),
        pytest.param(talk(("human", "is <tool_call> a tag?"), ("gpt", "yes")), None, id="a user's words"),
        pytest.param(talk(("gpt", "text"), ("tool", "a <tool_call>")), None, id="a result's words"),
        pytest.param(
            talk(("function_call", CALL), ("observation", "a"), ("gpt", LEAK)), "native", id="beside a structured call"
        ),
        pytest.param(talk(("gpt", "hi"), tools="[]"), "none", id="no tools offered"),
    ],
)
def test_the_call_mode(value: dict[str, Any], mode: str | None) -> None:
    assert {each.call_mode for each in generations(read(value))} == {mode}


@pytest.mark.parametrize(
    ("value", "calls"),
    [
        pytest.param(CALL, [("bash", {"command": "ls"})], id="one"),
        pytest.param(f"[{CALL}, {CALL}]", [("bash", {"command": "ls"})] * 2, id="two in one turn"),
        pytest.param('{"name": "bash"}', [("bash", None)], id="no arguments are not invented"),
        pytest.param('{"name": "bash", "arguments": "{}"}', [("bash", "{}")], id="arguments in a string stay raw"),
    ],
)
def test_calls_by_their_speaker(value: str, calls: list[Any]) -> None:
    found = only(read(talk(("function_call", value))))
    assert [(each.name, each.arguments) for each in found.tool_calls or ()] == calls
    assert found.content is None


@pytest.mark.parametrize("value", ['{"name": "bash", ', '{"function": 1}', "[]", "ls -la", ""])
def test_a_call_that_cannot_be_read_stays_text(value: str) -> None:
    found = only(read(talk(("function_call", value))))
    assert (found.content, "tool_calls" in found.model_fields_set) == (value, False)


@pytest.mark.parametrize(
    ("value", "kind", "why"),
    [
        pytest.param(talk(), Quarantined, "no conversation", id="empty"),
        pytest.param(talk(("human", "x")), Skipped, "no message of a model", id="no answer"),
        pytest.param(talk(("gpt", 7)), Quarantined, "no text", id="a number"),
        pytest.param(talk(("gpt", "x"), tools="7"), Quarantined, "tools is not a list", id="odd tools"),
        pytest.param({"conversations": [{"value": "x"}]}, Quarantined, "no conversation", id="nobody speaks"),
    ],
)
def test_a_line_without_a_generation_says_why(value: Any, kind: type, why: str) -> None:
    (item,) = read(value)
    assert isinstance(item, kind)
    assert why in reason(item)


def test_conversations_in_a_string_and_with_roles() -> None:
    turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    found = only(read({"id": "c", "conversations": json.dumps(turns)}))
    assert (found.run_id, found.generation_id, found.content) == ("c", "c:0", "y")
    assert MESSAGES.sniff([{"conversations": turns}]) == 0


ASK = {"role": "user", "content": "go"}


def messages(*given: Any, **rest: Any) -> list[Item]:
    return list(MESSAGES.read(decoded({"messages": list(given), **rest})))


def test_blocks_of_anthropics_api_are_read() -> None:
    use = {"type": "tool_use", "id": "c", "name": "ls", "input": {"a": 1}}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "b"}]}
    blocks = [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "look"}, use]
    tools = [{"name": "ls", "input_schema": {"type": "object"}}]
    first, second = generations(
        messages(
            ASK, {"role": "assistant", "content": blocks}, answer, {"role": "assistant", "content": LEAK}, tools=tools
        )
    )
    assert (first.content, first.reasoning, first.text_fidelity) == ("look", "hm", "exact")
    assert [each.model_dump(exclude_unset=True) for each in first.tool_calls or ()] == [
        {"id": "c", "name": "ls", "arguments": {"a": 1}}
    ]
    assert (first.turn, second.turn, second.round, second.content) == (0, 0, 1, LEAK)
    assert [(tool.name, tool.parameters) for tool in second.tools or ()] == [("ls", {"type": "object"})]
    assert second.effective_call_mode == "native"


def test_json_in_strings_and_nulls_for_missing_keys() -> None:
    call = {"id": None, "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
    schema = {"type": "function", "function": {"name": "ls", "description": None, "parameters": '{"type": "object"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": json.dumps([call]), "tool_call_id": None, "name": None}
    found = only(messages({**ASK, "tool_calls": None}, said, tools=json.dumps([schema])))
    assert [(each.name, each.arguments) for each in found.tool_calls or ()] == [("ls", '{"a": 1}')]
    assert [tool.parameters for tool in found.tools or ()] == [{"type": "object"}]


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        pytest.param([ASK, {"role": "assistant", "content": LEAK}], "unknown", id="the end: a leak"),
        pytest.param(
            [ASK, {"role": "assistant", "content": LEAK}, {"role": "tool", "content": "a"}], "text", id="executed"
        ),
        pytest.param(
            [{"role": "system", "content": "<tools></tools>"}, {"role": "assistant", "content": LEAK}],
            "text",
            id="taught",
        ),
        pytest.param(
            [
                {"role": "system", "content": "<tools></tools>"},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "ls"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "a"},
            ],
            "native",
            id="structured calls are native, whatever the prompt says",
        ),
    ],
)
def test_text_calls_by_design_in_messages(given: list[Any], mode: str) -> None:
    assert {each.effective_call_mode for each in generations(messages(*given))} == {mode}
