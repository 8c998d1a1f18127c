"""Spans and log records for tests, in the shape of OTLP/JSON."""

import json
from collections.abc import Mapping
from typing import Any

from ingest.formats import Item
from ingest.formats.otlp import OTLP
from tests.ingest.samples import decoded

Object = dict[str, Any]

TRACE = "5b8efff798038103d269b633813fc60c"
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def any_value(value: Any) -> Object:
    """A value as an AnyValue."""
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [any_value(each) for each in value]}}
        case _:
            return {"kvlistValue": {"values": pairs(value)}}


def pairs(attributes: Mapping[str, Any]) -> list[Object]:
    """Attributes as a list of keys and values."""
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items()]


def span(number: int, attributes: Mapping[str, Any], parent: int = 0, **rest: Any) -> Object:
    """A span; its number tells its id and its time."""
    told = {"parentSpanId": f"{parent:016x}"} if parent else {}
    start = f"17960277{number:02}123456789"
    ids = {"traceId": TRACE, "spanId": f"{number:016x}", **told}
    return {**ids, "name": "a span", "startTimeUnixNano": start, "attributes": pairs(attributes), **rest}


def traces(*spans: Object, resource: Mapping[str, Any] | None = None, scope: str = "") -> Object:
    """A message of spans."""
    group = {"scope": {"name": scope}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": pairs(resource or {})}, "scopeSpans": [group]}]}


def event(number: int, name: str, body: Any = None, attributes: Mapping[str, Any] | None = None) -> Object:
    """A log record of the span of that number."""
    ids = {"traceId": TRACE, "spanId": f"{number:016x}", "eventName": name}
    return {**ids, "body": any_value(body), "attributes": pairs(attributes or {})}


def logs(*records: Object) -> Object:
    """A message of log records."""
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def choice(number: int, content: str, index: int = 0, **rest: Any) -> Object:
    """A `gen_ai.choice` of the retired conventions."""
    message = {"role": "assistant", "content": content}
    return event(number, "gen_ai.choice", {"index": index, "finish_reason": "stop", "message": message, **rest})


def said(*parts: Any, **rest: Any) -> Object:
    """The output of the current conventions with one message of `parts`; a text stands for a text part."""
    told = [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts]
    message = {"role": "assistant", "parts": told, "finish_reason": "stop", **rest}
    return {**CHAT, "gen_ai.output.messages": json.dumps([message])}


def read(*values: Any) -> list[Item]:
    """What became of messages."""
    return list(OTLP.read(decoded(*values)))
