"""What is kept of a request of an exporter, what is passed over, what is rejected."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.otlp.intake import MOST_SERVICES, OTHERS, Signal, Taken, taken
from tests.ingest.otlp_signals import CHAT, Object, choice, event, logs, said, span, traces

SCOPE: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
BAD = {**CHAT, "gen_ai.output.messages": "[}"}
RETRIEVAL = {"db.statement": "SELECT secret", "gen_ai.operation.name": "execute_tool"}


def took(value: Any, signal: Signal = "traces") -> Taken:
    return taken(json.dumps(value).encode(), signal, as_json=True)


def kept(found: Taken, signal: Signal = "traces") -> list[list[Object]]:
    """The spans or log records of each message."""
    top, scopes, items = SCOPE[signal]
    return [
        [each for resource in message.value[top] for scope in resource[scopes] for each in scope[items]]
        for message in found.messages
    ]


@pytest.mark.parametrize(
    ("value", "signal", "kept_spans", "rejected"),
    [
        pytest.param({}, "traces", [], 0, id="nothing"),
        pytest.param(traces(span(1, said("x"))), "traces", [[1]], 0, id="a model call"),
        pytest.param(traces(span(1, CHAT)), "traces", [[1]], 0, id="a model call whose text may come"),
        pytest.param(traces(span(1, said("x")), span(2, {})), "traces", [[1, 2]], 0, id="and another span"),
        pytest.param(traces(span(1, BAD)), "traces", [[1]], 1, id="a text that is no JSON"),
        pytest.param(traces(span(1, said("x")), span(2, BAD)), "traces", [[1], [2]], 1, id="one of two, kept apart"),
        pytest.param(logs(choice(1, "x")), "logs", [[1]], 0, id="a choice"),
        pytest.param(logs(event(1, "app.started", "hello")), "logs", [], 0, id="another log record"),
        pytest.param(logs(event(1, "gen_ai.user.message", {"content": "q"})), "logs", [], 0, id="history"),
        pytest.param(logs(event(2, "x"), choice(1, "x")), "logs", [[1]], 0, id="a choice beside another"),
    ],
)
def test_what_is_kept(value: Any, signal: Signal, kept_spans: list[list[int]], rejected: int) -> None:
    found = took(value, signal)
    assert [[int(each["spanId"], 16) for each in part] for part in kept(found, signal)] == kept_spans
    assert found.rejected == rejected
    assert bool(found.why) is bool(rejected)


def test_of_a_span_that_is_no_model_call_its_place_is_kept() -> None:
    [[slim]] = kept(took(traces(span(2, RETRIEVAL, parent=1))))
    assert slim["parentSpanId"] == f"{1:016x}"
    assert [each["key"] for each in slim["attributes"]] == ["gen_ai.operation.name"]


def test_each_service_has_a_message_of_its_own() -> None:
    parts = [traces(span(at, said("x")), resource={"service.name": f"s{at % 2}"})["resourceSpans"] for at in range(4)]
    found = took({"resourceSpans": [each for part in parts for each in part]})
    assert [message.service for message in found.messages] == ["s0", "s1"]
    assert [len(part) for part in kept(found)] == [2, 2]


def test_services_beyond_count_are_one() -> None:
    names = [f"s{at}" for at in range(MOST_SERVICES + 5)]
    parts = [traces(span(at, said("x")), resource={"service.name": name}) for at, name in enumerate(names)]
    found = took({"resourceSpans": [each for part in parts for each in part["resourceSpans"]]})
    assert [message.service for message in found.messages] == [*names[:MOST_SERVICES], OTHERS]


@pytest.mark.parametrize(
    ("body", "as_json", "why"),
    [
        pytest.param(b"\xff\xff", False, "no request with spans", id="no protobuf"),
        pytest.param(b"{", True, "ends in the middle", id="cut JSON"),
        pytest.param(b"", True, "empty", id="nothing as JSON"),
        pytest.param(b"[]", True, "a JSON object", id="a list"),
        pytest.param(b'{"resourceSpans":{}}', True, "no list", id="an object where a list belongs"),
        pytest.param(b'{"resourceSpans":[1]}', True, "no list of objects", id="a number in the list"),
        pytest.param(b'{"a":' * 300 + b"1" + b"}" * 300, True, "nested deeper than 200", id="too deep"),
    ],
)
def test_what_cannot_be_decoded(body: bytes, as_json: bool, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        taken(body, "traces", as_json=as_json)


def test_an_empty_request_in_protobuf_is_one() -> None:
    assert taken(b"", "traces", as_json=False) == Taken()


@given(data=st.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    for signal in SCOPE:
        for as_json in (True, False):
            try:
                found = taken(data, signal, as_json=as_json)
            except ValueError:
                continue
            assert found.rejected >= 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["resource", "scopeSpans", "spans", "attributes", "key", "value", "stringValue", "traceId"]),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(value=JSON)
def test_any_json_is_answered(value: Any) -> None:
    try:
        found = took({"resourceSpans": value})
    except ValueError:
        return
    assert len(found.messages) <= 2 * (MOST_SERVICES + 1)
