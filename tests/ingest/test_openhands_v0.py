"""What is peculiar to the old events of OpenHands."""

from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Mapped, Quarantined
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, only, reason


def event(number: int, source: str = "agent", **fields: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": "2026-01-01T10:00:00.5", "source": source, "message": ""} | fields


SYSTEM = event(0, action="system", args={"content": "x", "tools": [{"name": "bash"}], "openhands_version": "0.59.0"})


def said(number: int, text: Any, source: str = "agent") -> dict[str, Any]:
    return event(number, source, action="message", args={"content": text})


def acted(number: int, response: str | None = "r", calls: int = 1) -> dict[str, Any]:
    made = [{"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": "{ }"}} for n in range(calls)]
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {"content": None, "tool_calls": made}}
    body = {"id": response, "object": "chat.completion", "model": "m", "choices": [choice]}
    return event(number, action="run", args={}, tool_call_metadata={"tool_call_id": "c0", "model_response": body})


def read(*values: Any) -> list[Item]:
    return list(by_name("openhands-v0").read(decoded(*values)))


def test_actions_of_one_response_are_one_generation() -> None:
    found = generations(read([SYSTEM, acted(1, calls=2), acted(2, calls=2), acted(3, "s")]))
    assert [len(one.tool_calls or []) for one in found] == [2, 1]
    assert [one.round for one in found] == [0, 1]


def test_observations_and_users_are_no_generations() -> None:
    seen = event(3, observation="run", content=LEAK, cause=2)
    found = generations(read([SYSTEM, said(1, LEAK, "user"), said(2, LEAK), seen, said(4, "x", "user"), said(5, "y")]))
    assert [(one.content, one.turn, one.round) for one in found] == [(LEAK, 0, 0), ("y", 1, 1)]


def test_tools_and_version_are_told_by_the_first_event() -> None:
    one = only(read([SYSTEM, said(1, LEAK)]))
    assert ([tool.name for tool in one.tools or []], one.call_mode, one.client_version) == (
        ["bash"],
        "native",
        "0.59.0",
    )
    assert (one.model_extra or {})["zone"] == "assumed_utc"


def test_without_tools_nothing_is_offered_or_told() -> None:
    bare = event(0, action="system", args={"content": "x"})
    assert "tools" not in only(read([bare, said(1, "x")])).model_fields_set
    none = event(0, action="system", args={"content": "x", "tools": []})
    assert only(read([none, said(1, "x")])).call_mode == "none"


def test_an_event_a_line_is_the_same_run() -> None:
    whole, lines = generations(read([SYSTEM, acted(1), said(2, "x")])), read(SYSTEM, acted(1), said(2, "x"))
    assert [one.model_dump() for one in generations(lines)] == [one.model_dump() for one in whole]
    assert reason(lines[0]) == "bookkeeping: an event without a reply"


def test_an_evaluation_holds_a_run_a_line() -> None:
    values = [{"instance_id": name, "history": [SYSTEM, said(1, "x")]} for name in ("a", "b")]
    assert [one.run_id.partition(":")[0] for one in generations(read(*values))] == ["a", "b"]


def test_an_old_evaluation_holds_pairs() -> None:
    seen = event(2, observation="run", content="x", cause=1)
    assert len(generations(read({"instance_id": "a", "history": [[SYSTEM, seen], [acted(1), seen]]}))) == 1


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(
            {"id": 1, "source": "agent", "timestamp": "x", "kind": "ActionEvent"}, id="the events of version 1"
        ),
        pytest.param({"action": "run", "source": "x"}, id="another program's action"),
        pytest.param({"instance_id": "a", "model_patch": "x"}, id="a prediction"),
        pytest.param([], id="nothing"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("openhands-v0").sniff([value]) == 0


def test_broken_events_leave_the_others() -> None:
    items = read([SYSTEM, said(1, 5), "x", said(2, "y")])
    assert [type(item) for item in items] == [Quarantined, Mapped]
