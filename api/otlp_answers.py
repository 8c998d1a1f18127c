"""What an OTLP exporter is answered: messages of the protocol, in the encoding of its request.

OTLP 1.x, "OTLP/HTTP Response": a success carries the response of its service, with `partial_success` only where
something was rejected; every failure a `google.rpc.Status`, whoever noticed it.
"""

from typing import Any, Literal

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from pydantic_core import from_json
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from ingest.otlp.intake import Taken

PATHS = ("/v1/traces", "/v1/logs", "/v1/metrics")
PROTOBUF, JSON = "application/x-protobuf", "application/json"
NO_METRICS = "metrics hold no text of a model and are passed over; OTEL_METRICS_EXPORTER=none sends none"


def encoding_of(headers: Headers) -> str | None:
    """The encoding of a request, which its answer has too; None for one that OTLP has not."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind if kind in (PROTOBUF, JSON) else None


def success(encoding: str, signal: Literal["traces", "logs"], found: Taken) -> Response:
    """All was taken, or what was rejected."""
    if signal == "traces":
        spans = ExportTraceServiceResponse()
        if found.rejected:
            spans.partial_success.rejected_spans, spans.partial_success.error_message = found.rejected, found.why
        return _encoded(encoding, spans)
    records = ExportLogsServiceResponse()
    if found.rejected:
        records.partial_success.rejected_log_records, records.partial_success.error_message = found.rejected, found.why
    return _encoded(encoding, records)


def passed_over(encoding: str) -> Response:
    """Metrics are accepted, with a warning."""
    answer = ExportMetricsServiceResponse()
    answer.partial_success.error_message = NO_METRICS
    return _encoded(encoding, answer)


def _encoded(encoding: str, message: Message, status: int = 200) -> Response:
    if encoding == PROTOBUF:
        return Response(message.SerializeToString(), status, media_type=PROTOBUF)
    return Response(MessageToJson(message, indent=None), status, media_type=JSON)


def _failure(encoding: str, status: int, detail: str) -> bytes:
    told = Status(message=detail)
    if status == 400:
        told.details.add().Pack(BadRequest(field_violations=[BadRequest.FieldViolation(description=detail)]))
    return bytes(_encoded(encoding, told).body)


class Statuses:
    """The middleware that turns problem documents into `google.rpc.Status` where exporters send to."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a failure is told in the words of OTLP."""
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self.app(scope, receive, send)
            return
        encoding, start, body = encoding_of(Headers(scope=scope)) or JSON, dict[str, Any](), b""

        async def told(event: Event) -> None:
            nonlocal start, body
            if event["type"] == "http.response.start" and event["status"] >= 400:
                start = {**event}
            elif not start:
                await send(event)
            else:
                body += event.get("body", b"")
                if not event.get("more_body", False):
                    await _tell(send, encoding, start, body)

        await self.app(scope, receive, told)


async def _tell(send: Send, encoding: str, start: dict[str, Any], problem: bytes) -> None:
    body = _failure(encoding, start["status"], from_json(problem)["detail"])
    headers = MutableHeaders(scope=start)
    headers["content-type"], headers["content-length"] = encoding, str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})
