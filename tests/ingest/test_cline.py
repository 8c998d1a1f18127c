"""Cline's CLI and the tasks of its kin in VS Code."""

from typing import Any

import pytest

from ingest.formats import Item, Mapped, Quarantined, Skipped
from ingest.formats.cline import CLINE, STATE
from ingest.formats.cline_stream import CLINE_STREAM, WAITING
from ingest.formats.cline_tasks import CLINE_TASKS, UI
from ingest.shapes.told import REPRIMAND
from tests.ingest.samples import decoded, generations, only, reason

ASK = {"role": "user", "content": [{"type": "text", "text": "go"}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "b"}]}
COMPLAINT = {
    "role": "user",
    "content": [{"type": "text", "text": "[ERROR] You did not use a tool in your previous response! " + "x" * 600}],
}
USE = {"type": "tool_use", "id": "c", "name": "ls", "input": {"a": 1}}
XML = "<read_file><path>a</path></read_file>"


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def said(*blocks: Any, **rest: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "ts": 1796027676000, **rest}


def document(*messages: Any, **rest: Any) -> dict[str, Any]:
    return {"version": 1, "agent": "lead", "sessionId": "s", "messages": list(messages), **rest}


def cline(*messages: Any, **rest: Any) -> list[Item]:
    return list(CLINE.read(decoded(document(*messages, **rest))))


def test_a_session_has_an_item_a_message() -> None:
    items = cline(ASK, said(USE), RESULT, said(text("done"), id="m", modelInfo={"id": "m", "provider": "p"}))
    assert [item.line for item in items] == [1, 1, 1, 1]
    first, second = generations(items)
    assert [(each.turn, each.round) for each in (first, second)] == [(0, 0), (0, 1)]
    assert (first.content, [call.arguments for call in first.tool_calls or ()]) == (None, [{"a": 1}])
    assert (second.content, second.model, second.provider, second.generation_id) == ("done", "m", "p", "m")


def test_a_complaint_stays_with_the_response_and_the_next_one_is_another_attempt() -> None:
    first, second, third = generations(cline(ASK, said(text("x")), COMPLAINT, said(USE), RESULT, said(text("y"))))
    assert [(each.turn, each.round, each.attempt) for each in (first, second, third)] == [
        (0, 0, 0), (0, 0, 1), (0, 1, 0),
    ]  # fmt: skip
    assert len((first.model_extra or {})["reprimand"]) == REPRIMAND
    assert "reprimand" not in (second.model_extra or {})


@pytest.mark.parametrize(
    ("rest", "role"),
    [
        pytest.param({}, "agent", id="the lead"),
        pytest.param({"agent": "helper"}, "subagent", id="another agent"),
        pytest.param({"origin": {"parentSessionId": "p"}}, "subagent", id="a session of another one"),
    ],
)
def test_roles(rest: dict[str, Any], role: str) -> None:
    assert only(cline(said(text("x")), **rest)).role == role


def test_the_state_of_a_session_is_no_session_without_leaks() -> None:
    state = {"session_id": "s", "messages_path": "/x", "source": "cli", "status": "completed", "prompt": "<tool_call>"}
    (item,) = CLINE.read(decoded(state))
    assert (CLINE.sniff([state]), reason(item)) == (1, STATE)


def test_several_text_blocks_are_joined_and_said_to_be() -> None:
    found = only(cline(said(text("a"), USE, text("b"), {"type": "image"})))
    assert (found.content, found.text_fidelity) == ("ab", "rebuilt")
    assert (found.model_extra or {})["content_parts"] == [{"type": "image"}]


def test_an_odd_content_is_quarantined() -> None:
    assert [type(item) for item in cline({"role": "assistant", "content": 7})] == [Quarantined]


def task(*messages: Any) -> list[Item]:
    return list(CLINE_TASKS.read(decoded([ASK | {"ts": 1}, *messages])))


@pytest.mark.parametrize(
    ("messages", "mode"),
    [
        pytest.param([said(text(XML))], None, id="the end of the run: a leak, perhaps"),
        pytest.param([said(text(XML)), COMPLAINT], None, id="a complaint: a leak, perhaps"),
        pytest.param(
            [said(text(XML)), {"role": "user", "content": [text("[read_file for 'a'] Result:"), text("b")]}],
            "text",
            id="a result in words: it was executed",
        ),
        pytest.param(
            [said(text("x")), {"role": "user", "content": "Tool uses are formatted using XML-style tags."}],
            "text",
            id="the markup is taught",
        ),
        pytest.param([said(USE), RESULT, said(text(XML))], "native", id="a structured call in the run"),
        pytest.param(
            [said(USE), {"role": "user", "content": "[ls] Result:"}, said(text(XML))],
            "native",
            id="structured and words",
        ),
    ],
)
def test_text_calls_by_design(messages: list[Any], mode: str | None) -> None:
    assert {each.call_mode for each in generations(task(*messages))} == {mode}


def test_a_summary_and_the_model_that_a_prompt_names() -> None:
    asked = {"role": "user", "content": "<environment_details><model>qwen3</model></environment_details>"}
    first, second = generations(task(asked, said(text("x")), said(text("s"), isSummary=True)))
    assert (first.model, first.role, second.role) == ("qwen3", "agent", "summariser")


def test_what_was_shown_is_not_what_was_said() -> None:
    shown = [{"ts": 1, "type": "say", "say": "text", "text": "<tool_call>"}]
    (item,) = CLINE_TASKS.read(decoded(shown))
    assert (CLINE_TASKS.sniff([shown]), reason(item)) == (1, UI)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([], id="an empty list"),
        pytest.param([{"role": "user", "content": "x"}], id="messages without times"),
        pytest.param([7], id="a number"),
        pytest.param({"messages": []}, id="an object"),
        pytest.param([{"role": "user", "content": "x", "ts": 1, "id": "m"}], id="messages with ids"),
    ],
)
def test_other_lists_are_no_tasks(value: Any) -> None:
    assert CLINE_TASKS.sniff([value]) == 0


def test_a_task_whose_messages_come_one_by_one_is_one_run() -> None:
    ask = {"role": "user", "content": [text("<task>\ngo</task>")]}
    result = {"role": "user", "content": "[ls] Result:"}
    found = list(CLINE_TASKS.read(decoded(ask, said(text(XML)), result, said(text("y")))))
    assert [item.line for item in found] == [1, 2, 3, 4]
    first, second = generations(found)
    assert (first.run_id, first.round, first.call_mode) == (second.run_id, 0, "text")
    assert CLINE_TASKS.sniff([ask, {"role": "assistant", "content": "x"}]) == 1
    assert CLINE_TASKS.sniff([{"role": "user", "content": "x"}]) == 0


def event(kind: str, content: str | None = None, **rest: Any) -> dict[str, Any]:
    told = {"contentType": content} if content else {}
    return {"ts": "2026-11-30T08:00:00.000Z", "type": "agent_event", "event": {"type": kind, **told, **rest}}


BEGIN, END = event("iteration_start", iteration=1), event("iteration_end", iteration=1)
RUN = {"ts": "2026-11-30T08:00:01.000Z", "type": "run_result", "text": "ab", "model": {"id": "m", "provider": "p"}}


def stream(*lines: Any) -> list[Item]:
    return list(CLINE_STREAM.read(decoded(*lines)))


def test_pieces_and_the_whole_text_are_one_text() -> None:
    pieces = [event("content_start", "text", text=piece) for piece in ("a", "b")]
    items = stream(BEGIN, *pieces, event("content_end", "text", text="ab"), END, event("done", text="ab"), RUN)
    found = only(items)
    assert (found.content, found.text_fidelity, found.model, found.status) == ("ab", "exact", "m", "ok")
    assert [item.line for item in items if isinstance(item, Mapped)] == [5]
    assert [item.line for item in items if isinstance(item, Skipped)] == [1, 2, 3, 4, 6, 7]


def test_a_run_that_stops_is_cut_and_its_text_is_put_together() -> None:
    found = only(stream(BEGIN, *[event("content_start", "text", text=piece) for piece in ("<tool_", "call>")]))
    assert (found.content, found.text_fidelity, found.status) == ("<tool_call>", "rebuilt", "cut")
    assert "model" not in found.model_fields_set


def test_a_call_told_twice_counts_once() -> None:
    call = event("content_start", "tool", toolName="ls", toolCallId="c", input={"a": 1})
    found = only(stream(BEGIN, call, call, END))
    assert [(each.name, each.arguments) for each in found.tool_calls or ()] == [("ls", {"a": 1})]
    assert found.content is None


def test_responses_wait_for_their_model_in_bounded_memory() -> None:
    found = generations(stream(*[BEGIN, END] * (WAITING + 10), RUN))
    assert len(found) == WAITING + 10
    assert [each.model for each in found].count("m") == WAITING


def test_events_of_others_are_not_taken() -> None:
    assert CLINE_STREAM.sniff([{"ts": "x", "type": "error"}, {"ts": 1, "type": "say"}]) == 0
