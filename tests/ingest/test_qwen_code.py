"""Sessions of Qwen Code: one line a response, in Gemini's parts and Claude Code's envelope."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Item
from ingest.formats.claude_code import CLAUDE_CODE
from ingest.formats.qwen_code import QWEN_CODE
from ingest.store import Store
from tests.ingest.loading import load
from tests.ingest.samples import decoded, generations, json_values, only, reason

Object = dict[str, Any]
TEXT: Object = {"text": "hello"}
THOUGHT: Object = {"text": "Look.", "thought": True}
CALL: Object = {"functionCall": {"id": "call_1", "name": "ls", "args": {"path": "."}}}


def line(kind: str, uuid: str, **rest: Any) -> Object:
    envelope = {"uuid": uuid, "parentUuid": None, "sessionId": "s", "timestamp": "2026-11-30T08:00:00.000Z"}
    return {**envelope, "type": kind, "cwd": "/p", "version": "0.15.10", **rest}


def said(uuid: str, *parts: Any, **rest: Any) -> Object:
    return line("assistant", uuid, model="m", message={"role": "model", "parts": list(parts)}, **rest)


def user(uuid: str, **rest: Any) -> Object:
    return line("user", uuid, message={"role": "user", "parts": [{"text": "do it"}]}, **rest)


def result(uuid: str) -> Object:
    response = {"id": "call_1", "name": "ls", "response": {"output": "<tool_call>"}}
    return line("tool_result", uuid, message={"role": "user", "parts": [{"functionResponse": response}]})


TELEMETRY = line(
    "system", "t", subtype="ui_telemetry",
    systemPayload={"uiEvent": {"event.name": "qwen-code.api_response", "response_text": "hello"}},
)  # fmt: skip


def read(*values: Any) -> list[Item]:
    return list(QWEN_CODE.read(decoded(*values)))


def test_a_response_has_what_its_line_tells() -> None:
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    found = only(read(user("u"), TELEMETRY, said("a", THOUGHT, TEXT, CALL, usageMetadata=counts)))
    assert (found.content, found.reasoning, found.text_fidelity) == ("hello", "Look.", "exact")
    assert [call.model_dump(exclude_unset=True) for call in found.tool_calls or ()] == [
        {"id": "call_1", "name": "ls", "arguments": {"path": "."}}
    ]
    assert (found.run_id, found.generation_id, found.turn, found.round) == ("s", "a", 0, 0)
    assert (found.model, found.client, found.client_version) == ("m", "qwen-code", "0.15.10")
    assert found.usage is not None
    assert found.usage.model_dump(exclude_unset=True) == {"input_tokens": 9, "output_tokens": 3}
    assert found.finish_fidelity == "absent"
    assert found.model_fields_set.isdisjoint({"finish_reason", "tools", "call_mode", "role"})


@pytest.mark.parametrize(
    ("parts", "fields"),
    [
        pytest.param([TEXT, TEXT], {"content": "hellohello", "text_fidelity": "rebuilt"}, id="texts joined"),
        pytest.param([CALL], {"content": None, "text_fidelity": "exact"}, id="a call alone"),
        pytest.param([{"text": ""}], {"content": ""}, id="an empty text is not none"),
        pytest.param([{**TEXT, "thought": False}], {"content": "hello"}, id="not a thought"),
        pytest.param([TEXT, {"inlineData": 1}], {"content_parts": [{"inlineData": 1}]}, id="something else"),
    ],
)
def test_text_stays_as_it_is(parts: list[Any], fields: Object) -> None:
    found = only(read(said("a", *parts)))
    assert {key: getattr(found, key) for key in fields} == fields


def test_arguments_are_never_invented() -> None:
    (call,) = list(only(read(said("a", {"functionCall": {"name": "ls"}}))).tool_calls or [])
    assert "arguments" not in call.model_fields_set


def test_turns_are_of_users_and_rounds_of_responses() -> None:
    lines = [user("u1"), said("a", CALL), result("r"), user("n", subtype="mid_turn_user_message"), said("b", TEXT),
             user("u2"), said("c", TEXT)]  # fmt: skip
    assert [(each.turn, each.round) for each in generations(read(*lines))] == [(0, 0), (0, 1), (1, 2)]


def test_sub_agents_are_runs_of_their_own() -> None:
    found = only(read(said("a", TEXT, isSidechain=True, agentId="explore-1")))
    assert (found.run_id, found.role, found.model_extra) == ("s/explore-1", "subagent", {"parent_run_id": "s"})


def test_a_copy_in_a_forked_session_is_a_duplicate(store: Store) -> None:
    first = said("aaaaaaaa-0000-0000-0000-000000000001", TEXT)
    load(store, user("u"), first, format_name="qwen-code")
    copied = {**first, "sessionId": "s2", "forkedFrom": {"sessionId": "s"}}
    again = load(store, copied, said("b", TEXT, sessionId="s2"), format_name="qwen-code")
    assert (again.new_generations, again.duplicate) == (1, 1)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(TELEMETRY, "bookkeeping: ui_telemetry", id="a copy in telemetry"),
        pytest.param(line("system", "a", subtype="chat_compression"), "bookkeeping: chat_compression", id="a summary"),
        pytest.param(line("system", "a", subtype="x\ny"), "bookkeeping: system", id="a subtype of tomorrow"),
        pytest.param(result("a"), "bookkeeping: tool_result", id="a result that quotes a call"),
        pytest.param(said("a"), "no response of a model", id="no parts"),
        pytest.param(line("assistant", "a", message="x"), "an assistant record without parts", id="a broken assistant"),
        pytest.param({"type": "assistant"}, "not a record of a Qwen Code session", id="a bare type"),
        pytest.param(7, "not a record of a Qwen Code session", id="no object"),
    ],
)
def test_what_is_no_output_of_a_model(value: Any, why: str) -> None:
    (item,) = read(value)
    assert reason(item) == why


@pytest.mark.parametrize(
    "value",
    [user("u"), said("a", TEXT, isSidechain=True), TELEMETRY, result("r")],
    ids=["user", "agent", "system", "tool"],
)
def test_qwen_code_is_not_taken_for_claude_code(value: Object) -> None:
    assert (QWEN_CODE.sniff([value]), CLAUDE_CODE.sniff([value])) == (1, 0)


part_like = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(),
        "thought": st.booleans(),
        "functionCall": json_values
        | st.fixed_dictionaries({"name": st.text(), "args": json_values, "id": json_values}),
    },
)
session_like = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant", "user", "system"]), "sessionId": st.just("s") | json_values},
    optional={
        "uuid": json_values, "subtype": json_values, "model": json_values, "timestamp": json_values,
        "isSidechain": st.booleans(), "agentId": json_values, "usageMetadata": json_values,
        "message": json_values | st.fixed_dictionaries({"parts": json_values | st.lists(json_values | part_like)}),
    },
)  # fmt: skip


@given(values=st.lists(session_like, max_size=5))
@settings(deadline=None, max_examples=200)
def test_every_line_is_answered_once(values: list[Object]) -> None:
    lines = decoded(*values)
    assert [item.line for item in QWEN_CODE.read(lines)] == [line.number for line in lines]
