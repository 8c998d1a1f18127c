"""What is peculiar to Inspect's eval logs."""

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.detection import by_name
from ingest.formats import Item, Line, Mapped, Quarantined, Skipped
from ingest.records import Generation, Run
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, json_values, only, reason, shared_log

TOOLS = [{"name": "ls", "description": "List.", "parameters": {"type": "object", "properties": {}}}]
ZSTD = 93


def event(**fields: Any) -> dict[str, Any]:
    """A model event; `reply` and `stop` make its output."""
    message = {"role": "assistant", "content": fields.pop("reply", "hi"), "source": "generate"}
    message |= {"tool_calls": fields.pop("calls")} if "calls" in fields else {}
    choice = {"message": message, "stop_reason": fields.pop("stop", "stop")}
    output = {"model": "m-1", "choices": [choice], "usage": {"input_tokens": 3, "output_tokens": 2}}
    whole = {"event": "model", "model": "openai/m", "timestamp": "2026-01-01T10:00:00+00:00", "input": []}
    return whole | {"tools": TOOLS, "tool_choice": "auto", "output": output} | fields


def sample(*events: Any, **fields: Any) -> dict[str, Any]:
    whole = {"id": "q", "epoch": 1, "input": "go", "target": "", "messages": [], "uuid": "u"}
    return whole | {"events": list(events)} | fields


def log(*samples: Any, **about: Any) -> dict[str, Any]:
    named = {"task": "t", "task_id": "T", "run_id": "R", "packages": {"inspect_ai": "0.3.200"}}
    return {"version": 2, "status": "success", "eval": named | about, "plan": {}, "samples": list(samples)}


def read(*values: Any) -> list[Item]:
    return list(by_name("inspect").read(decoded(*values)))


def found(*events: Any, **fields: Any) -> list[Generation]:
    return generations(read(log(sample(*events, **fields))))


def body(**message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return {
        "object": "chat.completion",
        "model": "m-1",
        "system_fingerprint": "vllm-0.9.0-0123abcd",
        "choices": [choice],
    }


def span(name: str, kind: str, parent: str | None = None) -> dict[str, Any]:
    return {"event": "span_begin", "id": name, "type": kind, "name": name, "parent_id": parent}


def archive_lines(path: Path) -> list[Line]:
    """The members of an archive, as the reader of containers delivers them: the header first, then the rest."""
    data = path.read_bytes()
    texts = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            skip = sum(struct.unpack_from("<HH", data, info.header_offset + 26)) + info.header_offset + 30
            packed = data[skip : skip + info.compress_size]
            unpack = zstandard.ZstdDecompressor().decompressobj().decompress
            texts[info.filename] = unpack(packed) if info.compress_type == ZSTD else archive.read(info)
    order = sorted(texts, key=lambda name: (name != "header.json", name != "_journal/start.json", name))
    return [Line(number, json.loads(texts[name]), texts[name]) for number, name in enumerate(order, 1)]


@pytest.mark.parametrize("crashed", [False, True], ids=["whole", "crashed: without header.json"])
def test_an_archive_is_read_member_by_member(crashed: bool) -> None:
    lines = archive_lines(shared_log("inspect-ai/2026-11-30T08-36-52-00-00_demo_FDXad2ZW7ZRCDKyGNj9FUn.eval"))
    lines = lines[1:] if crashed else lines
    assert by_name("inspect").sniff([line.value for line in lines]) == 1
    items = list(by_name("inspect").read(lines))
    assert {item.line for item in items} == {line.number for line in lines}
    first, second = generations(items)
    assert first.tool_calls is not None
    assert first.tool_calls[0].arguments == '{"command": "echo hi", "description": "say hi"}'
    assert (second.content, second.finish_reason, second.finish_fidelity) == (LEAK, "stop", "wire")
    assert first.run_id == second.run_id
    assert (second.client, second.client_version) == ("inspect_ai", "0.3.285")


def test_a_run_is_an_attempt_at_a_sample() -> None:
    values = [sample(event(), epoch=1), sample(event(), epoch=2, uuid="v"), sample(event(), uuid=None)]
    runs = [one.run_id for one in generations(read(log(*values)))]
    assert runs == ["u:q:1", "v:q:2", "T:q:1"]


def test_copies_in_messages_output_and_state_are_no_generations() -> None:
    reply = event(uuid="e")
    copies = [{"event": "state", "changes": [{"value": reply["output"]}]}, reply]
    message = reply["output"]["choices"][0]["message"]
    assert len(found(reply, *copies, messages=[message], output=reply["output"])) == 1


def test_the_same_reply_twice_is_two_generations() -> None:
    assert [one.round for one in found(event(uuid="a", reply=LEAK), event(uuid="b", reply=LEAK))] == [0, 1]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        pytest.param({"cache": "read"}, "a cached answer, no new generation", id="from the cache"),
        pytest.param({"pending": True}, "a request without a response", id="still pending"),
    ],
)
def test_what_no_model_answered_is_skipped(fields: dict[str, Any], why: str) -> None:
    (item,) = read(log(sample(event(**fields))))
    assert reason(item) == why


def test_an_answer_written_to_the_cache_is_a_generation() -> None:
    (one,) = found(event(cache="write", retries=2))
    assert one.model_extra is not None
    assert (one.model_extra["cache"], one.model_extra["retries"]) == ("write", 2)


def test_retries_of_a_sample_are_told_but_not_read() -> None:
    (one,) = found(event(), error_retries=[{"message": "x", "events": [event(reply=LEAK)]}])
    assert one.model_extra is not None
    assert one.model_extra["sample_retries"] == 1


def test_attachments_are_resolved_exactly() -> None:
    long = LEAK + "\u2028 é " * 40
    ref = "attachment://" + "0a" * 16
    (one,) = found(event(reply=ref), attachments={"0a" * 16: long})
    assert (one.content, one.text_fidelity) == (long, "exact")


def test_an_attachment_in_the_raw_body_and_in_a_tool_is_resolved() -> None:
    ref = "attachment://" + "0a" * 16
    raw = {"request": {"messages": [], "tools": []}, "response": body(content=ref)}
    tools = [{**TOOLS[0], "description": ref}]
    (one,) = found(event(call=raw, tools=tools), attachments={"0a" * 16: LEAK})
    assert one.content == LEAK
    assert one.tools is not None
    assert one.tools[0].description == LEAK


def test_a_lost_attachment_makes_a_truncated_text() -> None:
    (one,) = found(event(reply="attachment://" + "0b" * 16), attachments={})
    assert one.text_fidelity == "truncated"


def test_prose_about_attachments_stays() -> None:
    (one,) = found(event(reply="see attachment://x"), attachments={"x": "y"})
    assert (one.content, one.text_fidelity) == ("see attachment://x", "exact")


def test_without_the_raw_body_arguments_are_parsed_and_the_stop_reason_is_mapped() -> None:
    (one,) = found(event(stop="tool_calls", calls=[{"id": "c", "function": "ls", "arguments": {"a": 1}}]))
    assert one.tool_calls is not None
    assert (one.tool_calls[0].name, one.tool_calls[0].arguments) == ("ls", {"a": 1})
    assert (one.finish_reason, one.finish_fidelity, one.model, one.provider) == (
        "tool_calls",
        "mapped",
        "m-1",
        "openai",
    )


def test_the_raw_body_gives_arguments_finish_and_engine() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{ "a":1}'}}
    raw = {"request": {"messages": [], "tools": [1]}, "response": body(content=None, tool_calls=[call])}
    (one,) = found(event(call=raw, calls=[{"id": "c", "function": "ls", "arguments": {"a": 1}}]))
    assert one.tool_calls is not None
    assert one.tool_calls[0].arguments == '{ "a":1}'
    assert (one.finish_fidelity, one.engine, one.engine_version, one.call_mode) == ("wire", "vllm", "0.9.0", "native")


def runs_of(items: list[Item]) -> list[Run]:
    records = [record for item in items if isinstance(item, Mapped) for record in item.records]
    return [record for record in records if isinstance(record, Run)]


KEPT = {"request": {"messages": [], "tools": [1]}, "response": body(content="x")}


@pytest.mark.parametrize(
    ("events", "told"),
    [
        pytest.param([event(call=KEPT), event()], [("u:q:1", "vllm", "0.9.0")], id="a call that was not kept"),
        pytest.param([event(call=KEPT), event(call=KEPT)], [], id="all calls were kept"),
        pytest.param([event(), event()], [], id="no call was kept"),
        pytest.param([event(call=KEPT), event(model="openai/other")], [], id="a call of another model"),
    ],
)
def test_the_engine_of_a_run_is_that_of_the_calls_that_were_kept(events: list[Any], told: list[Any]) -> None:
    runs = runs_of(read(log(sample(*events))))
    assert [(run.run_id, run.engine, run.engine_version) for run in runs] == told


def test_a_raw_body_of_an_unknown_api_leaves_what_inspect_parsed() -> None:
    (one,) = found(event(reply="x", call={"request": {}, "response": {"what": "else"}}))
    assert (one.content, one.finish_fidelity) == ("x", "mapped")


PARSE_ERROR = "Error parsing the following tool call arguments:\n\n{'a': 1\n\nError details: Expecting value"


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        pytest.param(PARSE_ERROR, "{'a': 1", id="the error quotes them"),
        pytest.param("something else", None, id="they are lost, and not {}"),
    ],
)
def test_arguments_that_could_not_be_parsed(error: str, arguments: str | None) -> None:
    (one,) = found(event(calls=[{"id": "c", "function": "ls", "arguments": {}, "parse_error": error}]))
    assert one.tool_calls is not None
    assert one.tool_calls[0].arguments == arguments
    assert ("arguments" in one.tool_calls[0].model_fields_set) is (arguments is not None)
    assert (one.tool_calls[0].model_extra or {})["parse_error"] == error


def test_no_arguments_without_an_error_stay_an_empty_object() -> None:
    (one,) = found(event(calls=[{"id": "c", "function": "ls", "arguments": {}, "parse_error": None}]))
    assert one.tool_calls is not None
    assert one.tool_calls[0].arguments == {}


def test_the_parse_error_stands_beside_the_raw_arguments() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{'a': 1"}}
    raw = {"request": {"messages": [], "tools": [1]}, "response": body(content=None, tool_calls=[call])}
    (one,) = found(event(call=raw, calls=[{"id": "c", "function": "ls", "arguments": {}, "parse_error": PARSE_ERROR}]))
    assert one.tool_calls is not None
    assert one.tool_calls[0].arguments == "{'a': 1"
    assert (one.tool_calls[0].model_extra or {})["parse_error"] == PARSE_ERROR


MADE = [{"id": "c", "function": "bash", "arguments": {"command": "ls -la"}}]


@pytest.mark.parametrize(
    ("fields", "about", "mode"),
    [
        pytest.param({"reply": LEAK}, {}, "native", id="a leak"),
        pytest.param(
            {"reply": "", "calls": MADE}, {"model_args": {"emulate_tools": True}}, "text", id="emulated tools"
        ),
        pytest.param(
            {"calls": MADE, "call": {"request": {"messages": []}, "response": body(content=LEAK)}},
            {},
            "text",
            id="the wire had no tools",
        ),
        pytest.param(
            {"calls": MADE, "call": {"request": {"messages": [], "tools": [1]}, "response": body(content=LEAK)}},
            {},
            "text",
            id="calls made of the text",
        ),
        pytest.param(
            {"call": {"request": {"messages": [], "tools": [1]}, "response": body(content=LEAK)}},
            {},
            "native",
            id="a leak in the raw body",
        ),
        pytest.param({"tools": []}, {}, "none", id="no tools"),
        pytest.param({"tool_choice": "none"}, {}, "none", id="tools forbidden"),
        pytest.param({"tools": []}, {"model_args": {"emulate_tools": True}}, "none", id="nothing to emulate"),
    ],
)
def test_the_call_mode(fields: dict[str, Any], about: dict[str, Any], mode: str) -> None:
    (one,) = generations(read(log(sample(event(**fields)), **about)))
    assert one.call_mode == mode


def test_emulated_calls_keep_the_text_that_they_were_made_of() -> None:
    raw = {"request": {"messages": []}, "response": body(content=LEAK)}
    (one,) = found(event(reply="I will list the files.", calls=MADE, call=raw))
    assert one.content == LEAK
    assert one.tool_calls is not None
    assert one.tool_calls[0].name == "bash"


@pytest.mark.parametrize(
    ("before", "fields", "role", "runs"),
    [
        pytest.param([], {}, None, {"u:q:1"}, id="the agent"),
        pytest.param([span("A", "agent")], {"span_id": "A"}, None, {"u:q:1"}, id="the agent in its span"),
        pytest.param(
            [span("S", "scorers"), span("s", "scorer", "S")], {"span_id": "s"}, "judge", {"u:q:1/s"}, id="a scorer"
        ),
        pytest.param([], {"role": "grader"}, "judge", {"u:q:1/grader"}, id="a model in the role of a grader"),
        pytest.param(
            [span("A", "agent"), span("T", "tool", "A"), span("B", "agent", "T")],
            {"span_id": "B"},
            "subagent",
            {"u:q:1/B"},
            id="an agent as a tool",
        ),
        pytest.param(
            [span("A", "agent"), span("B", "agent", "A"), span("x", "solver", "B")],
            {"span_id": "x"},
            "subagent",
            {"u:q:1/B"},
            id="an agent inside an agent",
        ),
        pytest.param(
            [{"event": "step", "action": "begin", "type": "scorer"}], {}, "judge", {"u:q:1/scorer"}, id="an old scorer"
        ),
        pytest.param(
            [
                {"event": "step", "action": "begin", "type": "scorer"},
                {"event": "step", "action": "end", "type": "scorer"},
            ],
            {},
            None,
            {"u:q:1"},
            id="after an old scorer",
        ),
    ],
)
def test_roles(before: list[Any], fields: dict[str, Any], role: str | None, runs: set[str]) -> None:
    (one,) = found(*before, event(**fields))
    assert one.role == role
    assert {one.run_id} == runs


def test_spans_that_are_their_own_parents_end() -> None:
    assert len(found(span("A", "x", "B"), span("B", "x", "A"), event(span_id="A"))) == 1


def test_events_inside_a_tool_event_are_those_of_a_sub_agent() -> None:
    outer = {"event": "tool", "id": "c1", "events": [event(uuid="in", reply="x")]}
    agent, inner = found(event(uuid="out"), outer)
    assert (agent.role, inner.role, inner.content, inner.run_id) == (None, "subagent", "x", "u:q:1/c1")


NUDGE = {"role": "user", "content": "Please call a tool."}


@pytest.mark.parametrize(
    ("first", "second", "place", "reprimand"),
    [
        pytest.param({}, {"input": [NUDGE]}, (0, 1), "Please call a tool.", id="a nudge: another attempt"),
        pytest.param({}, {"input_refs": [[0, 1], [1, 2]]}, (0, 1), "from the pool", id="a nudge in the pool"),
        pytest.param({}, {"input": [{**NUDGE, "source": "operator"}]}, (1, 0), None, id="a person's message"),
        pytest.param({"calls": MADE}, {"input": [{"role": "tool", "content": "a"}]}, (1, 0), None, id="a result"),
        pytest.param(
            {"calls": MADE},
            {"input": [{"role": "tool", "content": "", "error": {"type": "parsing", "message": "bad json"}}]},
            (1, 0),
            "bad json",
            id="a complaint about a call",
        ),
        pytest.param({"error": "timeout"}, {}, (0, 1), None, id="after an error"),
    ],
)
def test_rounds_attempts_and_reprimands(
    first: dict[str, Any], second: dict[str, Any], place: tuple[int, int], reprimand: str | None
) -> None:
    pool = [
        {"role": "user", "content": "go", "source": "input"},
        {"role": "user", "content": [{"text": "from the pool"}]},
    ]
    one, other = found(event(**first), event(**second), events_data={"messages": pool, "calls": []})
    assert (one.round, one.attempt) == (0, 0)
    assert (other.round, other.attempt) == place
    assert (one.model_extra or {}).get("reprimand") == reprimand


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        pytest.param({"error": "timeout", "output": {}}, "error", id="an error"),
        pytest.param({"error": "Cancelled by operator", "output": {}}, "cancelled", id="a cancellation"),
        pytest.param({"output": {"model": "m", "choices": []}}, "error", id="no output"),
    ],
)
def test_a_call_without_a_reply_is_an_error(fields: dict[str, Any], status: str) -> None:
    (one,) = found(event(**fields))
    assert (one.status, one.content, one.finish_fidelity) == (status, None, "absent")


@pytest.mark.parametrize(
    ("content", "text", "reasoning", "fidelity"),
    [
        pytest.param("hi", "hi", None, "exact", id="a text"),
        pytest.param(
            [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "hi"}], "hi", "hm", "exact", id="both"
        ),
        pytest.param(
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab", None, "rebuilt", id="two parts"
        ),
        pytest.param(
            [{"type": "reasoning", "reasoning": "zz", "redacted": True}], "", None, "exact", id="hidden reasoning"
        ),
    ],
)
def test_the_parts_of_a_content(content: Any, text: str, reasoning: str | None, fidelity: str) -> None:
    (one,) = found(event(reply=content))
    assert (one.content, one.reasoning, one.text_fidelity) == (text, reasoning, fidelity)


def test_a_log_without_events_gives_its_assistant_messages() -> None:
    said = [
        {"role": "assistant", "content": "shown", "source": "input"},
        {"role": "assistant", "content": LEAK, "id": "x"},
    ]
    output = {"choices": [{"message": {"role": "assistant", "content": LEAK}, "stop_reason": "max_tokens"}]}
    (one,) = found(messages=said, output=output)
    assert (one.content, one.finish_reason, one.finish_fidelity) == (LEAK, "max_tokens", "mapped")
    assert "tools" not in one.model_fields_set


def test_several_choices_are_several_generations() -> None:
    choices = [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"} for text in "ab"]
    output = {"model": "m", "choices": choices, "usage": {"input_tokens": 3}}
    one, other = found(event(uuid="e", output=output))
    assert (one.generation_id, other.generation_id) == ("e", "e#1")
    assert one.usage is not None
    assert other.usage is None


def test_a_time_without_a_zone_is_taken_as_utc_and_told() -> None:
    (one,) = found(event(timestamp="2026-01-01T10:00:00"))
    assert one.started_at is not None
    assert one.started_at.isoformat() == "2026-01-01T10:00:00+00:00"
    assert (one.model_extra or {})["zone"] == "assumed_utc"


def test_the_samples_after_a_second_header_are_its_own() -> None:
    first, second = log(task_id="A"), log(task_id="B")
    values = [first, sample(event(), uuid=None), second, sample(event(), uuid=None)]
    assert [one.run_id for one in generations(read(*values))] == ["A:q:1", "B:q:1"]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"version": 1, "status": "ok"}, id="another program's status"),
        pytest.param({"id": 1, "input": "x", "target": "y"}, id="a line of a data set"),
        pytest.param({"messages": [{"role": "user", "content": "x"}], "id": 1}, id="a conversation"),
        pytest.param([{"id": 1, "epoch": 1}], id="a list of something else"),
        pytest.param([], id="an empty list"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("inspect").sniff([value]) == 0


def test_a_broken_event_leaves_the_others() -> None:
    broken = event(calls=[{"id": "c"}])
    items = read(log(sample(event(), broken, event(reply="x"))))
    assert [type(item) for item in items] == [Mapped, Quarantined, Mapped]


def test_a_broken_sample_leaves_the_others() -> None:
    items = read(log("what", sample(event())))
    assert [type(item) for item in items] == [Quarantined, Mapped]


def test_summaries_and_a_header_are_bookkeeping() -> None:
    summary = {"id": 1, "epoch": 1, "input": "x", "target": "", "completed": True}
    items = read({**log(), "samples": None}, [summary], summary, {"scorer": "s", "samples": []}, [])
    assert len(items) == 5
    assert all(isinstance(item, Skipped) and item.why.startswith("bookkeeping: ") for item in items)


def test_half_a_character_that_was_replaced_is_told() -> None:
    lines = [Line(1, log(sample(event())), b"{}", mended=True)]
    assert only(list(by_name("inspect").read(lines))).text_fidelity == "normalised"


@given(
    st.dictionaries(
        st.sampled_from(["events", "attachments", "events_data", "messages", "output", "error_retries"]), json_values
    ),
    st.lists(
        st.dictionaries(st.sampled_from([*event(), "call", "span_id", "role", "input_refs", "error"]), json_values)
    ),
)
@settings(deadline=None, max_examples=200)
def test_any_value_anywhere_is_answered(fields: dict[str, Any], events: list[dict[str, Any]]) -> None:
    calls = [event() | one for one in events] + [{"event": "model", **one} for one in events]
    for value in (log(sample(*calls, **fields)), log(sample(*calls)), log(**fields)):
        assert {item.line for item in read(value)} == {1}
