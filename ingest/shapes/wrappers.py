"""What a log record tells around the bodies in it: the run and the time."""

from typing import Any

from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields

Object = dict[str, Any]

RUN_KEYS = ("run_id", "session_id", "trace_id", "conversation_id", "Helicone-Session-Id")
_MODEL_KEYS = ("model", "modelId", "request_model")
_PROVIDER_KEYS = ("provider", "ai_org", "custom_llm_provider")
TIME_KEYS = ("timestamp", "created_at", "started_at", "startTime", "time", "ts", "request_created_at")


def run_named(record: Object, request: Object) -> str | None:
    """What the source calls the run: in the record, its metadata, or those of the request."""
    for place in (record, record.get("metadata"), record.get("request_properties"), request.get("metadata")):
        if isinstance(place, dict) and (name := _name(place, RUN_KEYS)):
            return name
    return None


def time_told(record: Object) -> Fields:
    """The time that the wrapper tells; the response's own, where it has one, counts more."""
    for key in TIME_KEYS:
        if key in record and (time := moment(record[key])):
            return {"started_at": time}
    return {}


def route_told(record: Object, fields: Fields, *, model: bool) -> Fields:
    """The provider, and the model if asked for, that the wrapper tells where the bodies do not."""
    told: Fields = {}
    if "provider" not in fields and (name := _name(record, _PROVIDER_KEYS)):
        told["provider"] = name
    if model and "model" not in fields and (name := _name(record, _MODEL_KEYS)):
        told["model"] = name
    return told


def _name(record: Object, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if isinstance(name := record.get(key), str) and name:
            return name
    return None
