"""What a log record tells around the bodies in it: the run and the time."""

from typing import Any

from ingest.moments import moment
from ingest.openai_message import Fields

Object = dict[str, Any]

RUN_KEYS = ("run_id", "session_id", "trace_id", "conversation_id")
TIME_KEYS = ("timestamp", "created_at", "started_at", "startTime", "time", "ts", "request_created_at")


def run_named(record: Object, request: Object) -> str | None:
    """What the source calls the run: in the record, its metadata, or those of the request."""
    places = (record, record.get("metadata"), request.get("metadata"))
    named = (place.get(key) for place in places if isinstance(place, dict) for key in RUN_KEYS)
    return next((name for name in named if isinstance(name, str) and name), None)


def time_told(record: Object) -> Fields:
    """The time that the wrapper tells; the response's own, where it has one, counts more."""
    times = (moment(record.get(key)) for key in TIME_KEYS)
    told = next((time for time in times if time), None)
    return {"started_at": told} if told else {}
