"""What Claude Code prints: one response over several lines, without its stop reason."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Item
from ingest.formats.claude_stream import CLAUDE_STREAM
from tests.ingest.samples import decoded, generations, json_values, only, reason

Object = dict[str, Any]
TEXT: Object = {"type": "text", "text": "hello"}
CALL: Object = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
INIT: Object = {
    "type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "mcp__x__do-it", "…"], "model": "m",
    "claude_code_version": "2.1.332", "uuid": "u0",
}  # fmt: skip


def said(uuid: str, *blocks: Object, message_id: str = "msg_1", parent: str | None = None, **rest: Any) -> Object:
    message = {"id": message_id, "role": "assistant", "model": "m", "content": list(blocks), "stop_reason": None}
    head = {"type": "assistant", "session_id": "s", "parent_tool_use_id": parent, "uuid": uuid}
    return {**head, "message": {**message, **rest}}


def user(content: Any, parent: str | None = None) -> Object:
    return {"type": "user", "session_id": "s", "parent_tool_use_id": parent, "message": {"content": content}}


def result(content: str = "a.txt", **rest: Any) -> Object:
    return user([{"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **rest}])


def event(**fields: Any) -> Object:
    return {"type": "stream_event", "session_id": "s", "parent_tool_use_id": None, "uuid": "e", "event": fields}


DELTA = event(type="message_delta", delta={"stop_reason": "tool_use"})
END: Object = {"type": "result", "subtype": "success", "session_id": "s", "stop_reason": "end_turn", "result": "hello"}


def read(*values: Any) -> list[Item]:
    return list(CLAUDE_STREAM.read(decoded(*values)))


@pytest.mark.parametrize(
    ("lines", "finishes"),
    [
        pytest.param([said("a", TEXT), said("b", CALL)], [(None, "absent")], id="nothing tells it"),
        pytest.param([said("a", TEXT), END], [("end_turn", "inferred")], id="the result tells that of the last"),
        pytest.param(
            [said("a", CALL), result(), said("b", TEXT), END],
            [(None, "absent"), ("end_turn", "inferred")],
            id="and of the last only",
        ),
        pytest.param([said("a", CALL), DELTA, result()], [("tool_use", "wire")], id="partial messages tell each"),
        pytest.param([said("a", CALL), DELTA, END], [("tool_use", "wire")], id="the wire counts more"),
        pytest.param([said("a", TEXT, stop_reason="max_tokens"), END], [("max_tokens", "wire")], id="told for once"),
        pytest.param(
            [said("a", TEXT), event(type="message_start", message={}), said("b", TEXT)],
            [(None, "absent")] * 2,
            id="a message that starts ends the one before",
        ),
        pytest.param([END], [], id="a result is a copy"),
    ],
)
def test_how_a_response_ended(lines: list[Object], finishes: list[tuple[str | None, str]]) -> None:
    assert [(each.finish_reason, each.finish_fidelity) for each in generations(read(*lines))] == finishes


def test_the_first_line_tells_client_and_tools_of_the_main_agent() -> None:
    main, side = generations(read(INIT, said("a", CALL), said("b", TEXT, parent="toolu_1", message_id="msg_2")))
    assert (main.client, main.client_version, main.call_mode) == ("claude-code", "2.1.332", "native")
    assert [tool.name for tool in main.tools or ()] == ["Bash", "mcp__x__do-it"]
    assert (main.run_id, main.role) == ("s", None)
    assert (side.run_id, side.role, side.model_extra) == ("s/toolu_1", "subagent", {"parent_run_id": "s"})
    assert "tools" not in side.model_fields_set


def test_qwen_code_prints_the_same_lines() -> None:
    init = {key: value for key, value in INIT.items() if key != "claude_code_version"}
    found = only(read({**init, "qwen_code_version": "0.15.10"}, said("a", TEXT)))
    assert (found.client, found.client_version) == ("qwen-code", "0.15.10")


def test_turns_begin_with_a_prompt_and_after_a_result() -> None:
    lines = [
        INIT,
        said("a", CALL),
        result(),
        said("b", TEXT),
        END,
        INIT,
        said("c", TEXT),
        user("more"),
        said("d", TEXT),
    ]
    assert [(each.turn, each.round) for each in generations(read(*lines))] == [(0, 0), (0, 1), (1, 2), (2, 3)]


def test_a_reprimand_stands_at_the_response_that_it_answers() -> None:
    text = "<tool_use_error>No such tool available</tool_use_error>"
    found = only(read(said("a", CALL), result(text, is_error=True)))
    assert found.model_extra == {"reprimand": text}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(
            said("a", TEXT, model="<synthetic>"), "a notice of the tool, no output of a model", id="a synthetic message"
        ),
        pytest.param({**INIT, "subtype": "thinking_tokens"}, "bookkeeping: system", id="a count"),
        pytest.param({"type": "x", "session_id": "s"}, "bookkeeping: another type", id="a type of tomorrow"),
        pytest.param({**said("a"), "message": 1}, "an assistant line without a message", id="a broken assistant"),
        pytest.param({"type": "assistant"}, "not a line of stream-json", id="a bare type"),
        pytest.param([], "not a line of stream-json", id="no object"),
    ],
)
def test_what_is_no_output_of_a_model(value: Any, why: str) -> None:
    (item,) = read(value)
    assert reason(item) == why


@pytest.mark.parametrize(
    ("value", "known"),
    [
        pytest.param(INIT, True, id="the first line"),
        pytest.param({"type": "init", "session_id": "s", "model": "m"}, False, id="Gemini CLI's"),
        pytest.param({"type": "assistant", "session_id": "s", "message": {}}, False, id="Cursor's"),
        pytest.param({"type": "user", "sessionId": "s", "session_id": "s", "uuid": "u"}, False, id="a session file's"),
        pytest.param({"type": {}, "session_id": "s", "uuid": "u"}, False, id="a type that is no text"),
    ],
)
def test_only_printed_lines_are_recognised(value: Any, known: bool) -> None:
    assert CLAUDE_STREAM.sniff([value]) == known


printed_like = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant", "user", "system", "result", "stream_event"]), "session_id": st.just("s")},
    optional={
        "subtype": st.just("init"), "tools": json_values, "parent_tool_use_id": json_values, "uuid": json_values,
        "stop_reason": json_values, "event": json_values, "timestamp": json_values, "claude_code_version": json_values,
        "message": json_values | st.fixed_dictionaries({}, optional={
            "id": st.just("m"), "content": json_values | st.lists(json_values), "model": json_values}),
    },
)  # fmt: skip


@given(values=st.lists(printed_like, max_size=6))
@settings(deadline=None, max_examples=200)
def test_every_line_is_answered_once(values: list[Object]) -> None:
    lines = decoded(*values)
    assert sorted(item.line for item in CLAUDE_STREAM.read(lines)) == [line.number for line in lines]
