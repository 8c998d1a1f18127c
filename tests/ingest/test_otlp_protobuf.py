"""OTLP in protobuf: the same content as OTLP/JSON, or a reason why not."""

import json
from base64 import b64encode
from typing import Any

import pytest
import zstandard
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ingest.otlp.protobuf import NO_METRICS, NO_OTLP, looks_like, messages_of
from tests.ingest.otlp_signals import CHAT, choice, logs, read, said, span, traces
from tests.ingest.samples import generations, shared_log

TRACES = traces(span(1, said("hi"), kind=3, status={"code": 2}), span(2, CHAT, 9), resource={"service.name": "agent"})
LOGS = logs(choice(2, "ho"))
METRIC = {"name": "m", "unit": "s", "gauge": {"dataPoints": [{"asInt": "1"}]}}
METRICS = {"resourceMetrics": [{"resource": {}, "scopeMetrics": [{"metrics": [METRIC]}]}]}


def encoded(message: dict[str, Any]) -> bytes:
    """A message in protobuf, whose JSON wants ids in Base64."""
    kinds: dict[str, Any] = {"resourceSpans": ExportTraceServiceRequest, "resourceLogs": ExportLogsServiceRequest}
    kind = kinds.get(next(iter(message)), ExportMetricsServiceRequest)
    data: bytes = ParseDict(in_base64(message), kind()).SerializeToString()
    return data


def in_base64(value: Any) -> Any:
    if isinstance(value, list):
        return [in_base64(each) for each in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    turned = {key: b64encode(bytes.fromhex(each)).decode() for key, each in value.items() if key in ids}
    return {key: in_base64(each) for key, each in value.items()} | turned


def framed(*messages: bytes) -> bytes:
    """Messages as the Collector writes them into a file."""
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def squeezed(message: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(message)


def without_empty(value: Any) -> Any:
    """A message without what protobuf does not tell from its absence."""
    if isinstance(value, list):
        return [without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: without_empty(each) for key, each in value.items() if each not in ("", [])}


@pytest.mark.parametrize("message", [pytest.param(TRACES, id="spans"), pytest.param(LOGS, id="log records")])
def test_a_request_is_the_message_that_json_would_be(message: dict[str, Any]) -> None:
    assert messages_of(encoded(message)) == [without_empty(message)]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(framed(encoded(TRACES), encoded(LOGS)), id="lengths before the messages"),
        pytest.param(framed(squeezed(encoded(TRACES)), squeezed(encoded(LOGS))), id="each compressed"),
        pytest.param(framed(*(squeezed(json.dumps(each).encode()) for each in (TRACES, LOGS))), id="JSON, compressed"),
    ],
)
def test_a_file_of_the_collector_holds_several(data: bytes) -> None:
    assert looks_like(data[:64])
    found = generations(read(*messages_of(data)))
    assert [(one.content, one.model) for one in found] == [("hi", "m"), ("ho", "m")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(encoded(METRICS), NO_METRICS, id="metrics"),
        pytest.param(framed(encoded(METRICS)), NO_METRICS, id="metrics in a file of the Collector"),
        pytest.param(encoded(TRACES)[:-9], NO_OTLP, id="a request that was cut"),
        pytest.param(framed(encoded(TRACES), encoded(LOGS))[:-9], "middle of a message", id="a file that was cut"),
        pytest.param(framed(encoded(TRACES)) + b"\0\0", NO_OTLP, id="bytes left over"),
        pytest.param(framed(squeezed(encoded(TRACES))[:-20]), NO_OTLP, id="a frame that was cut"),
        pytest.param(framed(b"\x28\xb5\x2f\xfdxxxxxxxx"), "no valid zstd", id="a frame that is none"),
        pytest.param(framed(squeezed(b"\n" * (65 * 2**20))), "longer than 64 MiB", id="a bomb"),
        pytest.param(framed(squeezed(b"{x")), "column 2", id="JSON that is none"),
        pytest.param(b"\n\n\n", NO_OTLP, id="blank lines"),
        pytest.param(b"hello, world", NO_OTLP, id="a text"),
        pytest.param(b"\0\0\0\0", NO_OTLP, id="zeros"),
    ],
)
def test_what_is_no_otlp_is_told(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        messages_of(data)


def test_nothing_holds_no_message() -> None:
    assert messages_of(b"") == []
    assert not looks_like(b"")


@pytest.mark.parametrize("data", [encoded(TRACES), encoded(LOGS), framed(encoded(TRACES)), encoded(METRICS)])
def test_the_first_bytes_give_it_away(data: bytes) -> None:
    assert looks_like(data[:16])


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b'{"resourceSpans": []}', id="JSON"),
        pytest.param(b"\n\n\n\n\n\n{}", id="blank lines"),
        pytest.param(b"\n  {\n  }", id="a blank line before JSON"),
        pytest.param(b"PK\x03\x04\x14\0\0\0\x08\0", id="zip"),
        pytest.param(b"\x1f\x8b\x08\0\0\0\0\0", id="gzip"),
        pytest.param(b"\x28\xb5\x2f\xfd\0\0\0\0", id="zstd"),
        pytest.param(b"\0\0\0\0\0\0\0\0", id="zeros"),
        pytest.param(b"SQLite format 3\0", id="SQLite"),
        pytest.param(b"PAR1\x15\x04\x15\x10", id="Parquet"),
        pytest.param(b"data: {}\n\n", id="an event stream"),
    ],
)
def test_other_files_do_not_look_like_it(head: bytes) -> None:
    assert not looks_like(head)


@given(data=st.binary() | st.binary().map(lambda data: b"\x0a" + data) | st.binary(min_size=1).map(framed))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    looks_like(data)
    try:
        assert all(isinstance(each, dict) for each in messages_of(data))
    except ValueError as fault:
        assert str(fault)  # noqa: PT017 - either may happen


@pytest.mark.parametrize("name", ["otel-current-span_only.traces", "otel-current-event_only.traces"])
def test_a_recorded_request_is_what_was_recorded_as_json(name: str) -> None:
    data = shared_log(f"otlp/{name}.pb").read_bytes()
    (recorded,) = shared_log(f"otlp/{name}.jsonl").read_text().splitlines()
    assert looks_like(data[:16])
    (found,) = messages_of(data)
    (ours,), (theirs,) = read(found), read(json.loads(recorded))
    assert ours == theirs
