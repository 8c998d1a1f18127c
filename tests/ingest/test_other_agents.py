"""goose, Copilot, Crush, Cursor and OpenHands V1."""

import json
from typing import Any

import pytest

from ingest.formats import Item, Mapped, Quarantined, Skipped
from ingest.formats.copilot import COPILOT
from ingest.formats.crush import CRUSH
from ingest.formats.cursor import CURSOR
from ingest.formats.goose import GOOSE
from ingest.formats.openhands_events import OPENHANDS_EVENTS
from ingest.shapes.told import PART
from tests.ingest.samples import decoded, generations, only, reason

TEXT = {"type": "text", "text": "hi"}
TIME = "2026-11-30T08:40:02.000001"


def goose(*messages: Any, **rest: Any) -> list[Item]:
    told = [{"role": "assistant", "created": 1796028000, **message} for message in messages]
    return list(GOOSE.read(decoded({"id": "s", "working_dir": "/w", "conversation": told, **rest})))


def test_a_malformed_call_of_goose_is_no_call_and_stays_as_it_was_kept() -> None:
    good = {
        "type": "toolRequest",
        "id": "c",
        "toolCall": {"status": "success", "value": {"name": "ls", "arguments": {}}},
    }
    bad = {"type": "toolRequest", "id": "d", "toolCall": {"status": "error", "error": "could not be parsed"}}
    found = only(goose({"content": [good, bad]}))
    assert [each.model_dump(exclude_unset=True) for each in found.tool_calls or ()] == [
        {"id": "c", "name": "ls", "arguments": {}}
    ]
    assert (found.content, (found.model_extra or {})["content_parts"]) == (None, [bad])


@pytest.mark.parametrize(
    ("message", "count"),
    [
        pytest.param({"content": [TEXT]}, 1, id="a response"),
        pytest.param({"content": [TEXT], "metadata": {"userVisible": False}}, 0, id="a message of the tool"),
        pytest.param({"content": [TEXT], "metadata": {"agentVisible": False}}, 1, id="one that was compacted away"),
        pytest.param({"content": [TEXT], "role": "user"}, 0, id="the user's"),
        pytest.param({"content": [{"type": "toolResponse"}], "role": "user"}, 0, id="a result"),
    ],
)
def test_what_is_a_response_of_goose(message: dict[str, Any], count: int) -> None:
    assert len(generations(goose(message))) == count


def test_a_sub_agent_of_goose_and_a_session_without_messages() -> None:
    assert only(goose({"content": [TEXT]}, session_type="sub_agent")).role == "subagent"
    assert reason(goose()[0]) == "a session without messages"
    assert isinstance(goose({"content": 7})[0], Quarantined)


def test_two_old_sessions_of_goose_are_two_runs() -> None:
    header = {"working_dir": "/w", "description": "d", "message_count": 1}
    ask = {"role": "user", "created": 1796028000, "content": [TEXT]}
    answer = ask | {"role": "assistant"}
    items = list(GOOSE.read(decoded(header, ask, answer, header, ask | {"created": 1796028009}, answer)))
    assert len({each.run_id for each in generations(items)}) == 2
    assert GOOSE.sniff([{"working_dir": "/w"}, {"role": "user", "content": "x"}]) == 0


def copilot(*events: tuple[str, dict[str, Any]]) -> list[Item]:
    return list(COPILOT.read(decoded(*({"type": kind, "timestamp": TIME, "data": data} for kind, data in events))))


def test_copilot_names_its_model_when_it_begins_and_when_it_changes() -> None:
    items = copilot(
        ("session.start", {"sessionId": "s", "copilotVersion": "1", "selectedModel": "a"}),
        ("user.message", {"content": "x"}),
        (
            "assistant.message",
            {"content": "", "toolRequests": [{"toolCallId": "c", "name": "ls", "arguments": {"a": 1}}]},
        ),
        ("tool.execution_complete", {"toolCallId": "c"}),
        ("session.model_change", {"newModel": "b"}),
        ("assistant.message", {"content": "done", "parentToolCallId": "c"}),
        ("assistant.message_delta", {"deltaContent": "done"}),
    )
    first, second = generations(items)
    assert (first.run_id, first.model, second.model, first.client_version) == ("s", "a", "b", "1")
    assert [(each.name, each.arguments) for each in first.tool_calls or ()] == [("ls", {"a": 1})]
    assert (first.role, second.role, "tool_calls" in second.model_fields_set) == ("agent", "subagent", False)
    assert [(each.turn, each.round) for each in (first, second)] == [(0, 0), (0, 1)]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"type": "response.created", "timestamp": TIME, "data": {}}, id="the Responses API"),
        pytest.param({"type": "session", "timestamp": TIME, "data": {}}, id="no group"),
        pytest.param({"type": "user.message", "timestamp": TIME}, id="no data"),
    ],
)
def test_other_events_are_not_copilots(value: Any) -> None:
    assert COPILOT.sniff([value]) == 0


def crush(*parts: tuple[str, dict[str, Any]], **rest: Any) -> list[Item]:
    told = json.dumps([{"type": kind, "data": data} for kind, data in parts])
    row = {"id": "m", "session_id": "s", "role": "assistant", "parts": told, "created_at": 1796028000, **rest}
    return list(CRUSH.read(decoded(row)))


@pytest.mark.parametrize(
    ("parts", "ending"),
    [
        pytest.param([("finish", {"reason": "end_turn"})], ("end_turn", "mapped", "ok"), id="finished"),
        pytest.param([("finish", {"reason": "canceled"})], ("canceled", "mapped", "cancelled"), id="cancelled"),
        pytest.param([("finish", {"reason": "error"})], ("error", "mapped", "error"), id="failed"),
        pytest.param([], (None, "absent", "cut"), id="no finish: cut"),
    ],
)
def test_how_a_response_of_crush_ended(parts: list[Any], ending: tuple[Any, ...]) -> None:
    found = only(crush(("text", {"text": "x"}), *parts))
    assert (found.finish_reason, found.finish_fidelity, found.status) == ending


def test_crush_keeps_raw_arguments_and_summaries() -> None:
    call = {"id": "c", "name": "ls", "input": '{"a": '}
    found = only(crush(("tool_call", call), is_summary_message=1))
    assert ([each.arguments for each in found.tool_calls or ()], found.role) == (['{"a": '], "summariser")


def test_parts_of_crush_that_are_no_json_are_not_understood() -> None:
    assert isinstance(crush(parts=7)[0], Quarantined)
    assert only(crush(parts="[broken")).content is None


def test_a_transcript_of_cursor_with_a_call() -> None:
    ask = {"role": "user", "message": {"content": [TEXT]}}
    call = {"role": "assistant", "message": {"content": [TEXT, {"type": "tool_use", "name": "ls", "input": {"a": 1}}]}}
    items = list(CURSOR.read(decoded(ask, call, {"role": "assistant", "message": {"content": [TEXT]}})))
    first, second = generations(items)
    assert (first.effective_call_mode, second.effective_call_mode) == ("native", "unknown")
    assert (first.run_id, first.round, second.round) == (second.run_id, 0, 1)
    assert CURSOR.sniff([{"type": "user", "uuid": "x", "role": "user", "message": {"content": []}}]) == 0


STATE = {"id": "c1", "agent": {"llm": {"model": "m", "base_url": "http://x"}}}


def event(kind: str, key: str = "e", source: str = "agent", **rest: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": TIME, "source": source, "kind": kind, **rest}


PROMPT = event("SystemPromptEvent", "e0", tools=[{"kind": "T", "name": "ls"}, {"kind": "odd"}])


def action(call: str, response: str = "r", **rest: Any) -> dict[str, Any]:
    told = {"id": call, "name": "ls", "arguments": '{"a": '}
    return event("ActionEvent", call, llm_response_id=response, thought=[], tool_call=told, action=None, **rest)


def said(text: str, response: str | None = "r", source: str = "agent") -> dict[str, Any]:
    message = {"role": "assistant" if source == "agent" else "user", "content": [{"type": "text", "text": text}]}
    return event("MessageEvent", text, source, llm_message=message, llm_response_id=response)


def openhands(*events: Any) -> list[Item]:
    return list(OPENHANDS_EVENTS.read(decoded(*events)))


def test_calls_made_in_one_response_are_one_generation() -> None:
    thought = action("a") | {"thought": [TEXT], "reasoning_content": "hm"}
    items = openhands(
        STATE, PROMPT, thought, action("b"), event("ObservationEvent", "o", "environment"), said("x", "r2")
    )
    first, second = generations(items)
    assert [each.id for each in first.tool_calls or ()] == ["a", "b"]
    assert {each.arguments for each in first.tool_calls or ()} == {'{"a": '}
    assert (first.content, first.reasoning, first.run_id, first.model) == ("hi", "hm", "c1", "m")
    assert [tool.name for tool in second.tools or ()] == ["ls"]
    assert (first.call_mode, first.round, second.round) == ("native", 0, 1)
    assert [item.line for item in items if isinstance(item, Mapped)] == [4, 6]
    assert [reason(item) for item in items if isinstance(item, Skipped) and item.line == 3] == [PART]


def test_a_time_without_a_zone_is_told() -> None:
    found = only(openhands(said("x")))
    assert found.started_at
    assert (found.started_at.isoformat(), (found.model_extra or {})["zone"]) == (f"{TIME}+00:00", "assumed_utc")
    assert "tools" not in found.model_fields_set


def test_a_complaint_of_openhands_stays_with_the_response_before_it() -> None:
    complaint = "Your last response did not include a function call or a message. Please use a tool."
    first, second, third = generations(
        openhands(said("x", "r1"), said(complaint, None, "environment"), said("y", "r2"), said("z", "r3"))
    )
    assert (first.model_extra or {})["reprimand"] == complaint
    assert [(each.turn, each.round, each.attempt) for each in (first, second, third)] == [
        (0, 0, 0), (0, 0, 1), (0, 1, 0),
    ]  # fmt: skip


def test_without_native_calls_text_is_by_design() -> None:
    state = {"id": "c", "agent": {"llm": {"model": "m", "native_tool_calling": False}}}
    assert only(openhands(state, PROMPT, said("<function=ls>"))).call_mode == "text"


def test_a_summary_is_a_summarisers_and_two_conversations_are_two_runs() -> None:
    items = openhands(PROMPT, said("x"), event("Condensation", "k", summary="s"), PROMPT | {"id": "f0"}, said("y"))
    found = {each.content: each for each in generations(items)}
    assert (found["s"].role, found["s"].call_mode, found["x"].role) == ("summariser", "none", "agent")
    assert found["x"].run_id != found["y"].run_id


def test_an_old_version_of_openhands_is_not_taken() -> None:
    old = {"id": 1, "timestamp": TIME, "source": "agent", "message": "x", "action": "run", "args": {}}
    assert OPENHANDS_EVENTS.sniff([old, {"kind": "x", "id": "y", "source": "z", "timestamp": TIME}]) == 0
