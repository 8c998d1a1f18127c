"""OTLP in protobuf: requests as they are sent, and the Collector's files of them.

The Collector's file exporter puts four bytes before each message, its length, big-endian; with compression on,
each message is a zstd frame of protobuf or JSON. A request says nowhere whether it holds spans or log records,
and each parses as the other: the lengths of the ids and the fields left over tell.
"""

from base64 import b64decode
from collections.abc import Iterator
from typing import Any, TypeVar

import zstandard
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from pydantic_core import from_json

from ingest.otlp import Object
from ingest.otlp.values import objects

LONGEST = 64 * 2**20
"""Bytes of one message, decompressed."""
PREFIX = 4
"""Bytes before each message in a file of the Collector."""
NO_OTLP = "not OTLP: neither a request with spans or log records in protobuf, nor a file of them"
NO_METRICS = "OTLP metrics hold no text of a model: upload the traces and the logs"
_ZSTD = b"\x28\xb5\x2f\xfd"
_FIRST = 0x0A
"""The tag of field 1, a message: every request begins with it."""
_IDS = ("traceId", "spanId", "parentSpanId")

Request = TypeVar("Request")


def looks_like(head: bytes) -> bool:
    """Whether a file that begins with `head` (a few dozen bytes) may be OTLP in protobuf."""
    if _begins_request(head):
        return True
    length = int.from_bytes(head[:PREFIX], "big")
    if len(head) <= PREFIX or not 0 < length <= LONGEST:
        return False
    return head[PREFIX:].startswith(_ZSTD) or _begins_request(head[PREFIX:], length)


def _begins_request(head: bytes, length: int | None = None) -> bool:
    """Field 1 with a message in it, which begins with its own field 1, 2 or 3, each no longer than what holds it."""
    if not head or head[0] != _FIRST:
        return False
    outer, at = _varint(head, 1)
    if outer == 0 or (length is not None and at + outer > length) or at + 1 >= len(head) or head[at] not in b"\x0a\x12":
        return False
    inner, end = _varint(head, at + 1)
    return end - at + inner <= outer


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and where it ends; 0 for one that does not end."""
    value = 0
    for shift, byte in enumerate(data[at : at + 5]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, at + shift + 1
    return 0, at


def messages_of(data: bytes) -> list[Object]:
    """The messages of a request or of a Collector's file, in the shape of OTLP/JSON. ValueError for what is none."""
    return [message_of(frame) for frame in frames(data)]


def frames(data: bytes) -> Iterator[bytes]:
    """The messages of a file, each still encoded: one, or those between the lengths. ValueError if it is cut."""
    if data[:1] == bytes([_FIRST]):
        yield data
        return
    at = 0
    while at < len(data):
        end = at + PREFIX + int.from_bytes(data[at : at + PREFIX], "big")
        if at + PREFIX >= end:
            raise ValueError(NO_OTLP)
        if end > len(data):
            raise ValueError("OTLP in protobuf that ends in the middle of a message (a cut copy?)" if at else NO_OTLP)
        yield data[at + PREFIX : end]
        at = end


def message_of(frame: bytes) -> Object:
    """One message in the shape of OTLP/JSON: ids in hex, 64-bit integers as strings. ValueError for what is none."""
    if frame.startswith(_ZSTD):
        frame = _decompressed(frame)
    if len(frame) > LONGEST:
        raise ValueError(f"a message is longer than {LONGEST >> 20} MiB")
    if frame.startswith(b"{"):
        value: Object = from_json(frame, allow_inf_nan=False)
        return value
    request = _traces(frame) or _logs(frame)
    if request is None:
        raise ValueError(NO_METRICS if _is_metrics(frame) else NO_OTLP)
    return _as_object(request)


def _decompressed(frame: bytes) -> bytes:
    try:
        with zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(frame, read_across_frames=True) as reader:
            data: bytes = reader.read(LONGEST + 1)
    except zstandard.ZstdError as fault:
        raise ValueError(f"a message is no valid zstd: {fault}") from None
    return data


def _parsed(kind: type[Request], frame: bytes) -> Request | None:
    try:
        request: Request = kind.FromString(frame)  # type: ignore[attr-defined]
        return request
    except DecodeError:
        return None


def _traces(frame: bytes) -> ExportTraceServiceRequest | None:
    request = _parsed(ExportTraceServiceRequest, frame)
    if request is None or not request.resource_spans:
        return None
    spans = [span for each in request.resource_spans for group in each.scope_spans for span in group.spans]
    return request if spans and all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans) else None


def _logs(frame: bytes) -> ExportLogsServiceRequest | None:
    request = _parsed(ExportLogsServiceRequest, frame)
    if request is None or not request.resource_logs:
        return None
    records = [record for each in request.resource_logs for group in each.scope_logs for record in group.log_records]
    sound = all(len(record.trace_id) in (0, 16) and not len(UnknownFieldSet(record)) for record in records)
    return request if records and sound else None


def _is_metrics(frame: bytes) -> bool:
    request = _parsed(ExportMetricsServiceRequest, frame)
    groups = [group for each in request.resource_metrics for group in each.scope_metrics] if request else []
    metrics = [metric for group in groups for metric in group.metrics]
    return bool(metrics) and all(metric.name for metric in metrics)


def _as_object(request: ExportTraceServiceRequest | ExportLogsServiceRequest) -> Object:
    """A request as JSON. Protobuf's own converter is slow at the many small messages that attributes are: they are
    taken out before and put in after it.
    """
    taken = [_taken(record) for record in _records_in(request)]
    found: Object = MessageToDict(request, use_integers_for_enums=True)
    for record, parts in zip(_records(found), taken, strict=True):
        record |= parts
        for each in (record, *objects(record.get("links"))):
            each |= {key: b64decode(each[key]).hex() for key in _IDS if key in each}
    return found


def _records_in(request: Any) -> Iterator[Any]:
    """All that has attributes: resources, spans, log records."""
    spans = isinstance(request, ExportTraceServiceRequest)
    for each in request.resource_spans if spans else request.resource_logs:
        if each.HasField("resource"):
            yield each.resource
        for group in each.scope_spans if spans else each.scope_logs:
            yield from group.spans if spans else group.log_records


def _records(request: Object) -> Iterator[Object]:
    """The same, of the request as JSON."""
    for each in objects(request.get("resourceSpans")) + objects(request.get("resourceLogs")):
        if "resource" in each:
            yield each["resource"]
        for group in objects(each.get("scopeSpans")) + objects(each.get("scopeLogs")):
            yield from objects(group.get("spans")) + objects(group.get("logRecords"))


def _taken(record: Any) -> Object:
    """The attributes of a record, and its body, which it then lacks."""
    taken: Object = {}
    if record.attributes:
        taken["attributes"] = _pairs(record.attributes)
        record.ClearField("attributes")
    if isinstance(record, LogRecord) and record.HasField("body"):
        taken["body"] = _any_value(record.body)
        record.ClearField("body")
    return taken


def _pairs(attributes: Any) -> list[Object]:
    return [{"key": each.key, "value": _any_value(each.value)} for each in attributes]


def _any_value(value: Any) -> Object:
    match value.WhichOneof("value"):
        case "string_value":
            return {"stringValue": value.string_value}
        case "int_value":
            return {"intValue": str(value.int_value)}
        case "bool_value":
            return {"boolValue": value.bool_value}
        case "array_value":
            return {"arrayValue": {"values": [_any_value(each) for each in value.array_value.values]}}
        case "kvlist_value":
            return {"kvlistValue": {"values": _pairs(value.kvlist_value.values)}}
        case _:
            other: Object = MessageToDict(value)
            return other
