"""Sessions of Claude Code: what is one response, what a copy, and what no model wrote."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Item, Mapped, Skipped
from ingest.formats.claude_code import CLAUDE_CODE
from ingest.records import Generation
from ingest.store import Store
from tests.ingest.loading import load, rows
from tests.ingest.samples import decoded, generations, json_values, only, reason

Object = dict[str, Any]
TEXT: Object = {"type": "text", "text": "hello"}
CALL: Object = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
THOUGHT: Object = {"type": "thinking", "thinking": "Look.", "signature": "sig"}
LONG = "req_0123456789abcdefghij"


def line(kind: str, uuid: str, message: Any = None, **rest: Any) -> Object:
    envelope = {"type": kind, "sessionId": "s", "uuid": uuid, "parentUuid": None, "isSidechain": False}
    times = {"timestamp": "2026-11-30T08:00:00.000Z", "version": "2.1.0"}
    return {**envelope, **times, **({} if message is None else {"message": message}), **rest}


def said(uuid: str, *blocks: Object, message_id: str | None = "msg_1", stop: str | None = None, **rest: Any) -> Object:
    named = {} if message_id is None else {"id": message_id}
    body = {"type": "message", "role": "assistant", "model": "m", "content": list(blocks), "stop_reason": stop}
    return line("assistant", uuid, {**named, **body}, **rest)


def user(uuid: str, content: Any = "do it", **rest: Any) -> Object:
    return line("user", uuid, {"role": "user", "content": content}, **rest)


def result(uuid: str, call: str = "toolu_1", content: Any = "a.txt", **rest: Any) -> Object:
    return user(uuid, [{"type": "tool_result", "tool_use_id": call, "content": content, **rest}])


def read(*values: Any) -> list[Item]:
    return list(CLAUDE_CODE.read(decoded(*values)))


def answered(*values: Any) -> list[Generation]:
    return generations(read(*values))


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        pytest.param([said("a", THOUGHT), said("b", TEXT), said("c", CALL)], 1, id="block by block"),
        pytest.param([said("a", TEXT), said("b", TEXT, message_id="msg_2")], 2, id="two messages"),
        pytest.param(
            [said("a", CALL, requestId=LONG), result("u"), said("b", CALL, requestId=LONG)],
            1,
            id="a tool that started early answers between the blocks of a named request",
        ),
        pytest.param(
            [said("a", CALL), result("u"), said("b", CALL, parentUuid="a")],
            1,
            id="a block that follows another one of the same response",
        ),
        pytest.param(
            [said("a", CALL, message_id=LONG), result("u"), said("b", CALL, message_id=LONG)],
            1,
            id="an id that nobody gives out twice",
        ),
        pytest.param([said("a", CALL), result("u"), said("b", TEXT, parentUuid="u")], 2, id="one id for all"),
        pytest.param(
            [said("a", TEXT, requestRef="r1" * 12), said("b", TEXT, requestRef="r2" * 12)], 2, id="one id, two requests"
        ),
        pytest.param(
            [said("a", CALL, requestId="req"), result("u"), said("b", TEXT, requestId="req", parentUuid="u")],
            2,
            id="a proxy with one id for all requests too",
        ),
        pytest.param([said("a", TEXT), user("u"), said("b", TEXT)], 2, id="the same id after a user"),
        pytest.param([said("a", TEXT, message_id=None), said("b", TEXT, message_id=None)], 2, id="no ids"),
    ],
)  # fmt: skip
def test_what_is_one_response(lines: list[Object], count: int) -> None:
    assert len(answered(*lines)) == count


def test_the_blocks_of_a_response_make_one_generation_whatever_lines_tell_them() -> None:
    usage = {"input_tokens": 9, "output_tokens": 3, "cache_read_input_tokens": 4, "server_tool_use": {}}
    last = said("c", CALL, stop="tool_use")
    last["message"]["usage"] = usage
    items = read(user("u"), said("a", THOUGHT), said("b", TEXT), last)
    found = only(items)
    assert (found.content, found.reasoning, found.text_fidelity) == ("hello", "Look.", "exact")
    assert [(call.id, call.name, call.arguments) for call in found.tool_calls or ()] == [
        ("toolu_1", "Bash", {"command": "ls"})
    ]
    assert (found.finish_reason, found.finish_fidelity) == ("tool_use", "wire")
    assert found.usage is not None
    assert found.usage.model_dump(exclude_unset=True) == {
        "input_tokens": 9, "output_tokens": 3, "cache_read_input_tokens": 4,
    }  # fmt: skip
    assert (found.client, found.client_version, found.model) == ("claude-code", "2.1.0", "m")
    assert [(item.line, type(item)) for item in sorted(items, key=lambda item: item.line)] == [
        (1, Skipped), (2, Skipped), (3, Skipped), (4, Mapped),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("blocks", "fields"),
    [
        pytest.param([TEXT, CALL], {"content": "hello", "text_fidelity": "exact"}, id="one text"),
        pytest.param([TEXT, CALL, TEXT], {"content": "hellohello", "text_fidelity": "rebuilt"}, id="texts joined"),
        pytest.param([CALL], {"content": None}, id="no text"),
        pytest.param([], {"content": None}, id="nothing at all"),
        pytest.param([{"type": "text", "text": ""}], {"content": ""}, id="an empty text is not none"),
        pytest.param([{**THOUGHT, "thinking": ""}, TEXT], {"reasoning": ""}, id="thinking that is kept from us"),
        pytest.param(
            [{"type": "redacted_thinking", "data": "x" * 9}],
            {"content_parts": [{"type": "redacted_thinking"}]},
            id="encrypted thinking leaves its mark and no more",
        ),
    ],
)
def test_text_stays_as_it_is(blocks: list[Object], fields: Object) -> None:
    found = answered(said("a", *blocks))[0]
    assert {key: getattr(found, key) for key in fields} == fields


def test_no_thinking_is_not_empty_thinking() -> None:
    assert "reasoning" not in answered(said("a", TEXT))[0].model_fields_set


def test_arguments_are_never_invented() -> None:
    (call,) = list(answered(said("a", {"type": "tool_use", "id": "t", "name": "ls"}))[0].tool_calls or [])
    assert "arguments" not in call.model_fields_set


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(
            {**said("a", TEXT), "message": {"model": "<synthetic>", "content": [TEXT]}},
            "a notice of the tool, no output of a model",
            id="a synthetic message",
        ),
        pytest.param(
            said("a", TEXT, isApiErrorMessage=True), "a notice of the tool, no output of a model", id="an API error"
        ),
        pytest.param(line("system", "a", subtype="api_error"), "bookkeeping: system", id="a retry of a request"),
        pytest.param(line("progress", "a", data={"message": said("b", TEXT)}), "bookkeeping: progress", id="a copy"),
        pytest.param({"type": "summary", "summary": "x", "leafUuid": "a"}, "bookkeeping: summary", id="a title"),
        pytest.param({"type": "new\nkind", "sessionId": "s"}, "bookkeeping: another type", id="a type of tomorrow"),
        pytest.param(user("a", TEXT["text"]), "bookkeeping: user", id="a user"),
        pytest.param(
            line("assistant", "a", message="error"), "an assistant line without a message", id="a broken assistant"
        ),
        pytest.param({"silly": "this"}, "not a line of a Claude Code session", id="another object"),
        pytest.param({"type": "assistant"}, "not a line of a Claude Code session", id="a bare type"),
        pytest.param(42, "not a line of a Claude Code session", id="a number"),
    ],
)
def test_what_is_no_output_of_a_model(value: Any, why: str) -> None:
    (item,) = read(value)
    assert reason(item) == why


def test_broken_calls_are_quarantined_with_the_line_that_completes_them() -> None:
    items = read(said("a", TEXT), said("b", {**CALL, "id": 7}))
    assert [(item.line, reason(item)) for item in items] == [
        (1, "part of a response told on several lines"),
        (2, "tool_calls.0.id: Input should be a valid string"),
    ]


def test_turns_are_of_users_and_rounds_of_responses() -> None:
    found = answered(
        user("u1"), said("a", CALL), result("u2"), said("b", TEXT, message_id="msg_2"), user("u3", isMeta=True),
        said("c", TEXT, message_id="msg_3"), user("u4"), user("u5"), said("d", TEXT, message_id="msg_4"),
    )  # fmt: skip
    assert [(each.turn, each.round, each.attempt) for each in found] == [
        (0, 0, None), (0, 1, None), (0, 2, None), (1, 3, None),
    ]  # fmt: skip


def test_a_malformed_call_is_reprimanded_and_tried_again_in_its_round() -> None:
    text = "Your tool call was malformed and could not be parsed. Please retry."
    found = answered(
        user("u1"), said("a", TEXT), user("u2", text, isMeta=True), said("b", CALL, message_id="msg_2"),
        result("u3"), said("c", TEXT, message_id="msg_3"),
    )  # fmt: skip
    assert [(each.round, each.attempt) for each in found] == [(0, None), (0, 1), (1, None)]
    assert found[0].model_extra == {"reprimand": text}
    assert found[1].model_extra == {}


@pytest.mark.parametrize(
    ("answer", "reprimand"),
    [
        pytest.param(
            result("u", content="<tool_use_error>No such tool" + "x" * 999 + "</tool_use_error>", is_error=True),
            ("<tool_use_error>No such tool" + "x" * 999)[:500],
            id="a call that the tool cannot make",
        ),
        pytest.param(result("u", content="exit 1", is_error=True), None, id="a call that failed"),
        pytest.param(result("u", content="<tool_use_error> in a file"), None, id="a result that quotes one"),
    ],
)
def test_a_reprimand_stands_at_the_response_that_it_answers(answer: Object, reprimand: str | None) -> None:
    found = only(read(said("a", CALL), answer))
    assert (found.model_extra or {}).get("reprimand") == reprimand


@pytest.mark.parametrize(
    ("stop", "text", "status"),
    [
        pytest.param(None, "[Request interrupted by user]", "cancelled", id="before it ended"),
        pytest.param("end_turn", "[Request interrupted by user]", None, id="after it ended"),
        pytest.param(None, "[Request interrupted by user for tool use]", None, id="during a tool"),
    ],
)
def test_an_interrupted_response_is_cancelled(stop: str | None, text: str, status: str | None) -> None:
    assert only(read(said("a", TEXT, stop=stop), user("u", [{"type": "text", "text": text}]))).status == status


@pytest.mark.parametrize(
    ("fields", "run", "role", "parent"),
    [
        pytest.param({}, "s", None, None, id="the main agent"),
        pytest.param({"agentId": "x"}, "s", None, None, id="an agent's name alone makes no sub-agent"),
        pytest.param({"isSidechain": True, "agentId": "x"}, "s/x", "subagent", "s", id="a sub-agent with its name"),
        pytest.param({"isSidechain": True}, "s/a", "subagent", "s", id="by its first line in older versions"),
        pytest.param({"isSidechain": True, "agentId": "acompact-1"}, "s/acompact-1", "summariser", "s", id="a summary"),
        pytest.param(
            {"isSidechain": True, "agentId": "aprompt_suggestion-1"}, "s/aprompt_suggestion-1", "other", "s", id="other"
        ),
    ],
)
def test_sub_agents_are_runs_of_their_own(fields: Object, run: str, role: str | None, parent: str | None) -> None:
    found = only(read(said("a", TEXT, **fields)))
    assert (found.run_id, found.role, (found.model_extra or {}).get("parent_run_id")) == (run, role, parent)


def test_side_conversations_inside_a_session_are_told_apart_by_their_roots() -> None:
    side: Object = {"isSidechain": True}
    found = answered(
        user("r1", **side), user("r2", **side), said("a", CALL, **side, parentUuid="r1"),
        said("b", CALL, **side, parentUuid="r2", message_id="msg_2"), result("m"), said("c", TEXT, message_id="msg_3"),
        line("attachment", "e", **side, parentUuid="a"), said("d", TEXT, **side, parentUuid="e"),
    )  # fmt: skip
    assert {each.run_id: each.content for each in found} == {"s/r1": "hello", "s/r2": None, "s": "hello"}


def test_the_summary_of_a_compaction_is_a_response_of_a_summariser() -> None:
    found = answered(
        said("a", TEXT), line("system", "b", subtype="compact_boundary"),
        user("c", "Summary: <tool_call>", isCompactSummary=True), said("d", TEXT, message_id="msg_2"),
    )  # fmt: skip
    assert [(each.role, each.round, each.text_fidelity) for each in found] == [
        (None, 0, "exact"), ("summariser", None, "normalised"), (None, 1, "exact"),
    ]  # fmt: skip


SHAPE: Object = {
    "type": "api-request-shape", "sessionId": "s", "shapeHash": "h", "version": "2.1.332",
    "shape": {"system": [], "tools": [{"name": "Bash", "description": "d", "input_schema": {"type": "object"}}, "…"]},
}  # fmt: skip


def request(ref: str, shape: str, source: str = "sdk") -> Object:
    return {"type": "api-request", "sessionId": "s", "id": ref, "shapeHash": shape, "querySource": source}


@pytest.mark.parametrize(
    ("shape", "names", "mode"),
    [
        pytest.param(SHAPE, ["Bash"], "native", id="told"),
        pytest.param({**SHAPE, "shape": {"tools": []}}, [], "none", id="none were offered"),
        pytest.param({**SHAPE, "shapeHash": "other"}, None, None, id="of another request"),
        pytest.param({**SHAPE, "shape": {"tools": [{"name": 7}]}}, None, None, id="not understood"),
    ],
)
def test_tools_are_those_of_the_request(shape: Object, names: list[str] | None, mode: str | None) -> None:
    found = only(read(shape, request("r1", "h"), said("a", TEXT, requestRef="r1")))
    assert ([tool.name for tool in found.tools or ()] if "tools" in found.model_fields_set else None) == names
    assert found.call_mode == mode
    if names:
        assert found.tools is not None
        assert found.tools[0].parameters == {"type": "object"}


def test_a_snapshot_of_the_prompt_tells_the_tools_where_no_request_is_logged() -> None:
    tool = {"name": "Bash", "description": "d", "schema": {"input_schema": {"type": "object"}}}
    snapshot = line("attachment", "s1", attachment={"type": "prompt_snapshot", "tools": [tool]})
    before, after = answered(said("a", TEXT), snapshot, said("b", TEXT, message_id="msg_2"))
    assert "tools" not in before.model_fields_set
    assert [(each.name, each.parameters) for each in after.tools or ()] == [("Bash", {"type": "object"})]


def test_a_request_tells_what_it_was_for_and_what_was_asked_for() -> None:
    found = only(read(request("r1", "h", "compact"), said("a", TEXT, requestRef="r1", requestedModel="alias")))
    assert (found.role, found.model_extra) == ("summariser", {"requested_model": "alias"})


UUID = "aaaaaaaa-0000-0000-0000-00000000000"


@pytest.mark.parametrize(
    ("copy", "new"),
    [
        pytest.param({"sessionId": "s2"}, 0, id="a resumed session copies its history under its own id"),
        pytest.param({"sessionId": "s2", "requestId": "req_of_another_0000000"}, 1, id="another request"),
        pytest.param({"sessionId": "s2", "uuid": UUID + "9", "requestId": None}, 1, id="nothing says it is the same"),
    ],
)
def test_a_copy_in_another_file_is_a_duplicate(store: Store, copy: Object, new: int) -> None:
    first = said(UUID + "1", TEXT, stop="end_turn", requestId=LONG)
    load(store, user("u1"), first, format_name="claude-code")
    news = said("b", TEXT, message_id="msg_2", sessionId="s2")
    again = load(store, user("u1"), {**first, **copy}, user("u2"), news, format_name="claude-code")
    assert again.new_generations == 1 + new
    assert rows(store, "SELECT count(*) FROM generations") == [(2 + new,)]


def test_what_a_model_says_twice_counts_twice_and_what_the_tool_writes_twice_once(store: Store) -> None:
    twice = said(UUID + "1", TEXT, requestId=LONG)
    assert [reason(item) for item in read(twice, twice)[:1]] == ["a copy of a response already read"]
    again = said(UUID + "2", TEXT, requestId=LONG + "2", message_id="msg_2")
    loaded = load(store, twice, again, user("u"), twice, format_name="claude-code")
    assert (loaded.new_generations, loaded.duplicate) == (2, 1)


def test_many_runs_at_once_are_read_in_bounded_memory() -> None:
    lines = [said(f"a{n}", TEXT, sessionId=f"s{n}") for n in range(1000)]
    first = next(index for index, item in enumerate(CLAUDE_CODE.read(decoded(*lines))) if isinstance(item, Mapped))
    assert first == 0
    assert len(answered(*lines)) == 1000


@pytest.mark.parametrize(
    ("value", "known"),
    [
        pytest.param(said("a", TEXT), True, id="an assistant"),
        pytest.param({"type": "queue-operation", "sessionId": "s", "operation": "enqueue"}, True, id="bookkeeping"),
        pytest.param({"type": "summary", "summary": "x", "leafUuid": "u"}, True, id="a title"),
        pytest.param({"type": "summary", "summary": "x"}, False, id="a type alone"),
        pytest.param(line("assistant", "a", {"role": "model", "parts": []}), False, id="Qwen Code"),
        pytest.param({"type": "assistant", "session_id": "s", "uuid": "u", "message": {}}, False, id="stream-json"),
        pytest.param({"type": ["user"], "sessionId": "s"}, False, id="a type that is no text"),
    ],
)
def test_only_sessions_are_recognised(value: Any, known: bool) -> None:
    assert CLAUDE_CODE.sniff([value]) == known


session_like = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant", "user", "attachment", "api-request", "api-request-shape", "system"]),
     "sessionId": st.sampled_from(["s", "t"]) | json_values},
    optional={
        "uuid": st.sampled_from(["a", "b"]) | json_values, "parentUuid": st.sampled_from(["a", "b"]) | json_values,
        "isSidechain": st.booleans() | json_values, "agentId": json_values, "requestRef": st.just("r") | json_values,
        "timestamp": json_values, "version": json_values, "isCompactSummary": st.booleans(), "id": st.just("r"),
        "shapeHash": st.just("h"), "shape": json_values | st.fixed_dictionaries({"tools": json_values}),
        "attachment": st.fixed_dictionaries({"type": st.just("prompt_snapshot"), "tools": json_values}),
        "message": json_values | st.fixed_dictionaries({}, optional={
            "id": st.sampled_from(["m", "n"]) | json_values, "model": json_values, "stop_reason": json_values,
            "usage": json_values | st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), json_values),
            "content": json_values | st.lists(json_values | st.fixed_dictionaries(
                {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result"])},
                optional={"text": st.text() | json_values, "name": st.text() | json_values, "input": json_values,
                          "tool_use_id": json_values, "content": json_values, "is_error": st.booleans(),
                          "id": st.text()},
            )),
        }),
    },
)  # fmt: skip


@given(values=st.lists(session_like, max_size=6))
@settings(deadline=None, max_examples=300)
def test_every_line_is_answered_once(values: list[Object]) -> None:
    lines = decoded(*values)
    assert sorted(item.line for item in CLAUDE_CODE.read(lines)) == [line.number for line in lines]
    assert 0 <= CLAUDE_CODE.sniff(values) <= 1
