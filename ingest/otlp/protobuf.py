"""OTLP in protobuf: requests as they are sent, and the Collector's files of them.

The Collector's file exporter puts four bytes before each message, its length, big-endian; with compression on,
each message is a zstd frame of protobuf or JSON. A request says nowhere whether it holds spans or log records,
and each parses as the other: the lengths of the ids and the fields left over tell.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, TypeVar

import zstandard
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic_core import from_json

from ingest.otlp import Object

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


def request_of(body: bytes, signal: Literal["traces", "logs"]) -> Object:
    """A request whose address tells what it holds, in the shape of OTLP/JSON. ValueError for what is none."""
    kind = ExportTraceServiceRequest if signal == "traces" else ExportLogsServiceRequest
    request = _parsed(kind, body)
    if request is None:
        raise ValueError(f"no request with {'spans' if signal == 'traces' else 'log records'} of OTLP in protobuf")
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


Converter = Callable[[Any], Any]


def _as_object(message: Any) -> Object:
    """A message as JSON. Protobuf's own converter asks again of each value what its field is."""
    converters = _converters(message.DESCRIPTOR)
    found: Object = {}
    for field, value in message.ListFields():
        name, convert = converters[field.number]
        found[name] = convert(value)
    return found


@cache
def _converters(kind: Any) -> dict[int, tuple[str, Converter]]:
    """The JSON name of each field of a kind of message, and what makes JSON of its value; by number."""
    return {field.number: (field.json_name, _converter(field)) for field in kind.fields}


def _converter(field: Any) -> Converter:
    if field.json_name == "attributes":
        return _pairs
    one = _of_one(field)
    return (lambda values: [one(each) for each in values]) if field.is_repeated else one


def _of_one(field: Any) -> Converter:
    if field.message_type:
        return _any_value if field.message_type.name == "AnyValue" else _as_object
    if field.type == field.TYPE_BYTES:
        return bytes.hex if field.json_name in _IDS else lambda value: b64encode(value).decode()
    return str if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else lambda value: value


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
