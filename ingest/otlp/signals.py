"""Where spans and log records stand in a message: OTLP's own form, and those of exports.

OTLP/JSON (`resourceSpans`, `resourceLogs`), what Tempo answers (`batches`), Jaeger's `{data: [{spans, processes}]}`,
Phoenix's spans (one, a list, an envelope), and bare spans of the AI SDK.
"""

from collections.abc import Iterator
from typing import Any

from ingest.otlp import Event, Object, Span
from ingest.otlp.values import attributes_of, flat, hex_id, integer, moment_of, objects, opened, text, value_of
from ingest.shapes.moments import moment

TRACES, LOGS, METRICS = "resourceSpans", "resourceLogs", "resourceMetrics"
_SCOPES = ("scopeSpans", "instrumentationLibrarySpans")
_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")


def is_signal(value: Any) -> bool:
    """Whether `value` holds spans or log records in a form known here."""
    if isinstance(value, list):
        return bool(value) and all(is_bare_span(each) for each in value[:50])
    return isinstance(value, dict) and (
        _holds(value, TRACES, _SCOPES)
        or _holds(value, LOGS, ("scopeLogs", "instrumentationLibraryLogs"))
        or _holds(value, "batches", _SCOPES)
        or is_bare_span(value)
        or _is_envelope(value)
        or any(_is_jaeger(each) or is_bare_span(each) for each in objects(value.get("data")))
    )


def _holds(value: Object, key: str, inner: tuple[str, ...]) -> bool:
    found = objects(value.get(key))
    return any(isinstance(each.get(name), list) for each in found for name in inner)


def is_bare_span(value: Any) -> bool:
    """Whether `value` is one span of an export: Phoenix's, a console exporter's, or the AI SDK's."""
    if not isinstance(value, dict) or not isinstance(value.get("attributes"), dict | str):
        return False
    context = value.get("context")
    if isinstance(context, dict):
        return "span_id" in context and "trace_id" in context
    name = value.get("name")
    return isinstance(name, str) and name.startswith("ai.") and "ai.operationId" in value["attributes"]


def _is_envelope(value: Object) -> bool:
    spans = value.get("spans")
    return ("traceId" in value or "trace_id" in value) and isinstance(spans, list) and any(map(is_bare_span, spans))


def _is_jaeger(trace: Object) -> bool:
    return "traceID" in trace and isinstance(trace.get("spans"), list) and isinstance(trace.get("processes"), dict)


def spans_of(value: Any) -> Iterator[Span]:
    """The spans of a message."""
    if isinstance(value, list):
        yield from (_bare(each) for each in value if is_bare_span(each))
    elif is_bare_span(value):
        yield _bare(value)
    elif isinstance(value, dict):
        for key in (TRACES, "batches"):
            for resource in objects(value.get(key)):
                yield from _spans(resource)
        yield from (_bare(each) for each in objects(value.get("spans")) if is_bare_span(each))
        for each in objects(value.get("data")):
            if _is_jaeger(each):
                yield from _jaeger(each)
            elif is_bare_span(each):
                yield _bare(each)


def _spans(source: Object) -> Iterator[Span]:
    resource = _resource(source)
    for key in _SCOPES:
        for group in objects(source.get(key)):
            scope = group.get("scope") or group.get("instrumentationLibrary")
            name = text(scope.get("name")) if isinstance(scope, dict) else ""
            yield from (_span(span, resource, name) for span in objects(group.get("spans")))


def _resource(source: Object) -> Object:
    resource = source.get("resource")
    return attributes_of(resource.get("attributes")) if isinstance(resource, dict) else {}


def _span(span: Object, resource: Object, scope: str) -> Span:
    trace_id, span_id = hex_id(span.get("traceId"), 16), hex_id(span.get("spanId"), 8)
    status = span.get("status")
    failed = isinstance(status, dict) and status.get("code") in _FAILED
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=hex_id(span.get("parentSpanId"), 8),
        name=text(span.get("name")),
        started_at=moment_of(span.get("startTimeUnixNano")),
        attributes=attributes_of(span.get("attributes")),
        resource=resource,
        scope=scope,
        fault=text(status.get("message")) if failed and isinstance(status, dict) else None,
        events=tuple(_span_event(event, trace_id, span_id, resource) for event in objects(span.get("events"))),
    )


def _span_event(event: Object, trace_id: str, span_id: str, resource: Object) -> Event:
    attributes = attributes_of(event.get("attributes"))
    at = moment_of(event.get("timeUnixNano"))
    return Event(trace_id, span_id, text(event.get("name")), at, attributes, attributes, resource)


def _bare(span: Object) -> Span:
    """A span as Phoenix and the console exporters write it; its attributes may be nested, or JSON in a text."""
    context = span.get("context")
    context = context if isinstance(context, dict) else {}
    attributes, _ = opened(span["attributes"])
    status = span.get("status")
    code = status.get("status_code") if isinstance(status, dict) else span.get("status_code")
    message = status.get("description") if isinstance(status, dict) else span.get("status_message")
    trace_id, span_id = hex_id(context.get("trace_id"), 16), hex_id(context.get("span_id"), 8)
    resource = _resource(span)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=hex_id(span.get("parent_id"), 8),
        name=text(span.get("name")),
        started_at=moment(span.get("start_time")),
        attributes=flat(attributes) if isinstance(attributes, dict) else {},
        resource=resource,
        fault=text(message) if code in _FAILED else None,
        events=tuple(_span_event(event, trace_id, span_id, resource) for event in objects(span.get("events"))),
    )


def _jaeger(trace: Object) -> Iterator[Span]:
    for span in objects(trace.get("spans")):
        attributes = _tags(span.get("tags"))
        process = trace["processes"].get(text(span.get("processID")))
        process = process if isinstance(process, dict) else {}
        start = integer(span.get("startTime"))
        failed = attributes.get("error") is True or attributes.get("otel.status_code") == "ERROR"
        parents = [each for each in objects(span.get("references")) if each.get("refType") == "CHILD_OF"]
        yield Span(
            trace_id=hex_id(span.get("traceID"), 16),
            span_id=hex_id(span.get("spanID"), 8),
            parent_id=hex_id(parents[0].get("spanID"), 8) if parents else "",
            name=text(span.get("operationName")),
            started_at=moment_of(start * 1000) if start is not None else None,
            attributes=attributes,
            resource={"service.name": process.get("serviceName"), **_tags(process.get("tags"))},
            scope=text(attributes.get("otel.scope.name")),
            fault=text(attributes.get("otel.status_description")) if failed else None,
        )


def _tags(tags: Any) -> Object:
    return {tag["key"]: tag.get("value") for tag in objects(tags) if isinstance(tag.get("key"), str)}


def events_of(value: Any) -> Iterator[Event]:
    """The log records of a message."""
    for source in objects(value.get(LOGS)) if isinstance(value, dict) else ():
        resource = _resource(source)
        for key in ("scopeLogs", "instrumentationLibraryLogs"):
            for group in objects(source.get(key)):
                yield from (_event(record, resource) for record in objects(group.get("logRecords")))


def _event(record: Object, resource: Object) -> Event:
    attributes = attributes_of(record.get("attributes"))
    return Event(
        trace_id=hex_id(record.get("traceId"), 16),
        span_id=hex_id(record.get("spanId"), 8),
        name=text(record.get("eventName")) or text(attributes.get("event.name")),
        at=moment_of(record.get("timeUnixNano")) or moment_of(record.get("observedTimeUnixNano")),
        attributes=attributes,
        body=value_of(record.get("body")),
        resource=resource,
    )
