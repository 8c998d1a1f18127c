"""Gemini CLI: sessions that are rewritten, streams of deltas, telemetry whose tools stand in spans."""

import json
from typing import Any

import pytest

from ingest.detection import choose
from ingest.errors import UnknownFormat
from ingest.formats import Item, Line, Mapped, Quarantined, Skipped
from ingest.formats.gemini_cli import GEMINI_CLI
from ingest.formats.gemini_stream import GEMINI_STREAM
from ingest.formats.gemini_telemetry import GEMINI_TELEMETRY, SILENT
from ingest.shapes.told import COPY, PART
from tests.ingest.recorded.openai import LEAK
from tests.ingest.samples import decoded, generations, only, reason, shared_log

TIME = "2026-11-30T08:00:00Z"
HEADER = {"sessionId": "s", "projectHash": "p", "startTime": TIME, "lastUpdated": TIME, "kind": "main"}
CALL = {"id": "c", "name": "ls", "args": {"path": "."}, "status": "success"}


def message(key: str, content: Any = "hi", kind: str = "gemini", **rest: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": TIME, "type": kind, "content": content, **rest}


def session(*lines: Any) -> list[Item]:
    return list(GEMINI_CLI.read(decoded(HEADER, *lines)))


def told(items: list[Item]) -> dict[int, str]:
    """Why each line gave nothing."""
    return {item.line: item.why for item in items if isinstance(item, Skipped | Quarantined)}


def test_the_last_of_the_messages_with_one_id_counts_and_keeps_its_place() -> None:
    items = session(
        message("u", "go", "user"),
        message("a", ""),
        message("a", "", toolCalls=[CALL]),
        message("b", "done"),
    )
    first, second = generations(items)
    assert first.tool_calls is not None
    assert (first.tool_calls[0].name, first.tool_calls[0].arguments) == ("ls", {"path": "."})
    assert [(each.turn, each.round) for each in (first, second)] == [(0, 0), (0, 1)]
    assert told(items)[3] == COPY


def test_a_message_rewritten_after_the_next_one_began_is_still_one() -> None:
    items = session(message("a", ""), message("b", "x"), message("a", "", toolCalls=[CALL]))
    assert sorted(each.generation_id or "" for each in generations(items)) == ["a", "b"]
    assert sum(bool(each.tool_calls) for each in generations(items)) == 1


def test_a_copy_far_behind_is_no_new_response() -> None:
    lines = [message(str(number)) for number in range(40)]
    items = session(*lines, message("0"))
    assert len(generations(items)) == 40
    assert told(items)[42] == COPY


@pytest.mark.parametrize(
    ("line", "count"),
    [
        pytest.param({"$set": {"messages": [message("a", "one", model="m")]}}, 1, id="the history told again"),
        pytest.param({"$set": {"messages": [message("x", "a summary")]}}, 1, id="a summary, which names no model"),
        pytest.param({"$set": {"messages": [message("x", "new", model="m")]}}, 2, id="a response told nowhere else"),
        pytest.param({"$set": {"messages": [message("u", "go", "user")]}}, 1, id="the user's messages"),
        pytest.param({"$rewindTo": "a"}, 1, id="history taken back was generated all the same"),
        pytest.param(message("i", "note", "info"), 1, id="a notice"),
        pytest.param(message("e", "quota", "error"), 1, id="an error of the tool is no output of the model"),
    ],
)
def test_what_is_a_response(line: dict[str, Any], count: int) -> None:
    items = session(message("a", "one", model="m"), line)
    assert len(generations(items)) == count
    assert {item.line for item in items} == {1, 2, 3}


def test_the_same_text_said_twice_counts_twice() -> None:
    assert len(generations(session(message("a", "same"), message("b", "same")))) == 2


def test_a_tool_result_is_no_turn() -> None:
    result = message("r", [{"functionResponse": {"id": "c"}}], "user")
    items = session(
        message("u", "go", "user"), message("a"), result, message("b"), message("v", "on", "user"), message("c")
    )
    assert [each.turn for each in generations(items)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("rest", "reasoning"),
    [
        pytest.param({}, None, id="absent"),
        pytest.param({"thoughts": []}, None, id="none"),
        pytest.param({"thoughts": [{"subject": "", "description": "hm"}]}, "hm", id="a description"),
        pytest.param({"thoughts": [{"subject": "S", "description": "d"}]}, "**S**\nd", id="a subject before it"),
    ],
)
def test_thoughts(rest: dict[str, Any], reasoning: str | None) -> None:
    found = only(session(message("a", "x", **rest)))
    assert found.reasoning == reasoning
    assert ("reasoning" in found.model_fields_set) == ("thoughts" in rest)
    assert (found.text_fidelity, found.content) == ("normalised", "x")


def test_a_whole_session_in_one_document_before_version_0_40() -> None:
    document = HEADER | {"messages": [message("u", "go", "user"), message("a", LEAK, model="m"), message("b")]}
    items = list(GEMINI_CLI.read(decoded(document)))
    assert [item.line for item in items] == [1, 1, 1]
    assert generations(items)[0].content == LEAK
    assert choose([document], "session.json") is GEMINI_CLI


def test_two_sessions_in_one_file_and_a_subagents() -> None:
    sub = HEADER | {"sessionId": "t", "kind": "subagent"}
    items = list(GEMINI_CLI.read(decoded(HEADER, message("a"), sub, message("a"))))
    assert [(each.run_id, each.role) for each in generations(items)] == [("s", "agent"), ("t", "subagent")]


def event(kind: str, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": TIME, **rest}


INIT = event("init", session_id="s", model="m")
USE = event("tool_use", tool_name="ls", tool_id="c", parameters={"path": "."})
RESULT = event("tool_result", tool_id="c", status="success", output="b")
END = event("result", status="success", stats={})


def delta(text: str) -> dict[str, Any]:
    return event("message", role="assistant", content=text, delta=True)


def stream(*lines: Any) -> list[Item]:
    return list(GEMINI_STREAM.read(decoded(INIT, *lines)))


def test_markup_split_over_deltas_is_put_together() -> None:
    items = stream(delta("a <tool_"), delta("call>"), END)
    found = only(items)
    assert (found.content, found.text_fidelity, found.status) == ("a <tool_call>", "rebuilt", "ok")
    assert told(items)[2] == PART
    assert [item.line for item in items if isinstance(item, Mapped)] == [3]


def test_a_response_ends_with_the_first_tool_result() -> None:
    items = stream(delta("look"), USE, USE | {"tool_id": "d"}, RESULT, RESULT | {"tool_id": "d"}, delta("done"), END)
    first, second = generations(items)
    assert (first.content, second.content) == ("look", "done")
    assert [call.id for call in first.tool_calls or ()] == ["c", "d"]
    assert (first.round, second.round) == (0, 1)


@pytest.mark.parametrize(
    ("last", "status"),
    [
        pytest.param([], "cut", id="the stream stops"),
        pytest.param([END], "ok", id="the run ends"),
        pytest.param([event("result", status="error", error={"type": "x"})], "error", id="the run fails"),
        pytest.param([event("error", severity="error", message="x")], "error", id="an error"),
        pytest.param([event("error", severity="warning", message="x")], "ok", id="a warning"),
        pytest.param([INIT], "cut", id="another run begins"),
    ],
)
def test_how_a_response_ended(last: list[Any], status: str) -> None:
    assert only(stream(delta("x"), *last)).status == status


def test_the_stream_of_another_tool_is_not_taken() -> None:
    claude = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "timestamp": TIME},
        {"type": "result", "subtype": "success", "status": "success", "timestamp": TIME},
        {"type": "message", "id": "a", "parentId": None, "timestamp": TIME, "role": "user", "content": "x"},
    ]
    assert GEMINI_STREAM.sniff(claude) == 0


def documents(text: str) -> list[Line]:
    """JSON documents one after the other, as lines."""
    found: list[Any] = []
    position = 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        value, position = json.JSONDecoder().raw_decode(text, position)
        found.append(value)
    return decoded(*found)


def test_the_telemetry_of_a_run_has_text_tools_finish_reason_and_both_models() -> None:
    lines = documents(shared_log("gemini-cli/telemetry.outfile.log").read_text())
    items = list(GEMINI_TELEMETRY.read(lines))
    assert choose([line.value for line in lines], "telemetry.log") is GEMINI_TELEMETRY
    assert len(lines) == len(items) == 19
    first, second = generations(items)
    assert (first.content, second.content, first.reasoning) == (None, LEAK, "The user wants a listing.")
    assert [(each.finish_reason, each.finish_fidelity) for each in (first, second)] == [("STOP", "wire")] * 2
    assert {each.model for each in (first, second)} == {"mock-model-2026"}
    assert (second.model_extra or {})["requested_model"] == "gemini-2.5-pro"
    assert [len(each.tools or ()) for each in (first, second)] == [16, 16]
    assert "run_shell_command" in [tool.name for tool in second.tools or ()]
    assert second.started_at
    assert second.started_at.isoformat() == "2026-11-30T08:34:27.298000+00:00"
    assert [call.arguments for call in first.tool_calls or ()] == [{"command": "echo hi", "description": "say hi"}]
    assert {each.run_id for each in (first, second)} == {"53f3ca49-26d4-4d6a-919b-4efa873bb1be"}


SCOPE = {"instrumentationScope": {"name": "gemini-cli"}}


def log(name: str, at: float = 5, **attributes: Any) -> dict[str, Any]:
    given = {"session.id": "s", "event.name": name, "role": "main", **attributes}
    return {"attributes": given, "hrTime": [int(at), 0], **SCOPE}


def answer(*texts: str, at: float = 5, finish: str | None = "STOP", **attributes: Any) -> dict[str, Any]:
    chunks = [{"candidates": [{"content": {"parts": [{"text": text}]}}]} for text in texts]
    if finish and chunks:
        chunks[-1]["candidates"][0]["finishReason"] = finish  # type: ignore[assignment]
    return log("gemini_cli.api_response", at, response_text=json.dumps(chunks), **attributes)


def span(start: int = 1, end: int = 9, tools: str | None = '[{"functionDeclarations": [{"name": "ls"}]}]') -> Any:
    attributes = {"gen_ai.conversation.id": "s", "gen_ai.request.model": "asked"}
    if tools is not None:
        attributes["gen_ai.tool.definitions"] = tools
    return {"_spanContext": {}, "name": "llm_call", "startTime": [start, 0], "endTime": [end, 0], **SCOPE} | {
        "attributes": attributes
    }


def telemetry(*lines: Any) -> list[Item]:
    return list(GEMINI_TELEMETRY.read(decoded(*lines)))


@pytest.mark.parametrize(
    ("lines", "tools"),
    [
        pytest.param([span(), answer("x")], ["ls"], id="the span first"),
        pytest.param([answer("x"), span()], ["ls"], id="the span later"),
        pytest.param([answer("x")], None, id="no span: traces were off"),
        pytest.param([span(6, 9), answer("x")], None, id="the span of a later response"),
        pytest.param([span(tools=None), answer("x")], None, id="a span without tools"),
        pytest.param([span(tools='[{"functionDecl...[TRUNCATED: 9]'), answer("x")], None, id="tools that were cut"),
        pytest.param([span(tools="[]"), answer("x")], [], id="no tools offered"),
    ],
)
def test_the_tools_stand_in_the_span_around_a_response(lines: list[Any], tools: list[str] | None) -> None:
    found = only(telemetry(*lines))
    assert (None if found.tools is None else [tool.name for tool in found.tools]) == tools
    assert found.call_mode == ("none" if tools == [] else "native")


def test_many_responses_and_spans_find_each_other_in_bounded_memory() -> None:
    lines = [each for n in range(300) for each in (answer(str(n), at=10 * n + 5), span(10 * n, 10 * n + 9))]
    found = generations(telemetry(*lines))
    assert [each.content for each in found] == [str(n) for n in range(300)]
    assert all(each.tools for each in found)
    assert len(generations(telemetry(*[answer("x", at=n) for n in range(300)]))) == 300


def test_chunks_are_joined_and_a_stream_without_a_finish_is_cut() -> None:
    found = only(telemetry(answer("<tool_", "call>", finish=None)))
    assert (found.content, found.status, found.finish_fidelity) == ("<tool_call>", "cut", "absent")


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("main", "agent"),
        ("subagent", "subagent"),
        ("utility_compressor", "summariser"),
        ("utility_router", "other"),
        (7, "agent"),
    ],
)
def test_roles(role: Any, expected: str) -> None:
    assert only(telemetry(answer("x", role=role))).role == expected


def test_a_response_without_its_text_is_no_response_without_a_leak() -> None:
    (item,) = telemetry(log("gemini_cli.api_response", model="m"))
    assert reason(item) == SILENT


def test_a_text_that_was_cut_is_not_understood() -> None:
    (item,) = telemetry(log("gemini_cli.api_response", response_text='[{"candidates": [{"con'))
    assert isinstance(item, Quarantined)


def test_a_failed_call_is_a_generation_without_output() -> None:
    found = only(telemetry(log("gemini_cli.api_error", error="quota")))
    assert (found.status, found.content, (found.model_extra or {})["error"]) == ("error", None, "quota")


def test_another_programs_telemetry_is_not_taken() -> None:
    other = [{"hrTime": [1, 2], "attributes": {"event.name": "x"}, "instrumentationScope": {"name": "other"}}]
    with pytest.raises(UnknownFormat):
        choose(other, "it.log")
