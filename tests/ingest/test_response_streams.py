"""Lines that are events make one generation a response, however they are mixed, wrapped, cut or repeated."""

from itertools import chain, zip_longest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.files.sse import events_of
from ingest.formats import Item, Mapped, Skipped
from ingest.formats.response_streams import RESPONSE_STREAMS
from ingest.shapes.streams import OPEN
from tests.ingest.provider_bodies import REQUESTS, RESPONSES, STREAMS, USAGE, call, chunk
from tests.ingest.recorded.openai import LEAK
from tests.ingest.samples import decoded, generations, only, reason, shared_log

Object = dict[str, Any]


def read(*values: Any) -> list[Item]:
    return list(RESPONSE_STREAMS.read(decoded(*values)))


def test_a_choice_whose_index_is_no_number_is_the_first() -> None:
    """It comes after the end of its stream, where choices are told apart."""
    first = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"}}]}
    end = {**first, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    odd = {**first, "choices": [{"index": [], "delta": {"content": "y"}}]}
    assert [each.content for each in generations(read(first, end, odd))] == ["x", "y"]


def test_a_name_that_was_no_text_gives_way_to_one() -> None:
    def part(name: object) -> Object:
        call = {"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": "{}"[:1]}}
        choice = {"index": 0, "delta": {"tool_calls": [call]}}
        return {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}

    found = only(read(part(1.5), part("ls")))
    assert found.tool_calls is not None
    assert [call.name for call in found.tool_calls] == ["ls"]


def test_an_event_that_no_database_holds_is_none() -> None:
    """Half a surrogate pair in it."""
    assert events_of('data: {"a":"\ud800"}\n\ndata: {"b":1}\n\n') == [{"b": 1}]


@pytest.mark.parametrize(
    ("name", "finish", "lines"),
    [
        pytest.param("openai/chat_stream.sse.txt", ("stop", "wire"), 10, id="chat completions"),
        pytest.param("openai/responses_stream.sse.txt", ("stop", "inferred"), 7, id="responses"),
        pytest.param("anthropic/messages_stream.sse.txt", ("end_turn", "wire"), 10, id="messages"),
    ],
)
def test_a_recorded_stream_is_one_leak(name: str, finish: tuple[str, str], lines: int) -> None:
    events = events_of(shared_log(name).read_text())
    assert len(events) == lines
    assert RESPONSE_STREAMS.sniff(events) == 1
    found = only(read(*events))
    assert (found.content, found.reasoning, found.model) == (LEAK, "The user wants a listing.", "mock-model-2026")
    assert (found.finish_reason, found.finish_fidelity) == finish
    assert found.tool_calls is None
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (11, 7)
    assert "tools" not in found.model_fields_set


@given(data=st.data(), texts=st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_any_mixture_of_streams_comes_apart_again(data: st.DataObject, texts: list[str]) -> None:
    streams = [
        [*(chunk({"content": letter}, id_=str(n)) for letter in text), chunk(id_=str(n), finish="stop")]
        for n, text in enumerate(texts)
    ]
    order = data.draw(st.permutations([n for n, stream in enumerate(streams) for _ in stream]))
    waiting = list(map(iter, streams))
    items = read(*(next(waiting[n]) for n in order))
    expected = {str(n): text for n, text in enumerate(texts)}
    assert {one.generation_id: one.content or "" for one in generations(items)} == expected
    assert sorted(item.line for item in items) == list(range(1, len(order) + 1))


WRAPPERS = [
    pytest.param(lambda n, event: {"request_id": str(n), "data": event}, id="data"),
    pytest.param(lambda n, event: {"time": "2026-11-30T12:00:00Z", "trace_id": str(n), "chunk": event}, id="chunk"),
    pytest.param(lambda n, event: {"span_id": str(n), "event": event}, id="event"),
]


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_an_id_in_the_wrapper_tells_streams_apart_that_tell_none(name: str, wrap: Any) -> None:
    streams = [[wrap(n, event) for event in STREAMS[name]] for n in range(3)]
    mixed = [event for event in chain(*zip_longest(*streams)) if event]
    assert RESPONSE_STREAMS.sniff(mixed) >= 0.7
    found = generations(read(*mixed))
    assert [(one.content, one.reasoning, one.status or "ok") for one in found] == [("ab", "r", "ok")] * 3


def test_the_wrapper_tells_run_and_time() -> None:
    found = only(
        read({"run_id": "r", "timestamp": "2026-11-30T12:00:00Z", "data": chunk({"content": "a"}, finish="x")})
    )
    assert found.run_id == "r"
    assert str(found.started_at) == "2026-11-30 12:00:00+00:00"


def test_the_same_id_twice_is_two_generations() -> None:
    once = [chunk({"role": "assistant", "content": "a"}), chunk(finish="stop")]
    found = generations(read(*once, *once))
    assert [(one.generation_id, one.content, one.finish_reason) for one in found] == [("x", "a", "stop")] * 2
    assert len({one.run_id for one in found}) == 2


def test_counts_that_come_late_belong_to_their_stream() -> None:
    counts = {**chunk(id_="x"), "choices": [], "usage": USAGE}
    found = generations(read(chunk({"content": "a"}, finish="stop"), chunk({"content": "b"}, id_="y"), counts))
    assert {one.generation_id: one.usage is not None for one in found} == {"x": True, "y": False}


def test_cut_streams_are_closed_when_too_many_are_open() -> None:
    values = [chunk({"content": "a"}, id_=f"cut-{n}") for n in range(OPEN + 50)]
    items = read(*values)
    found = generations(items)
    assert len(found) == OPEN + 50
    assert {(one.content, one.status, one.finish_reason) for one in found} == {("a", "cut", None)}
    assert [item.line for item in items] == list(range(1, OPEN + 51))


def test_a_stream_that_has_ended_makes_room_before_one_that_has_not() -> None:
    ended = chunk({"content": "a"}, id_="ended", finish="stop")
    values = [chunk({"content": "b"}, id_="open"), ended, *(chunk(id_=str(n)) for n in range(OPEN - 1))]
    first = next(item for item in read(*values) if isinstance(item, Mapped))
    assert first.line == 2


@pytest.mark.parametrize(
    "error",
    [
        pytest.param({"error": {"message": "gone", "type": "server_error"}}, id="OpenAI's"),
        pytest.param({"type": "error", "error": {"type": "overloaded_error", "message": "gone"}}, id="Anthropic's"),
        pytest.param({"type": "error", "code": "x", "message": "gone", "sequence_number": 3}, id="that of Responses"),
    ],
)
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_an_error_ends_the_stream_that_spoke_last(name: str, error: Object) -> None:
    found = only(read(*STREAMS[name][:3], error))
    assert found.status == "error"
    assert (found.model_extra or {})["error"]["message"] == "gone"


def test_an_error_alone_is_a_generation_without_output() -> None:
    found = only(read({"error": {"message": "gone"}}))
    assert (found.status, found.content) == ("error", None)


def test_an_error_of_a_chunk_without_choices() -> None:
    found = only(read({**chunk(), "choices": [], "error": {"message": "gone", "code": 502}}))
    assert (found.status, found.content, found.finish_fidelity) == ("error", None, "absent")


def test_whole_responses_and_requests_among_events() -> None:
    items = read(chunk({"content": "a"}, finish="stop"), RESPONSES["anthropic-messages"], REQUESTS["openai-chat"])
    assert sorted(one.content or "" for one in generations(items)) == ["a", "ab"]
    assert [reason(item) for item in items if isinstance(item, Skipped)] == ["a request without a response"]


def test_a_whole_reply_of_ollama_is_no_part_of_a_stream() -> None:
    assert [one.content for one in generations(read(RESPONSES["ollama-chat"], RESPONSES["ollama-chat"]))] == ["ab"] * 2
    assert RESPONSE_STREAMS.sniff([RESPONSES["ollama-chat"]]) == 0
    assert RESPONSE_STREAMS.sniff([RESPONSES["gemini"]]) == 0


def test_parts_of_two_models_do_not_mix() -> None:
    parts = [{"model": model, "message": {"content": text}, "done": False} for model, text in ("ma", "nb", "mc", "nd")]
    ends = [{"model": model, "message": {"content": ""}, "done": True, "done_reason": "stop"} for model in "nm"]
    found = generations(read(*parts, *ends))
    assert {one.model: one.content for one in found} == {"m": "ac", "n": "bd"}


def test_broken_arguments_of_a_stream_stay_as_they_came() -> None:
    cut = chunk(call(index=0, id="c", name="ls", arguments='{"a": '))
    calls = only(read(cut, chunk(finish="length"))).tool_calls or []
    assert [made.arguments for made in calls] == ['{"a": ']


def test_a_stream_that_is_not_understood_is_quarantined_with_its_last_line() -> None:
    items = read(chunk({"content": "a"}), chunk({"content": {"x": 1}}), chunk(finish="stop"))
    found = read(chunk({"tool_calls": 7}), chunk(finish="stop"))
    assert {item.line for item in items} == {1, 2, 3}
    assert "tool_calls is not a list" in reason(found[-1])
    assert found[-1].line == 2
