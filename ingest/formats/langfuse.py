"""Langfuse's observations: rows of the blob export (v2), observations of the API, traces with theirs, SDK batches.

Source: langfuse-docs "blob storage export fields" (times are UTC without a zone) and langfuse 5.0.4. `input` and
`output` are whatever the SDK stored, in rows as JSON in strings. `{type: "generation-create", body}` begins an
observation that a later event may complete.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined
from ingest.formats.litellm import REDACTED
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.parts import Nesting, Parts
from ingest.shapes.wrapped import (
    NESTED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    object_at,
    part,
    response_of,
    spread,
    started,
    text,
    text_response,
    tokens,
)

_EVENTS = (
    "generation-create", "generation-update", "observation-create", "observation-update", "span-create", "span-update",
    "event-create", "trace-create", "score-create", "sdk-log",
)  # fmt: skip
_PLACE = (
    "parent_observation_id", "parentObservationId", "provided_model_name", "providedModelName", "usage_details",
    "usageDetails", "modelParameters",
)  # fmt: skip


def recognises(value: Any) -> bool:
    """Whether `value` is an observation, a trace with its observations, or an event of an SDK."""
    match value:
        case {"observations": [dict() as first, *_]}:
            return "id" in value and _is_observation(first)
        case {"type": str() as kind, "body": dict()}:
            return kind in _EVENTS
        case dict():
            return _is_observation(value)
        case _:
            return False


def _is_observation(value: Object) -> bool:
    traced = "trace_id" in value or "traceId" in value
    return traced and isinstance(value.get("type"), str) and any(key in value for key in _PLACE)


def sniff(values: Sequence[Any]) -> float:
    """The share of such records."""
    return part(values, recognises, "batch")


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """Every observation, those of a trace one by one."""
    parts, models = Parts(_ended), Nesting()
    for line in _observations(spread(iter(lines), "batch")):
        if isinstance(line, Skipped):
            yield line
        elif not isinstance(line.value, dict) or not isinstance(line.value.get("type"), str):
            yield quarantined(line, "no observation of Langfuse: it has no type and trace")
        else:
            for each in parts.add(line, line.value.get("id")):
                yield each if isinstance(each, Skipped) else _item(each, models)
    for each in parts.rest():
        yield _item(each, models)


def _observations(lines: Iterator[Line]) -> Iterator[Line | Skipped]:
    for line in lines:
        match line.value:
            case {"observations": [_, *_] as inner}:
                own = {"sessionId": line.value.get("sessionId"), "traceId": line.value.get("id")}
                for each in inner:
                    yield replace(line, value={**own, **each} if isinstance(each, dict) else each)
            case {"type": str() as kind, "body": dict() as body}:
                yield _of_event(line, kind, body)
            case _:
                yield line


def _of_event(line: Line, kind: str, body: Object) -> Line | Skipped:
    if not kind.startswith(("generation-", "observation-")):
        return Skipped(line.number, NO_CALL)
    return replace(line, value={**body, **({"type": "GENERATION"} if kind.startswith("generation-") else {})})


def _ended(seen: Object) -> bool:
    return _told(seen, "output") not in (None, "") or seen.get("level") == "ERROR" or seen.get("type") != "GENERATION"


def _told(seen: Object, *keys: str) -> Any:
    """What stands under the first of `keys` that has a value."""
    return next((seen[key] for key in keys if seen.get(key) is not None), None)


def _item(line: Line, models: Nesting) -> Item:
    seen: Object = line.value
    if seen.get("type") != "GENERATION":
        return Skipped(line.number, NO_CALL)
    names = seen.get("id"), [_told(seen, "parent_observation_id", "parentObservationId")]
    if models.told_twice(*names):
        return Skipped(line.number, NESTED)
    try:
        item = _call(line, seen)
    except ValueError as fault:
        return quarantined(line, str(fault))
    if isinstance(item, Mapped):
        models.tell(*names)
    return item


def _call(line: Line, seen: Object) -> Item:
    output = seen.get("output")
    response = response_of(unpacked(output))
    if response is None and isinstance(output, str) and output:
        response = text_response(output)
    error = (text(seen, "status_message", "statusMessage") or "error") if seen.get("level") == "ERROR" else None
    if response is None and not error and output in (None, "", {}, []):
        return Skipped(line.number, NO_TEXT)
    asked, under = _request(seen), _under(seen)
    found = fields(asked, response, over=_over(seen), under=under, error=error, mended=line.mended)
    return mapped(line, [_as_masked(each) for each in found])


def _as_masked(each: Fields) -> Fields:
    return {**each, "text_fidelity": "redacted"} if REDACTED in (each.get("content"), each.get("reasoning")) else each


def _request(seen: Object) -> Object | None:
    """The input if it is a whole request; with a mere list of messages the tools that Langfuse found in it, if any."""
    asked = unpacked(seen.get("input"))
    if isinstance(asked, dict):
        return asked
    tools = _tools(_told(seen, "tool_definitions", "toolDefinitions"))
    return {"messages": asked if isinstance(asked, list) else [], "tools": tools} if tools else None


def _tools(told: Any) -> list[Any]:
    told = unpacked(told)
    tools = [unpacked(tool) for tool in told.values()] if isinstance(told, dict) else []
    return [{"name": name, **tool} for name, tool in zip(told or (), tools, strict=True) if isinstance(tool, dict)]


def _over(seen: Object) -> Fields:
    run = text(seen, "session_id", "sessionId") or text(seen, "trace_id", "traceId") or text(seen, "id")
    over: Fields = {"run_id": run or "unnamed"} | started(moment(_told(seen, "start_time", "startTime")))
    return over | ({"generation_id": seen["id"]} if text(seen, "id") else {})


def _under(seen: Object) -> Fields:
    model = text(seen, "provided_model_name", "providedModelName", "model")
    counts = object_at({"usage": _told(seen, "usage_details", "usageDetails", "usage")}, "usage")
    calls = [unpacked(call) for call in _listed(_told(seen, "tool_calls", "toolCalls"))]
    under = tokens(counts, "input", "output") | ({"model": model} if model else {})
    return under | ({"tool_calls": calls} if calls else {})


def _listed(value: Any) -> list[Any]:
    value = unpacked(value)
    return value if isinstance(value, list) else []


LANGFUSE = Format(
    name="langfuse",
    title="Langfuse, observations and traces (JSON, or one a line)",
    sniff=sniff,
    read=read,
    recognised="objects with a `type`, a trace id and a parent, model or usage in Langfuse's spelling; traces with "
    "`observations`; `generation-create` and the other events of its SDKs; also a list of them, or one under `batch`",
    carries="text, reasoning and calls as the SDK stored them, tools where the input holds them, model, usage, time, "
    "errors, session or trace",
    lacks="finish reason, raw arguments and the model that answered unless the SDK stored the whole response; host, "
    "engine, retries; what masking took out",
    better="let the integration store whole requests and responses; export the field group io",
    example="""\
{"id":"o1","trace_id":"t1","type":"SPAN","parent_observation_id":"","start_time":"2026-11-01 10:00:00.000000",\
"input":"ls","output":"Two files.","session_id":"s1"}
{"id":"o2","trace_id":"t1","type":"GENERATION","parent_observation_id":"o1","session_id":"s1",\
"start_time":"2026-11-01 10:00:00.500000","input":"{\\"messages\\": [{\\"role\\": \\"user\\", \
\\"content\\": \\"ls\\"}], \\"tools\\": [{\\"type\\": \\"function\\", \\"function\\": {\\"name\\": \\"ls\\"}}]}",\
"output":"{\\"role\\": \\"assistant\\", \\"content\\": \\"Two files.\\"}","provided_model_name":"m",\
"usage_details":{"input":9,"output":3}}
""",
)
