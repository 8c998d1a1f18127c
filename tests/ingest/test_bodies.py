"""Every API's bodies are known from each other's, say the same whole or streamed, and survive any damage."""

import copy
import json
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.bodies import asked_of, bodies, body_of, event_of, generations
from ingest.detection import by_name
from ingest.formats import Line, Mapped, Quarantined
from ingest.records import Generation
from ingest.shapes.exchange import exchange
from ingest.shapes.pairs import read
from tests.ingest.provider_bodies import REQUESTS, RESPONSES, STREAMS, USAGE, call, chunk
from tests.ingest.samples import decoded, json_values, only
from tests.ingest.samples import generations as generated

Object = dict[str, Any]

NAMES = sorted(RESPONSES)
EVERY = pytest.mark.parametrize("name", NAMES)
FORMATS = {name: by_name("gemini-api" if name == "gemini" else name) for name in NAMES}
SAID = ("content", "reasoning", "tool_calls", "model", "usage", "finish_reason", "finish_fidelity", "generation_id")


def said(one: Generation) -> Object:
    """What a generation says, arguments as objects."""
    found = one.model_dump(include=set(SAID), exclude_unset=True)
    for made in found.get("tool_calls") or ():
        made.pop("type", None)
        made["arguments"] = json.loads(made["arguments"]) if isinstance(made["arguments"], str) else made["arguments"]
    return found


def test_the_tables_have_every_api() -> None:
    assert sorted(body.name for body in bodies()) == NAMES == sorted(REQUESTS) == sorted(STREAMS)


@EVERY
def test_no_other_api_claims_a_body(name: str) -> None:
    def claims(predicate: str, value: Object) -> list[str]:
        return [body.name for body in bodies() if getattr(body, predicate)(value)]

    assert claims("is_request", REQUESTS[name]) == [name]
    assert claims("is_response", RESPONSES[name]) == [name]
    assert {*chain(*(claims("is_event", event) for event in STREAMS[name]))} == {name}
    assert {*claims("is_event", RESPONSES[name])} <= {name}
    others = (REQUESTS[name], *STREAMS[name][:-1])
    assert not [claims("is_response", value) for value in others if claims("is_response", value)]
    assert not claims("is_request", RESPONSES[name])
    assert not claims("is_event", REQUESTS[name])


@EVERY
def test_the_quick_ways_agree_with_the_predicates(name: str) -> None:
    (body,) = (body for body in bodies() if body.name == name)
    assert asked_of(REQUESTS[name]) is body
    assert body_of(RESPONSES[name]) is body
    assert all(event_of(event) is body for event in STREAMS[name][:-1])
    assert event_of(RESPONSES[name]) is None


@EVERY
def test_a_request_and_its_response(name: str) -> None:
    record = {"request": REQUESTS[name], "response": RESPONSES[name]}
    found = only(list(FORMATS[name].read(decoded(record))))
    assert (found.content, found.reasoning) == ("ab", "r")
    assert [(made.id, made.name) for made in found.tool_calls or ()] == [("c", "ls")]
    assert [(tool.name, tool.parameters) for tool in found.tools or ()] == [("ls", {"type": "object"})]
    assert found.call_mode == "native"
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (3, 2)
    assert (found.text_fidelity, found.status) == ("exact", None)
    assert FORMATS[name].sniff([record]) == 1
    assert not [other for other in NAMES if other != name and FORMATS[other].sniff([record])]


@EVERY
def test_a_response_alone_leaves_the_tools_unknown(name: str) -> None:
    found = only(list(FORMATS[name].read(decoded(RESPONSES[name]))))
    assert not found.model_fields_set & {"tools", "call_mode", "tool_choice"}


@EVERY
@pytest.mark.parametrize(
    "wrapped",
    [
        pytest.param(lambda events: {"request": {}, "chunks": events}, id="a list"),
        pytest.param(
            lambda events: {"response": "".join(f"data: {json.dumps(event)}\n\n" for event in events)}, id="its text"
        ),
    ],
)
def test_a_stream_in_one_record_says_what_the_whole_response_says(name: str, wrapped: Any) -> None:
    whole = only(list(read(decoded(RESPONSES[name]))))
    found = only(list(read(decoded(wrapped(STREAMS[name])))))
    expected = said(whole)
    if name == "gemini":
        expected.pop("usage")
    assert said(found) == expected
    assert found.text_fidelity == ("exact" if name == "openai-responses" else "rebuilt")
    assert found.status in (None, "ok")


@EVERY
def test_a_stream_over_many_lines_is_one_generation_with_the_last_line(name: str) -> None:
    items = list(read(decoded(*STREAMS[name], *STREAMS[name])))
    found = generated(items)
    assert len(found) == 2
    assert said(found[0]) == said(found[1])
    n = len(STREAMS[name])
    assert sorted(item.line for item in items) == list(range(1, 2 * n + 1))
    assert [item.line for item in items if isinstance(item, Mapped)] == [n, 2 * n]
    assert by_name("response-streams").sniff(STREAMS[name]) == 1
    assert FORMATS[name].sniff(STREAMS[name]) < 1


@EVERY
def test_a_stream_without_its_end_is_cut_and_never_a_stop(name: str) -> None:
    for kept in range(1, len(STREAMS[name])):
        found = generated(list(read(decoded(*STREAMS[name][:kept]))))
        ended = found[0].finish_fidelity == "wire"
        assert ended or (found[0].finish_reason, found[0].status) == (None, "cut")


@EVERY
def test_the_next_request_of_a_conversation_is_of_the_same_run(name: str) -> None:
    (body,) = (body for body in bodies() if body.name == name)
    answer = copy.deepcopy(RESPONSES[name])
    first = body.history(REQUESTS[name])
    assert all(isinstance(message["role"], str) for message in [*first, *body.answers(answer)])
    again = _continued(name)
    found = generated(
        list(read(decoded(*({"request": asked, "response": answer} for asked in (REQUESTS[name], again)))))
    )
    assert len({one.run_id for one in found}) == 1


def _continued(name: str) -> Object:
    request, response = copy.deepcopy(REQUESTS[name]), RESPONSES[name]
    match name:
        case "openai-responses":
            request["input"] = [{"role": "user", "content": "hi"}, *response["output"]]
        case "gemini":
            request["contents"].append(response["candidates"][0]["content"])
        case "anthropic-messages":
            request["messages"].append({"role": "assistant", "content": response["content"]})
        case "bedrock-converse":
            request["messages"].append(response["output"]["message"])
        case "ollama-chat":
            request["messages"].append(response["message"])
        case _:
            request["messages"].append(response["choices"][0]["message"])
    return request


def test_a_request_to_another_api_than_that_of_the_response_is_read_as_its_own() -> None:
    record = {"request": REQUESTS["openai-chat"], "response": RESPONSES["anthropic-messages"]}
    found = only(list(read(decoded(record))))
    assert [tool.name for tool in found.tools or ()] == ["ls"]
    assert (found.content, found.call_mode) == ("ab", "native")
    assert found.model_extra == {"requested_model": "m"}


def test_the_keys_of_a_span_are_no_request_beside_another_apis_response() -> None:
    record = {"model": "m", "input": "hi", "output": RESPONSES["openai-chat"]}
    assert "tools" not in only(list(read(decoded(record)))).model_fields_set


def test_generations_of_a_body() -> None:
    for name in NAMES:
        body = body_of(RESPONSES[name])
        assert body is not None
        assert generations(body, REQUESTS[name], None) == []
        (fields,) = generations(body, REQUESTS[name], RESPONSES[name])
        assert (fields["content"], len(fields["tools"])) == ("ab", 1)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        pytest.param({"messages": []}, "openai-chat", id="a plain list"),
        pytest.param({"messages": [], "thinking": {"type": "enabled"}}, "openai-chat", id="thinking, as many have it"),
        pytest.param(
            {"messages": [], "system": "s", "tools": [{"function": {"name": "ls"}}]}, "openai-chat", id="chat's tools"
        ),
        pytest.param({"messages": [{"content": [{"type": "tool_result"}]}]}, "anthropic-messages", id="a result block"),
        pytest.param({"messages": [], "system": [{"type": "text"}]}, "anthropic-messages", id="system blocks"),
        pytest.param({"messages": [], "system": [{"text": "s"}]}, "bedrock-converse", id="untyped system blocks"),
        pytest.param({"messages": [{"content": [{"toolUse": {}}]}]}, "bedrock-converse", id="a block by its key"),
        pytest.param({"messages": [], "keep_alive": "5m"}, "ollama-chat", id="kept alive"),
        pytest.param({"input": "x"}, None, id="an input alone"),
        pytest.param({"input": "x", "model": "m", "output": []}, None, id="a response's output beside"),
        pytest.param({"contents": "x"}, None, id="contents that are a text"),
        pytest.param({"messages": "x"}, None, id="messages that are a text"),
    ],
)  # fmt: skip
def test_whose_request_it_is(request_: Object, name: str | None) -> None:
    body = asked_of(request_)
    assert (body.name if body else None) == name
    assert [each.name for each in bodies() if each.is_request(request_)] == ([name] if name else [])


def assembled(*chunks: Object) -> list[Object]:
    (body,) = (body for body in bodies() if body.name == "openai-chat")
    return body.assemble(chunks)


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        pytest.param([call(index=0, id="a", name="ls", arguments="{"), call(index=0, arguments="}")],
                     [("a", "ls", "{}")], id="id and name in the first fragment"),
        pytest.param([call(index=0, id="a", name="ls", arguments="{"), call(index=0, id="a", name="ls", arguments="}")],
                     [("a", "ls", "{}")], id="id and name in each"),
        pytest.param([call(index=0, id="a", name="get_"), call(index=0, name="file", arguments="{}")],
                     [("a", "get_file", "{}")], id="a name in two pieces"),
        pytest.param([call(index=0, id="a", name="get_"), call(index=0, name="get_file", arguments="{}")],
                     [("a", "get_file", "{}")], id="a name told again in full"),
        pytest.param([call(id="a", name="ls", arguments="{"), call(arguments="}"),
                      call(id="b", name="rm", arguments="x")],
                     [("a", "ls", "{}"), ("b", "rm", "x")], id="no index"),
        pytest.param([call(name="ls", arguments="{}"), call(name="rm", arguments="x")],
                     [(None, "ls", "{}"), (None, "rm", "x")], id="neither index nor id"),
        pytest.param([call(index=0, id="a", name="ls", arguments="{}"),
                      call(index=0, id="b", name="ls", arguments="x")],
                     [("a", "ls", "{}"), ("b", "ls", "x")], id="all at index 0"),
        pytest.param([call(index=0, id="a", name="ls", arguments="{"), call(index=1, id="b", name="rm", arguments="x"),
                      call(index=0, arguments="}"), call(index=1, arguments="y")],
                     [("a", "ls", "{}"), ("b", "rm", "xy")], id="in turns"),
        pytest.param([call(index=0, id="a", name="ls")], [("a", "ls", None)], id="no arguments, none invented"),
        pytest.param([call(index=0, id="a", name="ls", arguments="")], [("a", "ls", "")], id="empty arguments"),
        pytest.param([call(index=0, id="a", name="ls", arguments={"a": 1})], [("a", "ls", {"a": 1})], id="an object"),
        pytest.param([call(index=0, id="", name="ls", arguments="{"), call(index=0, id="", name=None, arguments="}")],
                     [(None, "ls", "{}")], id="empty ids and null names"),
    ],
)  # fmt: skip
def test_calls_of_chat_chunks(deltas: list[Object], expected: list[tuple[Any, ...]]) -> None:
    (whole,) = assembled(*map(chunk, deltas), chunk(finish="tool_calls"))
    calls = whole["choices"][0]["message"]["tool_calls"]
    found = [(made.get("id"), made["function"]["name"], made["function"].get("arguments")) for made in calls]
    assert found == expected


def test_interleaved_completions_come_in_the_order_of_their_first_chunks() -> None:
    chunks = [chunk({"content": text}, id_=id_) for id_, text in ("xa", "yb", "xc", "yd")]
    found = assembled(*chunks, chunk(id_="y", finish="stop"), chunk(id_="x", finish="length"))
    assert [(each["id"], each["choices"][0]["message"]["content"]) for each in found] == [("x", "ac"), ("y", "bd")]
    assert [each["choices"][0]["finish_reason"] for each in found] == ["length", "stop"]


def test_several_choices_of_a_stream() -> None:
    chunks = [chunk({"content": text}, index=index) for index, text in ((1, "b"), (0, "a"), (1, "d"), (0, "c"))]
    (whole,) = assembled(*chunks, chunk(index=0, finish="stop"), chunk(index=1, finish="length"))
    assert [(each["index"], each["message"]["content"], each["finish_reason"]) for each in whole["choices"]] == [
        (0, "ac", "stop"),
        (1, "bd", "length"),
    ]


def test_null_and_absent_content_stay_apart() -> None:
    (whole,) = assembled(chunk({"content": None, "reasoning": "r"}), chunk(finish="stop"))
    assert whole["choices"][0]["message"] == {"content": None, "reasoning": "r"}
    (whole,) = assembled(chunk({"reasoning": "r"}), chunk(finish="stop"))
    assert whole["choices"][0]["message"] == {"reasoning": "r"}


@pytest.mark.parametrize(
    ("after", "count"),
    [
        pytest.param({**chunk(), "choices": [], "usage": USAGE}, 1, id="counts without choices"),
        pytest.param(
            {**chunk({"role": "assistant", "content": ""}), "usage": USAGE}, 1, id="counts with an empty choice"
        ),
        pytest.param(chunk({"role": "assistant", "content": ""}), 2, id="the start of another with the same id"),
        pytest.param(chunk(), 1, id="nothing"),
        pytest.param(chunk({"content": "b"}, index=1), 1, id="another choice"),
    ],
)
def test_what_follows_the_finish_reason(after: Object, count: int) -> None:
    assert len(assembled(chunk({"content": "a"}), chunk(finish="stop"), after)) == count


def test_an_error_in_the_middle_keeps_what_came() -> None:
    error = {"error": {"message": "gone", "code": 500}}
    items = list(read(decoded(chunk({"content": "a"}), error, chunk({"content": "b"}, id_="y"))))
    first, second = generated(items)
    assert (first.content, first.status, (first.model_extra or {})["error"]) == ("a", "error", error["error"])
    assert (second.content, second.status) == ("b", "cut")


def test_vendor_keys_of_choices_are_kept() -> None:
    final = {**chunk(finish="stop"), "choices": [{**chunk(finish="stop")["choices"][0], "native_finish_reason": "eos",
                                                  "stop_reason": 7}]}  # fmt: skip
    found = only(list(read(decoded(chunk({"content": "a"}), final))))
    assert found.model_extra == {"native_finish_reason": "eos", "stop_reason": 7}


def test_llama_cpp_tells_the_text_before_its_parser() -> None:
    verbose = {"content": "<tool_call>", "generation_settings": {"chat_format": "Hermes 2 Pro"}}
    found = only(list(read(decoded({**RESPONSES["openai-chat"], "__verbose": verbose}))))
    assert (found.raw_text, found.model_extra) == ("<tool_call>", {"chat_format": "Hermes 2 Pro"})
    final = {**chunk(finish="stop"), "__verbose": verbose}
    assert only(list(read(decoded(chunk({"content": "a"}), final)))).raw_text == "<tool_call>"


def test_reasoning_details_alone_are_the_reasoning() -> None:
    details = [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.encrypted", "data": "x"}]
    message = {"role": "assistant", "content": "t", "reasoning_details": details}
    found = only(list(read(decoded({"choices": [{"message": message, "finish_reason": "stop"}]}))))
    assert (found.reasoning, (found.model_extra or {})["reasoning_details"]) == ("a", details)


def test_details_of_many_chunks_add_up_and_leave_the_chunks_alone() -> None:
    chunks = [chunk({"reasoning_details": [{"text": letter}]}) for letter in "abc"]
    kept = copy.deepcopy(chunks)
    (whole,) = assembled(*chunks)
    assert [detail["text"] for detail in whole["choices"][0]["message"]["reasoning_details"]] == ["a", "b", "c"]
    assert chunks == kept


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = copy.copy(value)
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


WHOLE = [{"request": REQUESTS[name], "response": RESPONSES[name]} for name in NAMES]


@st.composite
def damaged(draw: st.DrawFn) -> list[Any]:
    """A file of one API with one value replaced by another."""
    lines = draw(
        st.sampled_from(
            [*([whole] for whole in WHOLE), *STREAMS.values(), *([{"a": each}] for each in STREAMS.values())]
        )
    )
    damage = draw(st.sampled_from(places(lines)[1:]))
    found: list[Any] = replaced(lines, damage, draw(json_values))
    return found


@given(lines=damaged(), more=damaged())
@settings(deadline=None, max_examples=400)
def test_any_damage_is_answered(lines: list[Any], more: list[Any]) -> None:
    found = decoded(*lines, *more)
    items = list(read(found))
    assert sorted(item.line for item in items) == [line.number for line in found]
    assert all(item.why for item in items if isinstance(item, Quarantined))
    for value in (line.value for line in found if isinstance(line, Line)):
        if isinstance(value, dict):
            exchange(value)
