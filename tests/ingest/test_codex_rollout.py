"""Rollouts of Codex: three copies of a text are one, and items make a response up to a count of tokens."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Item, Mapped
from ingest.formats.codex_rollout import CODEX_ROLLOUT
from ingest.records import Generation
from ingest.store import Store
from tests.ingest.loading import load, rows
from tests.ingest.samples import decoded, generations, json_values, only, reason

Object = dict[str, Any]
LONG = "msg_0123456789abcdefghij"


def line(kind: str, time: str = "2026-11-30T08:00:00.000Z", ordinal: int | None = None, **payload: Any) -> Object:
    numbered = {} if ordinal is None else {"ordinal": ordinal}
    return {"timestamp": time, **numbered, "type": kind, "payload": payload}


def event(kind: str, **payload: Any) -> Object:
    return line("event_msg", type=kind, **payload)


def item(kind: str, ordinal: int | None = None, **fields: Any) -> Object:
    return line("response_item", ordinal=ordinal, type=kind, **fields)


def text(words: str = "hello", name: str | None = None, role: str = "assistant", **rest: Any) -> Object:
    named: Object = {} if name is None else {"id": name}
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": words}], **named, **rest)


META = line("session_meta", id="t", cli_version="0.171.0", model_provider="local", source="exec")
CONTEXT = line("turn_context", model="m", turn_id="1")
THOUGHT = item("reasoning", summary=[], content=[{"type": "reasoning_text", "text": "Look."}])
CALL = item("function_call", name="exec_command", arguments='{"cmd": "ls"', call_id="call_1")
OUTPUT = item("function_call_output", call_id="call_1", output="a.txt")
USED = line("token_usage_record", response_id="resp_1", usage={"input_tokens": 9, "output_tokens": 3})
COUNTED = event("token_count", info={"last_token_usage": {"input_tokens": 8, "output_tokens": 2}})


def read(*values: Any) -> list[Item]:
    return list(CODEX_ROLLOUT.read(decoded(*values)))


def answered(*values: Any) -> list[Generation]:
    return generations(read(*values))


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        pytest.param([THOUGHT, text(), CALL, USED], 1, id="reasoning, text and call of one response"),
        pytest.param([text(), USED, text(), USED], 2, id="tokens counted between"),
        pytest.param([text(), COUNTED, text(), COUNTED], 2, id="counted by an event, as before 2026"),
        pytest.param([CALL, OUTPUT, text()], 2, id="a tool answered between"),
        pytest.param([CALL, USED, OUTPUT, COUNTED, text()], 2, id="counted twice"),
        pytest.param([CALL, CALL, OUTPUT, OUTPUT, text()], 2, id="two calls of one response"),
        pytest.param([text(), text("x", role="user"), text()], 2, id="a user spoke between"),
        pytest.param([text(), event("task_complete"), text()], 2, id="the task ended between"),
        pytest.param([event("token_count", info=None), text()], 1, id="a count of nothing"),
        pytest.param(
            [
                event("item_completed", item={"type": "AgentMessage", "content": [{"type": "Text", "text": "hello"}]}),
                event("agent_message", message="hello"), text(), USED,
                event("task_complete", last_agent_message="hello"),
            ],
            1,
            id="copies in events",
        ),
        pytest.param([text(role="developer"), text(role="user")], 0, id="what nobody generated"),
    ],
)  # fmt: skip
def test_what_is_one_response(lines: list[Object], count: int) -> None:
    assert len(answered(META, CONTEXT, *lines)) == count


def test_a_response_has_what_its_items_session_and_count_tell() -> None:
    found = only(read(META, CONTEXT, THOUGHT, text(name="msg_1"), CALL, USED))
    assert (found.content, found.reasoning, found.text_fidelity) == ("hello", "Look.", "exact")
    assert [(call.id, call.name, call.arguments) for call in found.tool_calls or ()] == [
        ("call_1", "exec_command", '{"cmd": "ls"')
    ]
    assert (found.run_id, found.generation_id, found.model, found.provider) == ("t", "resp_1", "m", "local")
    assert (found.client, found.client_version) == ("codex", "0.171.0")
    assert (found.finish_fidelity, found.usage and found.usage.output_tokens) == ("absent", 3)
    assert found.model_fields_set.isdisjoint({"finish_reason", "tools", "call_mode", "role"})


@pytest.mark.parametrize(
    ("payload", "call"),
    [
        pytest.param(
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c"},
            {"name": "apply_patch", "id": "c", "type": "custom", "arguments": "*** Begin"},
            id="a custom tool takes a text",
        ),
        pytest.param(
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            {"name": "local_shell", "id": "c", "arguments": {"command": ["ls"]}},
            id="the shell of the API",
        ),
        pytest.param({"type": "web_search_call", "id": "ws"}, {"name": "web_search", "id": "ws"}, id="no arguments"),
        pytest.param(
            {"type": "function_call", "name": "f", "arguments": "", "namespace": "mcp__x"},
            {"name": "f", "namespace": "mcp__x", "arguments": ""},
            id="empty arguments, of a server",
        ),
    ],
)
def test_calls_of_all_kinds(payload: Object, call: Object) -> None:
    (found,) = list(only(read(META, line("response_item", **payload))).tool_calls or [])
    assert found.model_dump(exclude_unset=True) == call


@pytest.mark.parametrize(
    ("fields", "reasoning", "extra"),
    [
        pytest.param(
            {"summary": [{"type": "summary_text", "text": "**Short**"}], "encrypted_content": "gAAA"},
            "**Short**",
            {"reasoning_summary": True, "reasoning_encrypted": True},
            id="a summary of what is encrypted",
        ),
        pytest.param({"summary": [], "encrypted_content": "gAAA"}, None, {"reasoning_encrypted": True}, id="encrypted"),
        pytest.param({"summary": [], "content": None, "encrypted_content": None}, None, {}, id="none"),
        pytest.param(
            {"summary": [{"type": "summary_text", "text": "s"}], "content": [{"type": "reasoning_text", "text": "r"}]},
            "r",
            {},
            id="the thoughts themselves count more",
        ),
    ],
)
def test_reasoning_is_told_from_its_summary(fields: Object, reasoning: str | None, extra: Object) -> None:
    found = only(read(META, item("reasoning", **fields), text()))
    assert (found.reasoning, found.model_extra) == (reasoning, extra)


@pytest.mark.parametrize(
    ("lines", "usage"),
    [
        pytest.param([CALL, USED, OUTPUT, COUNTED, text()], 3, id="the record of the response"),
        pytest.param([CALL, COUNTED, OUTPUT], 2, id="the event after it"),
        pytest.param([CALL, OUTPUT, COUNTED], None, id="after a tool it may be that of the next"),
        pytest.param([CALL, line("token_usage_record", usage={"output_tokens": "x"})], None, id="no number"),
    ],
)
def test_tokens_are_those_of_the_response(lines: list[Object], usage: int | None) -> None:
    first = answered(META, *lines)[0]
    assert (first.usage and first.usage.output_tokens) == usage


def test_turns_begin_where_a_task_starts() -> None:
    start = event("task_started")
    lines = [
        META,
        start,
        CONTEXT,
        text(role="user"),
        CALL,
        USED,
        OUTPUT,
        text(role="user"),
        text(),
        USED,
        start,
        text(),
    ]
    assert [(each.turn, each.round) for each in answered(*lines)] == [(0, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        pytest.param([THOUGHT, event("turn_aborted", reason="interrupted")], "cancelled", id="while it thought"),
        pytest.param([CALL, event("turn_aborted", reason="interrupted")], None, id="while a tool ran"),
        pytest.param([text(), USED, event("turn_aborted", reason="interrupted")], None, id="after it ended"),
    ],
)
def test_an_aborted_response_is_cancelled(lines: list[Object], status: str | None) -> None:
    assert only(read(META, *lines)).status == status


def test_a_compaction_is_a_response_of_a_summariser_and_its_history_a_copy() -> None:
    history = [text("old")["payload"]]
    items = read(
        META, CONTEXT, text(), USED, line("compacted", message="Summary.", replacement_history=history), text()
    )
    assert [(each.role, each.content, each.text_fidelity) for each in generations(items)] == [
        (None, "hello", "exact"), ("summariser", "Summary.", "normalised"), (None, "hello", "exact"),
    ]  # fmt: skip
    (_, remote) = read(META, line("compacted", message="", replacement_history=history))
    assert reason(remote) == "bookkeeping: compacted"


SPAWN = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}


@pytest.mark.parametrize(
    ("source", "role", "parent"),
    [
        pytest.param("cli", None, None, id="a session"),
        pytest.param(SPAWN, "subagent", "parent", id="a sub-agent"),
        pytest.param({"subagent": "review"}, "subagent", None, id="a review"),
        pytest.param({"subagent": "compact"}, "summariser", None, id="a compaction"),
    ],
)
def test_sub_agents_name_their_parent(source: Any, role: str | None, parent: str | None) -> None:
    found = only(read(line("session_meta", id="child", source=source), text()))
    assert (found.run_id, found.role, (found.model_extra or {}).get("parent_run_id")) == ("child", role, parent)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param({"subagent_history_start_ordinal": 3}, id="a sub-agent's"),
        pytest.param({"history_base": {"end_ordinal_exclusive": 3}}, id="a fork's"),
    ],
)
def test_the_history_of_another_session_is_skipped(start: Object) -> None:
    parent = line("session_meta", ordinal=1, id="parent")
    old = item("message", ordinal=2, role="assistant", content=[{"type": "output_text", "text": "old"}])
    new = item("message", ordinal=3, role="assistant", content=[{"type": "output_text", "text": "new"}])
    items = read(line("session_meta", ordinal=0, id="child", source=SPAWN, **start), parent, old, new)
    found = only(items)
    assert (found.run_id, found.content) == ("child", "new")
    assert reason(items[2]) == "a copy of the history of the session that this one came from"


def test_a_copy_in_a_forked_session_is_a_duplicate(store: Store) -> None:
    first = text(name=LONG)
    load(store, META, CONTEXT, first, USED, format_name="codex-rollout")
    fork = line("session_meta", id="fork", forked_from_id="t")
    copied = {**first, "timestamp": "2026-11-30T09:00:00.000Z"}
    again = load(store, fork, META, CONTEXT, copied, USED, text(name=LONG + "2"), format_name="codex-rollout")
    assert (again.new_generations, again.duplicate) == (1, 1)
    assert rows(store, "SELECT run_id FROM generations ORDER BY run_id") == [("fork",), ("t",)]


def test_short_ids_of_local_servers_make_no_duplicates(store: Store) -> None:
    load(store, META, text(name="msg_1"), format_name="codex-rollout")
    other = line("session_meta", id="t2")
    assert load(store, other, text(name="msg_1"), format_name="codex-rollout").new_generations == 1


def test_bare_items_of_2025_are_read() -> None:
    header = {"id": "old", "timestamp": "2025-04-20T08:00:00.000Z", "instructions": "be brief"}
    spoken = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "?"}]}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}
    values = [header, {"record_type": "state"}, spoken, said]
    assert CODEX_ROLLOUT.sniff(values) == 1
    assert CODEX_ROLLOUT.sniff(values[2:]) == 0
    found = only(read(*values))
    assert (found.run_id, found.content, found.turn) == ("old", "hello", 0)
    assert "started_at" not in found.model_fields_set


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(event("stream_error", message="x"), "bookkeeping: event_msg", id="an error of the connection"),
        pytest.param(event("agent_message", message="x"), "a copy of a response already read", id="a copy"),
        pytest.param(line("world_state", full=True), "bookkeeping: world_state", id="a state"),
        pytest.param(item("hologram"), "bookkeeping: another item", id="an item of tomorrow"),
        pytest.param(line("hologram"), "not a line of a Codex rollout", id="a line of tomorrow"),
        pytest.param({"type": "session_meta"}, "not a line of a Codex rollout", id="a bare type"),
        pytest.param("x", "not a line of a Codex rollout", id="no object"),
    ],
)
def test_what_is_no_output_of_a_model(value: Any, why: str) -> None:
    (found,) = read(value)
    assert reason(found) == why


def test_a_broken_call_is_quarantined() -> None:
    (found,) = read(item("function_call", name=7, call_id="c"))
    assert reason(found) == "tool_calls.0.name: Input should be a valid string"


rollout_like = st.fixed_dictionaries(
    {"timestamp": st.just("2026-11-30T08:00:00Z") | json_values,
     "type": st.sampled_from(["session_meta", "response_item", "event_msg", "turn_context", "token_usage_record",
                              "compacted"]),
     "payload": json_values | st.fixed_dictionaries({}, optional={
         "type": st.sampled_from(["message", "reasoning", "function_call", "function_call_output", "web_search_call",
                                  "token_count", "task_started", "turn_aborted", "custom_tool_call"]) | json_values,
         "role": st.sampled_from(["assistant", "user"]) | json_values, "id": st.text() | json_values,
         "content": json_values | st.lists(
             st.fixed_dictionaries({"type": st.just("output_text"), "text": json_values})),
         "summary": json_values, "name": st.text() | json_values, "arguments": json_values, "call_id": json_values,
         "info": json_values, "usage": json_values, "source": json_values, "message": json_values, "model": json_values,
         "response_id": json_values, "history_base": json_values, "subagent_history_start_ordinal": json_values,
     })},
    optional={"ordinal": json_values},
)  # fmt: skip


@given(values=st.lists(rollout_like, max_size=6))
@settings(deadline=None, max_examples=300)
def test_every_line_is_answered_once(values: list[Object]) -> None:
    lines = decoded(*values)
    items = list(CODEX_ROLLOUT.read(lines))
    assert sorted(each.line for each in items) == [each.number for each in lines]
    assert all(len(each.records) == 1 for each in items if isinstance(each, Mapped))
