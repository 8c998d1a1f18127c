"""OpenCode: exported sessions and the output of a run."""

from typing import Any

import pytest

from ingest.detection import choose
from ingest.formats import Item, Mapped, Quarantined, Skipped
from ingest.formats.opencode import OPENCODE
from ingest.formats.opencode_run import OPENCODE_RUN
from ingest.shapes.told import PART
from tests.ingest.samples import decoded, generations, only, reason

START, TEXT = {"type": "step-start"}, {"type": "text", "text": "hi"}
FINISH = {"type": "step-finish", "reason": "stop", "tokens": {"input": 9, "output": 3}}
USER = {"info": {"id": "u", "role": "user"}, "parts": [TEXT]}


def tool(name: str = "ls", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": "c", "state": {"status": "completed", **state}}


def said(*parts: Any, **info: Any) -> dict[str, Any]:
    return {"info": {"id": "m", "role": "assistant", **info}, "parts": list(parts)}


def export(*messages: Any, **info: Any) -> list[Item]:
    return list(OPENCODE.read(decoded({"info": {"id": "s", "version": "1.18.33", **info}, "messages": list(messages)})))


def test_a_document_has_one_item_a_message_and_knows_the_tool() -> None:
    items = export(USER, said(START, TEXT, FINISH, modelID="m", providerID="p"), USER, said(START, TEXT, FINISH))
    assert [item.line for item in items] == [1, 1, 1, 1]
    first, second = generations(items)
    assert (first.client, first.client_version, first.model, first.provider) == ("opencode", "1.18.33", "m", "p")
    assert (first.finish_reason, first.finish_fidelity, first.text_fidelity) == ("stop", "mapped", "normalised")
    assert [(each.turn, each.round) for each in (first, second)] == [(0, 0), (1, 1)]
    assert "tools" not in first.model_fields_set


@pytest.mark.parametrize(
    ("part", "call"),
    [
        pytest.param(tool(input={"a": 1}), {"id": "c", "name": "ls", "arguments": {"a": 1}}, id="an object"),
        pytest.param(tool(), {"id": "c", "name": "ls"}, id="no input is none, not an empty object"),
        pytest.param(
            tool(status="pending", input={}, raw='{"a": '), {"id": "c", "name": "ls", "arguments": '{"a": '}, id="cut"
        ),
        pytest.param(tool(status="pending", input={}, raw=""), {"id": "c", "name": "ls"}, id="nothing came yet"),
        pytest.param(
            tool("invalid", input={"tool": "ls", "error": "bad JSON"}),
            {"id": "c", "name": "ls", "parse_error": "bad JSON"},
            id="unparsable: the name that was called, the arguments lost",
        ),
    ],
)
def test_calls(part: dict[str, Any], call: dict[str, Any]) -> None:
    found = only(export(said(START, part, FINISH))).tool_calls or []
    assert [each.model_dump(exclude_unset=True) for each in found] == [call]


@pytest.mark.parametrize(
    ("info", "status"),
    [
        pytest.param({}, "ok", id="none"),
        pytest.param({"error": {"name": "MessageAbortedError"}}, "cancelled", id="aborted"),
        pytest.param({"error": {"name": "APIError", "data": {}}}, "error", id="an API's error"),
        pytest.param({"error": {"name": "MessageOutputLengthError"}}, "cut", id="too long"),
        pytest.param({"error": "odd"}, "error", id="an error of another shape"),
    ],
)
def test_status(info: dict[str, Any], status: str) -> None:
    assert only(export(said(START, TEXT, **info))).status == status
    assert only(export(said(**info))).content is None


def test_several_steps_in_one_message_are_several_responses() -> None:
    items = export(USER, said(START, tool(input={}), FINISH | {"reason": "tool-calls"}, START, TEXT, FINISH))
    assert len(items) == 2
    first, second = generations(items)
    assert (first.generation_id, second.generation_id) == ("m", "m#1")
    assert (first.finish_reason, second.finish_reason) == ("tool-calls", "stop")
    assert (first.round, second.round) == (0, 1)


def test_retries_are_attempts_of_one_round() -> None:
    retry = {"type": "retry", "attempt": 1, "error": {"name": "APIError"}, "time": {"created": 1796027661000}}
    items = export(USER, said(retry, retry | {"attempt": 2}, START, TEXT, FINISH), said(START, TEXT, FINISH))
    found = generations(items)
    assert [(each.round, each.attempt, each.status) for each in found] == [
        (0, 0, "error"), (0, 1, "error"), (0, 2, "ok"), (1, 0, "ok"),
    ]  # fmt: skip
    assert len({each.generation_id for each in found[:3]}) == 3


@pytest.mark.parametrize(
    ("session", "message", "role"),
    [
        pytest.param({}, {}, "agent", id="a session"),
        pytest.param({"parentID": "p"}, {}, "subagent", id="a session of another one"),
        pytest.param({}, {"summary": True}, "summariser", id="a summary"),
        pytest.param({}, {"mode": "compaction"}, "summariser", id="a compaction"),
    ],
)
def test_roles(session: dict[str, Any], message: dict[str, Any], role: str) -> None:
    assert only(export(said(START, TEXT, FINISH, **message), **session)).role == role


def test_text_that_the_tool_wrote_is_not_the_models() -> None:
    found = only(export(said(START, {**TEXT, "synthetic": True}, {"type": "text", "text": "mine"}, FINISH)))
    assert found.content == "mine"


def test_a_request_to_compact_is_no_turn() -> None:
    compaction = {"info": {"role": "user"}, "parts": [{"type": "compaction"}]}
    assert [each.turn for each in generations(export(USER, compaction, said(START, TEXT, FINISH)))] == [0]


def test_what_holds_no_message_says_so() -> None:
    assert reason(export(projectID="p")[0]) == "a session without messages"
    assert isinstance(next(iter(OPENCODE.read(decoded({"info": {}, "messages": []})))), Quarantined)


def line(kind: str, part: dict[str, Any], message: str = "m", time: int = 1796027661000) -> dict[str, Any]:
    return {"type": kind, "timestamp": time, "sessionID": "s", "part": {"messageID": message, **part}}


def run(*lines: Any) -> list[Item]:
    return list(OPENCODE_RUN.read(decoded(*lines)))


def test_a_response_is_its_parts_and_stands_on_its_last_line() -> None:
    items = run(
        line("step_start", {"id": "1"}), line("text", {"id": "2", **TEXT}), line("step_finish", {"id": "3", **FINISH})
    )
    assert [item.line for item in items if isinstance(item, Mapped)] == [3]
    assert [reason(item) for item in items if isinstance(item, Skipped)] == [PART, PART]
    found = only(items)
    assert (found.content, found.finish_reason, found.status) == ("hi", "stop", "ok")


def test_responses_that_interleave_are_told_apart() -> None:
    items = run(
        line("text", {"id": "1", **TEXT}, "a"),
        line("text", {"id": "2", "type": "text", "text": "ho"}, "b"),
        line("step_finish", {"id": "3", **FINISH}, "b"),
        line("step_finish", {"id": "4", **FINISH}, "a"),
    )
    assert [(each.generation_id, each.content) for each in generations(items)] == [("b", "ho"), ("a", "hi")]


def test_a_part_printed_twice_counts_once_and_a_second_step_is_another_response() -> None:
    part, end = line("text", {"id": "1", **TEXT}), line("step_finish", {"id": "2", **FINISH})
    items = run(part, part, end, part | {"part": {**part["part"], "id": "3"}}, end)
    assert [(each.generation_id, each.content) for each in generations(items)] == [("m", "hi"), ("m#1", "hi")]


def test_an_output_that_stops_is_cut_and_an_error_is_told() -> None:
    items = run(line("text", {"id": "1", **TEXT}))
    assert (only(items).status, only(items).finish_fidelity) == ("cut", "absent")
    error = {"type": "error", "timestamp": 1796027661000, "sessionID": "s", "error": {"name": "APIError"}}
    assert (only(run(error)).status, only(run(error)).content) == ("error", None)


def test_thousands_of_responses_that_never_end_are_given_in_bounded_memory() -> None:
    items = run(*(line("text", {"id": "1", **TEXT}, str(number)) for number in range(2000)))
    assert len(generations(items)) == 2000


def test_the_two_outputs_are_told_apart() -> None:
    assert choose([line("text", TEXT)], "x") is OPENCODE_RUN
    assert OPENCODE.sniff([line("text", TEXT)]) == 0
    assert OPENCODE.sniff([{"info": {"id": "x"}, "messages": [{"role": "user", "content": "hi"}]}]) == 0
