"""What Codex prints: items without responses, so that calls that are done tell where one ends."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Item
from ingest.formats.codex_exec import CODEX_EXEC
from tests.ingest.samples import decoded, generations, json_values, only, reason

Object = dict[str, Any]
START: Object = {"type": "thread.started", "thread_id": "t"}
TURN: Object = {"type": "turn.started"}
DONE: Object = {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 0, "output_tokens": 3}}


def item(name: str, kind: str, event: str = "completed", **fields: Any) -> Object:
    return {"type": f"item.{event}", "item": {"id": name, "type": kind, **fields}}


def text(name: str = "i1", words: str = "hello") -> Object:
    return item(name, "agent_message", text=words)


def thought(name: str = "i0") -> Object:
    return item(name, "reasoning", text="Look.")


def ran(name: str = "i2", event: str = "completed", **fields: Any) -> Object:
    return item(name, "command_execution", event, command="ls", **fields)


def read(*values: Any) -> list[Item]:
    return list(CODEX_EXEC.read(decoded(*values)))


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        pytest.param([thought(), text(), ran(event="started"), ran()], 1, id="one response and its call"),
        pytest.param([ran(event="started"), ran(), thought(), text()], 2, id="what follows a call is the next"),
        pytest.param(
            [ran("a", "started"), ran("b", "started"), ran("a"), ran("b"), text()], 2, id="two calls at once are one"
        ),
        pytest.param([ran(), text()], 2, id="a call that is told of once"),
        pytest.param([text(), DONE, TURN, text()], 2, id="two turns"),
        pytest.param(
            [item("p", "todo_list", "started", items=[]), item("p", "todo_list", "updated", items=[1]), text(),
             item("p", "todo_list", items=[1]), DONE],
            3,
            id="a list of tasks is closed by the tool",
        ),
        pytest.param(
            [item("p", "todo_list", "started"), item("p", "todo_list", "updated"), DONE], 2, id="a list written twice"
        ),
        pytest.param(
            [ran("a", "started"), ran("a", "updated"), ran("b", "started"), ran("a"), ran("b")],
            1,
            id="a call that goes on",
        ),
        pytest.param(
            [ran("a", "started"), ran("b", "started"), ran("b"), text(), ran("a")], 2, id="a call that ends late"
        ),
        pytest.param([item("i9", "agent_message", "started", text="hel")], 0, id="a text that has not ended"),
    ],
)  # fmt: skip
def test_what_is_one_response(lines: list[Object], count: int) -> None:
    assert len(generations(read(START, TURN, *lines))) == count


def test_a_response_has_what_its_items_tell() -> None:
    found = only(read(START, TURN, thought(), text(), ran(event="started"), ran(aggregated_output="a"), DONE))
    assert (found.run_id, found.turn, found.round) == ("t", 0, 0)
    assert (found.content, found.reasoning, found.text_fidelity) == ("hello", "Look.", "exact")
    assert [call.model_dump(exclude_unset=True) for call in found.tool_calls or ()] == [
        {"id": "i2", "name": "command_execution", "arguments": {"command": "ls"}}
    ]
    assert found.model_extra == {"calls_fidelity": "mapped"}
    assert (found.finish_fidelity, found.usage and found.usage.input_tokens) == ("absent", 9)


@pytest.mark.parametrize(
    ("fields", "call"),
    [
        pytest.param(
            {"type": "mcp_tool_call", "server": "s", "tool": "f", "arguments": {"a": 1}, "result": {}},
            {"id": "i", "name": "f", "type": "mcp_tool_call", "server": "s", "arguments": {"a": 1}},
            id="of a server",
        ),
        pytest.param({"type": "web_search", "query": "q"},
                     {"id": "i", "name": "web_search", "arguments": {"query": "q"}}, id="a search"),
        pytest.param({"type": "file_change"}, {"id": "i", "name": "file_change"}, id="no arguments"),
    ],
)  # fmt: skip
def test_calls_of_all_kinds(fields: Object, call: Object) -> None:
    (found,) = list(only(read({"type": "item.completed", "item": {"id": "i", **fields}})).tool_calls or [])
    assert found.model_dump(exclude_unset=True) == call


def test_tokens_of_a_turn_are_those_of_its_only_response() -> None:
    many = generations(read(START, TURN, ran(), text(), DONE, TURN, text(), DONE))
    assert [each.usage and each.usage.output_tokens for each in many] == [None, None, 3]
    assert [(each.turn, each.round) for each in many] == [(0, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(item("i", "error", message="x"), "a notice of the tool, no output of a model", id="a warning"),
        pytest.param({"type": "error", "message": "x"}, "a notice of the tool, no output of a model", id="an error"),
        pytest.param(item("i", "hologram"), "bookkeeping: another item", id="an item of tomorrow"),
        pytest.param(
            {"type": "turn.failed", "error": {"message": "x"}}, "bookkeeping: turn.failed", id="a failed turn"
        ),
        pytest.param({"type": "thread.paused"}, "not an event of codex exec", id="another event"),
        pytest.param(None, "not an event of codex exec", id="no object"),
    ],
)
def test_what_is_no_output_of_a_model(value: Any, why: str) -> None:
    (found,) = read(value)
    assert reason(found) == why


@pytest.mark.parametrize(
    ("value", "known"),
    [
        pytest.param(TURN, True, id="a turn"),
        pytest.param({"type": "turn.started", "turn": 1}, False, id="another program's turn"),
        pytest.param({"type": "error", "message": "x", "level": 3}, False, id="an error of an application's log"),
        pytest.param({"type": "item.completed", "item": "x"}, False, id="another item"),
    ],
)
def test_only_events_of_threads_are_recognised(value: Any, known: bool) -> None:
    assert CODEX_EXEC.sniff([value]) == known


exec_like = st.fixed_dictionaries(
    {"type": st.sampled_from(["thread.started", "turn.started", "turn.completed", "item.started", "item.completed"])},
    optional={
        "thread_id": json_values, "usage": json_values,
        "item": json_values | st.fixed_dictionaries({}, optional={
            "id": st.sampled_from(["a", "b"]) | json_values, "text": st.text() | json_values, "tool": json_values,
            "type": st.sampled_from(["reasoning", "agent_message", "command_execution", "mcp_tool_call", "todo_list"]),
            "command": json_values, "arguments": json_values, "items": json_values, "server": json_values}),
    },
)  # fmt: skip


@given(values=st.lists(exec_like, max_size=8))
@settings(deadline=None, max_examples=200)
def test_every_line_is_answered_once(values: list[Object]) -> None:
    lines = decoded(*values)
    assert sorted(each.line for each in CODEX_EXEC.read(lines)) == [each.number for each in lines]
