"""OpenTelemetry messages: what is joined, counted once, skipped; and any input at all."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.detection import choose
from ingest.errors import UnknownFormat
from ingest.formats import Mapped, Quarantined, Skipped
from ingest.formats.otlp import OTLP
from ingest.otlp.joining import Joining
from ingest.otlp.recent import Recent
from tests.ingest.otlp_signals import CHAT, TRACE, choice, event, logs, pairs, read, said, span, traces
from tests.ingest.samples import decoded, generations, json_values, only, reason

OPENINFERENCE = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "hello"}
BROADCAST = {**CHAT, "gen_ai.completion": '{"completion": "hello", "reasoning": null}'}
DETAILS = "gen_ai.client.inference.operation.details"


def ids(*values: Any) -> list[tuple[str | None, str | None]]:
    return [(one.generation_id, one.content) for one in generations(read(*values))]


def hexed(number: int) -> str:
    return f"{number:016x}"


def test_a_span_tells_its_run_its_time_and_what_surrounds_it() -> None:
    attributes = {**said("hi"), "server.address": "gpu1", "server.port": 8000, "gen_ai.provider.name": "vllm"}
    one = only(read(traces(span(1, attributes), resource={"service.name": "agent", "process.command": "x --key y"})))
    assert (one.run_id, one.generation_id, one.content, one.model, one.provider) == (TRACE, hexed(1), "hi", "m", "vllm")
    assert str(one.started_at) == "2026-11-30 08:35:01.123456+00:00"
    extra = one.model_extra or {}
    assert (extra["service_name"], extra["server_address"], extra["server_port"]) == ("agent", "gpu1", 8000)
    assert extra["resource"] == {"service.name": "agent"}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_text_in_a_log_record_finds_its_span_in_any_order(order: tuple[int, ...]) -> None:
    values = [traces(span(1, CHAT), span(2, CHAT)), logs(choice(1, "one")), logs(choice(2, "two"))]
    items = read(*(values[at] for at in order))
    assert sorted((one.generation_id, one.content, one.model) for one in generations(items)) == [
        (hexed(1), "one", "m"),
        (hexed(2), "two", "m"),
    ]
    assert sorted(item.line for item in items) == [1, 2, 3]
    assert {item.why for item in items if isinstance(item, Skipped)} == {"part of a response told on several lines"}


@pytest.mark.parametrize("first", ["the span", "the choices"])
def test_the_choices_of_a_span_are_generations_of_which_one_has_the_usage(first: str) -> None:
    spans, choices = (
        traces(span(1, {**CHAT, "gen_ai.usage.input_tokens": 3})),
        [logs(choice(1, f"{n}", n)) for n in (0, 1)],
    )
    values = [spans, *choices] if first == "the span" else [*choices, spans]
    found = generations(read(*values))
    assert [(one.generation_id, one.content, one.model) for one in found] == [
        (hexed(1), "0", "m"),
        (f"{hexed(1)}#1", "1", "m"),
    ]
    assert [one.usage is None for one in found] == [False, True]


def test_a_choice_without_its_span_is_told_at_the_end() -> None:
    one = only(read(logs(choice(1, "hi"))))
    assert (one.generation_id, one.content, one.model, one.tools) == (hexed(1), "hi", None, None)


def test_what_waits_is_told_as_it_is_when_it_grows_too_large() -> None:
    joining = Joining(waiting=2_000)
    lines = decoded(*(logs(choice(number, "x" * 300)) for number in range(1, 9)), traces(span(1, CHAT), span(8, CHAT)))
    early = [item.line for line in lines for item in joining.read(line)]
    rest = [item.line for item in joining.finish()]
    assert early[:6] == [1, 2, 3, 4, 5, 6]
    assert sorted(early + rest) == list(range(1, 10))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([traces(span(1, said("hi"))), traces(span(1, said("hi")))], id="the same span delivered again"),
        pytest.param([traces(span(1, said("hi")), span(1, said("hi")))], id="twice in one message"),
        pytest.param([traces(span(1, CHAT)), logs(choice(1, "hi")), logs(choice(1, "hi"))], id="an event again"),
        pytest.param([logs(choice(1, "hi")), logs(choice(1, "hi")), traces(span(1, CHAT))], id="an event again, first"),
        pytest.param([traces(span(1, CHAT)), logs(choice(1, "hi")), traces(span(1, CHAT))], id="its span again"),
        pytest.param([traces(span(1, said("hi"))), logs(choice(1, "hi"))], id="the text on the span and in an event"),
        pytest.param([logs(choice(1, "hi")), traces(span(1, said("hi")))], id="the same, the event first"),
    ],
)
def test_a_call_told_twice_counts_once(values: list[Any]) -> None:
    assert ids(*values) == [(hexed(1), "hi")]
    assert {item.line for item in read(*values)} == set(range(1, len(values) + 1))


def test_the_same_words_in_two_spans_are_two_generations_and_so_is_a_span_with_other_words() -> None:
    found = ids(traces(span(1, said("hi")), span(2, said("hi"))), traces(span(1, said("ho"))))
    assert found == [(hexed(1), "hi"), (hexed(2), "hi"), (hexed(1), "ho")]


AGENT = {**CHAT, "gen_ai.operation.name": "invoke_agent"}
CHAIN = {"openinference.span.kind": "CHAIN"}


@pytest.mark.parametrize(
    ("spans", "counted"),
    [
        pytest.param([span(1, OPENINFERENCE), span(2, said("hello"), 1)], [2], id="a framework's around a client's"),
        pytest.param([span(2, said("hello"), 1), span(1, OPENINFERENCE)], [2], id="the inner one first"),
        pytest.param([span(1, OPENINFERENCE), span(2, CHAIN, 1), span(3, said("hello"), 2)], [3], id="one between"),
        pytest.param([span(1, OPENINFERENCE), span(2, CHAT, 1)], [1], id="the inner one without a text"),
        pytest.param([span(1, CHAT), span(2, said("hello"), 1)], [2], id="the outer one without a text"),
        pytest.param([span(1, OPENINFERENCE), span(2, said("a"), 1), span(3, said("b"), 1)], [2, 3], id="two inside"),
        pytest.param(
            [span(1, OPENINFERENCE), span(2, {"openinference.span.kind": "TOOL"}, 1), span(3, said("a"), 2)],
            [1, 3],
            id="a tool between: another call",
        ),
        pytest.param(
            [span(1, BROADCAST), span(2, {"span.type": "span"}, 1), span(3, {**CHAT, "error.type": "502"}, 1)],
            [1],
            id="OpenRouter's generation and its attempts",
        ),
        pytest.param(
            [
                span(1, {"ai.operationId": "ai.generateText", "ai.response.text": "hello"}),
                span(2, {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "hello"}, 1),
            ],
            [2],
            id="the AI SDK's span around its call",
        ),
        pytest.param([span(1, AGENT), span(2, said("a"), 1)], [2], id="an agent's span around a call"),
        pytest.param([span(1, said("a"), 2), span(2, said("b"), 1)], [1], id="spans around each other"),
    ],
)  # fmt: skip
def test_one_call_that_several_spans_tell_counts_once(spans: list[Any], counted: list[int]) -> None:
    assert [one.generation_id for one in generations(read(traces(*spans)))] == [hexed(each) for each in counted]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_call_told_by_two_spans_of_different_messages_counts_once(order: tuple[int, int]) -> None:
    values = [traces(span(1, OPENINFERENCE)), traces(span(2, said("hello"), 1))]
    items = read(*(values[at] for at in order))
    assert len(generations(items)) == 1
    assert [reason(item) for item in items if isinstance(item, Skipped)] == ["a copy of a response already read"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(traces(span(1, CHAT)), "a model call without its text", id="content capture is off"),
        pytest.param(traces(span(1, {"http.method": "POST"})), "no model call in it", id="another span"),
        pytest.param(
            traces(span(1, {**CHAT, "gen_ai.operation.name": "embeddings"})), "no model call", id="embeddings"
        ),
        pytest.param(traces(span(1, {**CHAT, "gen_ai.operation.name": "execute_tool"})), "no model call", id="a tool"),
        pytest.param(
            traces(span(1, {"openinference.span.kind": "CHAIN", "output.value": "x"})), "no model", id="a chain"
        ),
        pytest.param(logs(event(1, "gen_ai.user.message", {"content": "hi"})), "history", id="a message to the model"),
        pytest.param(
            logs(event(1, "gen_ai.choice", {"index": 0, "message": {}})), "without its text", id="a bare choice"
        ),
        pytest.param(logs(event(1, "started", "hi")), "no model call in it", id="another log record"),
        pytest.param({"resourceSpans": []}, "no model call in it", id="nothing"),
        pytest.param({"resourceLogs": [{}]}, "no model call in it", id="an empty resource"),
        pytest.param({"resourceMetrics": []}, "metrics, which hold no text", id="metrics"),
    ],
)
def test_what_holds_no_answer_is_skipped_with_the_reason(value: Any, why: str) -> None:
    (item,) = read(value)
    assert isinstance(item, Skipped)
    assert why in reason(item)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(7, id="a number"),
        pytest.param({"spans": []}, id="no spans"),
        pytest.param(traces(span(1, {**CHAT, "gen_ai.output.messages": "{x"})), id="an output that is no JSON"),
        pytest.param(traces(span(1, {**CHAT, "gen_ai.output.messages": "7"})), id="an output that is no list"),
        pytest.param(traces(span(1, said({"type": "tool_call"}))), id="a call without a name"),
        pytest.param(
            {"context": {"span_id": "1", "trace_id": "2"}, "attributes": "{x"}, id="attributes that are no JSON"
        ),
    ],
)
def test_what_is_not_understood_is_quarantined(value: Any) -> None:
    (item,) = read(value)
    assert isinstance(item, Quarantined)


def test_a_call_that_is_not_understood_does_not_hide_the_others_of_its_message() -> None:
    assert ids(traces(span(1, said({"type": "tool_call"})), span(2, said("hi")))) == [(hexed(2), "hi")]


@pytest.mark.parametrize(
    ("attributes", "rest", "expected"),
    [
        pytest.param({**CHAT, "error.type": "timeout"}, {}, ("timeout", None), id="a type"),
        pytest.param(CHAT, {"status": {"code": 2, "message": "boom"}}, (None, "boom"), id="a status"),
        pytest.param(
            CHAT,
            {
                "status": {"code": 2},
                "events": [{"name": "exception", "attributes": pairs({"exception.message": "boom"})}],
            },
            (None, "boom"),
            id="a status, and what was raised",
        ),
        pytest.param(CHAT, {"status": {"code": "STATUS_CODE_ERROR"}}, (None, None), id="a status by its name"),
    ],
)
def test_a_call_that_failed_is_an_error_without_an_output(attributes: Any, rest: Any, expected: Any) -> None:
    one = only(read(traces(span(1, attributes, **rest))))
    assert (one.status, one.content, one.finish_fidelity) == ("error", None, "absent")
    extra = one.model_extra or {}
    assert (extra.get("error_type"), extra.get("error")) == expected


@pytest.mark.parametrize("apart", [False, True])
def test_an_error_that_two_spans_tell_counts_once(apart: bool) -> None:
    failed = {**CHAT, "error.type": "timeout"}
    spans = [span(2, failed, 1), span(1, failed)]
    assert only(read(*map(traces, spans) if apart else [traces(*spans)])).status == "error"


def test_a_choice_may_come_before_its_span_and_another_after_it() -> None:
    found = generations(read(logs(choice(1, "a", 0)), traces(span(1, CHAT)), logs(choice(1, "b", 1))))
    assert [(one.generation_id, one.content, one.model) for one in found] == [
        (hexed(1), "a", "m"),
        (f"{hexed(1)}#1", "b", "m"),
    ]


def test_an_error_whose_text_stands_in_an_event_has_both() -> None:
    one = only(read(traces(span(1, {**CHAT, "error.type": "reset"})), logs(event(1, DETAILS, attributes=said("half")))))
    assert (one.status, one.content) == ("error", "half")


def test_what_was_noted_long_ago_is_forgotten() -> None:
    recent = Recent[int](4)
    for number in range(100):
        recent.note(number, number)
        assert recent.get(number) == number
        assert number < 1 or number - 1 in recent
        assert sum(each in recent for each in range(100)) <= 4
    assert 0 not in recent


def test_metrics_are_claimed_by_no_format() -> None:
    with pytest.raises(UnknownFormat):
        choose([{"resourceMetrics": [{"scopeMetrics": []}]}], "metrics.jsonl")


_PLACES = (
    "gen_ai.output.messages", "gen_ai.tool.definitions", "gen_ai.completion", "gen_ai.response.finish_reasons",
    "gen_ai.completion.0.content", "gen_ai.completion.0.tool_calls", "llm.request.functions.0", "llm.tools.0.tool",
    "llm.output_messages.0.message.contents.0", "llm.output_messages.0.message", "output.value", "input.value",
    "ai.response.text", "ai.response.toolCalls", "ai.prompt.tools", "ai.operationId", "openinference.span.kind",
    "llm.invocation_parameters", "session.id", "gen_ai.usage.input_tokens", "error.type", "gen_ai.operation.name",
)  # fmt: skip
attributes_like = st.dictionaries(
    st.sampled_from(_PLACES),
    json_values | st.sampled_from(["LLM", "chat", "ai.x.doStream", "[{}]", '[{"parts":[{"type":"text"', "{}"]),
    max_size=6,
)


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """Messages that look like OpenTelemetry's, with anything in their places."""
    attributes = draw(attributes_like)
    number, parent = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    where = draw(st.sampled_from(["span", "event", "bare", "batches", "jaeger", "odd"]))
    if where == "event":
        name = draw(st.sampled_from(["gen_ai.choice", DETAILS, "gen_ai.content.completion", "x"]))
        return logs(event(number, name, draw(json_values), attributes))
    if where == "bare":
        return {"context": draw(json_values) or {"trace_id": "1", "span_id": "2"}, "attributes": attributes}
    if where == "jaeger":
        tags = [{"key": key, "value": value} for key, value in attributes.items()]
        return {"data": [{"traceID": "1", "spans": [{"spanID": "2", "tags": tags}], "processes": {}}]}
    if where == "odd":
        return {"resourceSpans": [{"resource": draw(json_values), "scopeSpans": [{"spans": [draw(json_values)]}]}]}
    whole = traces(span(number, attributes, parent, status=draw(json_values), events=draw(json_values)))
    return whole if where == "span" else {"batches": whole["resourceSpans"]}


@given(values=st.lists(messages(), max_size=5))
@settings(deadline=None, max_examples=300)
def test_whatever_stands_in_a_message_is_answered_once(values: list[Any]) -> None:
    items = read(*values)
    assert sorted(item.line for item in items) == list(range(1, len(values) + 1))
    assert all(item.records for item in items if isinstance(item, Mapped))
    assert 0 <= OTLP.sniff(values) <= 1
