"""OpenTelemetry: what a span and a log record are, whatever carried them here.

`signals` finds them in a decoded message, `protobuf` decodes messages, `dialects` knows how each instrumentation
writes a model call, `facts` what is said beside it. Nothing here knows of files: a service that is sent the same
messages can use it as it is.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """A log record with a name, or an event of a span. The ids are hex, empty where there is none."""

    trace_id: str
    span_id: str
    name: str
    at: datetime | None
    attributes: Object
    body: Any
    resource: Object


@dataclass(frozen=True, slots=True)
class Span:
    """A span. The ids are hex, empty where there is none; `fault` is the message of a status that is an error."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    started_at: datetime | None
    attributes: Object
    resource: Object
    scope: str = ""
    fault: str | None = None
    events: tuple[Event, ...] = field(default=())
