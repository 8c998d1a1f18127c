"""What an exporter sends in one request, made ready to be kept: split by service, without what nobody will look at.

A span that is no model call is kept as the place where it stands, since it may stand between a framework's span and
that of its client; other log records than those of a model call are passed over. What could not be read later is
rejected now, and kept apart to be quarantined.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_core import to_json

from ingest.files.containers import RawLine
from ingest.files.jsonlines import decode
from ingest.formats import Line, Quarantined
from ingest.otlp import Object, told
from ingest.otlp.dialects import replies
from ingest.otlp.joining import Joining
from ingest.otlp.protobuf import request_of
from ingest.otlp.signals import LOGS, TRACES, events_of, spans_of
from ingest.otlp.values import attributes_of, objects, text

Signal = Literal["traces", "logs"]
UNNAMED = "unknown_service"
"""What OpenTelemetry's SDKs call a service that nobody named."""
OTHERS = "other services"
MOST_SERVICES = 100
"""Services of one request that are told apart."""
LONGEST_NAME = 200
"""Characters of a service's name."""
_STANDING = ("traceId", "spanId", "parentSpanId", "name", "startTimeUnixNano")
_TELLING = ("openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name")
"""What `ingest.otlp.families` needs of a span that is no model call."""
_KEYS = {
    "traces": (TRACES, "scopeSpans", "spans"),
    "logs": (LOGS, "scopeLogs", "logRecords"),
}


@dataclass(frozen=True, slots=True)
class Message:
    """What one service sent in a request, in the shape of OTLP/JSON. `mended`: half surrogate pairs were replaced."""

    service: str
    value: Object
    mended: bool = False


@dataclass(slots=True)
class Taken:
    """A request: the messages to keep, how many spans or log records were rejected, and why the first of them was."""

    messages: list[Message] = field(default_factory=list)
    rejected: int = 0
    why: str = ""


def taken(body: bytes, signal: Signal, *, as_json: bool) -> Taken:
    """What a request of `signal`, a body in JSON or protobuf, brings. ValueError for what cannot be decoded."""
    value, mended = _of_json(body) if as_json else (request_of(body, signal), False)
    top, _, _ = _KEYS[signal]
    resources = value.get(top, [])
    if not isinstance(resources, list) or len(objects(resources)) < len(resources):
        raise ValueError(f"`{top}` is no list of objects")
    found, kept = Taken(), dict[tuple[str, bool], list[Object]]()
    for resource in resources:
        service = _service(resource)
        if (service, True) not in kept and len(kept) >= 2 * MOST_SERVICES:
            service = OTHERS
        for sound, part in zip((True, False), _sorted(resource, signal, found), strict=True):
            kept.setdefault((service, sound), []).extend(part)
    found.messages = [Message(service, {top: parts}, mended) for (service, _), parts in kept.items() if parts]
    return found


def _of_json(body: bytes) -> tuple[Object, bool]:
    if not body:
        raise ValueError("an empty body is no JSON")
    [line] = decode([RawLine(1, body)])
    if isinstance(line, Line) and isinstance(line.value, dict):
        return line.value, line.mended
    raise ValueError("a request is a JSON object" if isinstance(line, Line) else line.why)


def _service(resource: Object) -> str:
    said = resource.get("resource")
    name = attributes_of(said.get("attributes")).get("service.name") if isinstance(said, dict) else None
    return text(name)[:LONGEST_NAME] or UNNAMED


def _sorted(resource: Object, signal: Signal, found: Taken) -> tuple[list[Object], list[Object]]:
    """A resource with its sound spans or log records, and the same with those that are rejected; each may be none."""
    _, scopes, items = _KEYS[signal]
    kept: tuple[list[Object], list[Object]] = [], []
    for scope in objects(resource.get(scopes)):
        inside = scope.get(items)
        sides: tuple[list[Any], list[Any]] = [], []
        for each in inside if isinstance(inside, list) else []:
            one = {**resource, scopes: [{**scope, items: [each]}]}
            if why := _fault(each, {_KEYS[signal][0]: [one]}):
                found.rejected, found.why = found.rejected + 1, found.why or why
                sides[1].append(each)
            elif slim := _slimmed(each, {_KEYS[signal][0]: [one]}, signal):
                sides[0].append(slim)
        for side, parts in zip(sides, kept, strict=True):
            if side:
                parts.append({**resource, scopes: [{**scope, items: side}]})
    return kept


def _fault(item: Any, alone: Object) -> str | None:
    """Why a span or log record could not be read, if it could not; `alone` is a message with nothing else."""
    if not isinstance(item, dict):
        return "a span or log record is no object"
    return next((read.why for read in _read(alone) if isinstance(read, Quarantined)), None)


def _read(alone: Object) -> Iterator[Any]:
    joining = Joining()
    yield from joining.read(Line(1, alone, b""))
    yield from joining.finish()


def _slimmed(item: Object, alone: Object, signal: Signal) -> Object | None:
    """A span or log record with no more than is looked at; None for nothing."""
    if signal == "logs":
        return item if any(told.tells(event) for event in events_of(alone)) else None
    [span] = spans_of(alone)
    if replies(span) is not None:
        return item
    telling = [each for each in objects(item.get("attributes")) if each.get("key") in _TELLING]
    return {key: item[key] for key in _STANDING if key in item} | {"attributes": telling}


def spelled(message: Message) -> bytes:
    """A message as JSON."""
    return to_json(message.value)
