"""Braintrust's spans, as its SDK logs them and its API and exports give them.

Source: braintrust 0.48.1 and a recorded file. The wrapper of OpenAI's client keeps the messages as `input`, the choices
as `output` and every other parameter in `metadata`; the response's own model is lost. Rows with `_is_merge` are parts.
"""

from collections.abc import Sequence
from typing import Any

from ingest.bodies import Object, body_of
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.parts import Nesting
from ingest.shapes.traced import Traced
from ingest.shapes.wrapped import (
    CACHED,
    NESTED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    object_at,
    part,
    request_for,
    response_of,
    started,
    text,
    text_response,
    tokens,
    without_tools,
)

_PLACE = ("root_span_id", "_xact_id", "log_id", "project_id")


def recognises(value: Any) -> bool:
    """Whether `value` is a span, or a part of one."""
    if not isinstance(value, dict) or "id" not in value:
        return False
    return ("span_attributes" in value or "_is_merge" in value) and any(key in value for key in _PLACE)


def sniff(values: Sequence[Any]) -> float:
    """The share of spans."""
    return part(values, recognises, "events")


def _ended(span: Object) -> bool:
    return "span_attributes" in span and bool(span.get("output") or span.get("error"))


def _item(line: Line, models: Nesting) -> Item:
    span: Object = line.value
    if object_at(span, "span_attributes").get("type") != "llm":
        return Skipped(line.number, NO_CALL)
    parents = span.get("span_parents")
    names = span.get("span_id"), parents if isinstance(parents, list) else []
    if models.told_twice(*names):
        return Skipped(line.number, NESTED)
    if object_at(span, "metrics").get("cached") in (1, True):
        return Skipped(line.number, CACHED)
    try:
        item = _call(line, span)
    except ValueError as fault:
        return quarantined(line, str(fault))
    if isinstance(item, Mapped):
        models.tell(*names)
    return item


def _call(line: Line, span: Object) -> Item:
    output = span.get("output")
    decoded = unpacked(output)
    response = response_of(decoded)
    if response is None and isinstance(output, str) and output:
        response = text_response(output)
    error = span.get("error")
    if response is None and not error and decoded in (None, {}, []):
        return Skipped(line.number, NO_TEXT)
    asked = request_for(body_of(response) if response else None, unpacked(span.get("input")), span.get("metadata"))
    found = fields(asked, response, over=_over(span), under=_under(span), error=error, mended=line.mended)
    return mapped(line, found if _is_whole(span) else [without_tools(each) for each in found])


def _is_whole(span: Object) -> bool:
    """Whether all that was asked is in the metadata: the wrapper of a client, which leaves nothing out, logged it."""
    return not {"provider", "tools"}.isdisjoint(object_at(span, "metadata"))


def _over(span: Object) -> Fields:
    start = moment(object_at(span, "metrics").get("start")) or moment(span.get("created"))
    over: Fields = {"run_id": text(span, "root_span_id", "span_id", "id") or "unnamed"} | started(start)
    name = text(span, "span_id", "id")
    provider = text(object_at(span, "metadata"), "provider")
    return over | ({"generation_id": name} if name else {}) | ({"provider": provider} if provider else {})


def _under(span: Object) -> Fields:
    model = text(object_at(span, "metadata"), "model")
    usage = tokens(object_at(span, "metrics"), "prompt_tokens", "completion_tokens")
    return usage | ({"model": model} if model else {})


_TRACED = Traced(
    within="events",
    recognises=recognises,
    foreign="no span of Braintrust: span_attributes and a root_span_id are missing",
    ended=_ended,
    item=_item,
)
BRAINTRUST = Format(
    name="braintrust",
    title="Braintrust, spans (JSON Lines)",
    sniff=sniff,
    read=_TRACED.read,
    recognised="objects with an `id`, `span_attributes` (or `_is_merge`) and a `root_span_id`, `_xact_id`, `log_id` or "
    "`project_id`; also a list of them, or one under `events`",
    carries="exact text, reasoning, raw arguments, tools, finish reason, provider, usage, time, errors, trace",
    lacks="the model that answered (only the one asked for), system fingerprint and so the engine, retries",
    better="export whole spans, with `metadata` and `metrics`; a gateway's log tells the engine",
    example="""\
{"id":"r1","span_id":"s1","root_span_id":"s1","span_parents":null,"span_attributes":{"type":"task","name":"agent"},\
"input":"ls","output":"Two files.","created":"2026-11-01T10:00:00+00:00"}
{"id":"r2","span_id":"s2","root_span_id":"s1","span_parents":["s1"],"span_attributes":{"type":"llm","name":\
"Chat Completion"},"input":[{"role":"user","content":"ls"}],"output":[{"index":0,"finish_reason":"stop","message":\
{"role":"assistant","content":"Two files."}}],"metadata":{"provider":"openai","model":"m","tools":[{"type":"function",\
"function":{"name":"ls"}}]},"metrics":{"start":1796000000.5,"prompt_tokens":9,"completion_tokens":3}}
""",
)
