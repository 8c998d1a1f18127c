"""Calls of W&B Weave, as its export and its API give them.

Source: weave's `CallSchema`. `inputs` are the arguments of a provider's client, `output` its response; an object may be
a `weave:///` reference that the export does not hold.
"""

from collections.abc import Sequence
from typing import Any

from ingest.bodies import Object, bodies
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.parts import Nesting
from ingest.shapes.traced import Traced
from ingest.shapes.wrapped import (
    NESTED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    object_at,
    part,
    response_of,
    started,
    text,
    without_tools,
)

REFERENCE = "the response is a weave:/// reference, which the export does not hold"


def recognises(value: Any) -> bool:
    """Whether `value` is a call."""
    return isinstance(value, dict) and {"op_name", "started_at", "inputs", "trace_id"} <= value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of calls."""
    return part(values, recognises, "calls")


def _ended(call: Object) -> bool:
    return bool(call.get("output") or call.get("exception"))


def _item(line: Line, models: Nesting) -> Item:
    call: Object = line.value
    asked = object_at(call, "inputs")
    if not any(body.is_request(asked) for body in bodies()):
        return Skipped(line.number, NO_CALL)
    output = unpacked(call.get("output"))
    response = response_of(output)
    if _elsewhere(output):
        return quarantined(line, REFERENCE)
    if response is None and not call.get("exception"):
        return Skipped(line.number, NO_CALL if output else NO_TEXT)
    names = call.get("id"), [call.get("parent_id")]
    if models.told_twice(*names):
        return Skipped(line.number, NESTED)
    try:
        item = mapped(line, _fields(call, asked, response, line.mended))
    except ValueError as fault:
        return quarantined(line, str(fault))
    models.tell(*names)
    return item


def _fields(call: Object, asked: Object, response: Object | None, mended: bool) -> list[Fields]:
    tools_told = not _elsewhere(asked.get("tools"))
    asked = asked if tools_told else {**asked, "tools": None}
    over: Fields = {"run_id": text(call, "thread_id", "trace_id", "id") or "unnamed"}
    over |= started(moment(call.get("started_at")))
    if name := text(call, "id"):
        over["generation_id"] = name
    exception = call.get("exception")
    error = exception[:2000] if isinstance(exception, str) else exception
    found = fields(asked, response, over=over, error=error, mended=mended)
    return found if tools_told else [without_tools(each) for each in found]


def _elsewhere(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("weave:///")


_TRACED = Traced(
    within="calls",
    recognises=recognises,
    foreign="no call of Weave: op_name, started_at and inputs are missing",
    ended=_ended,
    item=_item,
)
WEAVE = Format(
    name="weave",
    title="W&B Weave, calls (JSON Lines)",
    sniff=sniff,
    read=_TRACED.read,
    recognised="objects with `op_name`, `started_at`, `inputs` and `trace_id`; also a list of them, or one under "
    "`calls`",
    carries="exact text, reasoning, raw arguments, tools, finish reason, models, usage, time, errors, thread or trace, "
    "engine by fingerprint",
    lacks="host; retries; what the export holds only as a `weave:///` reference",
    better="export calls with their references expanded",
    example="""\
{"id":"c1","project_id":"e/p","op_name":"weave:///e/p/op/openai.chat.completions.create:v0","trace_id":"t1",\
"parent_id":null,"started_at":"2026-11-01T10:00:00Z","inputs":{"model":"m","messages":[{"role":"user","content":"ls"}],\
"tools":[{"type":"function","function":{"name":"ls"}}]},"ended_at":"2026-11-01T10:00:01Z","exception":null,"output":\
{"id":"r1","model":"m-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":\
"Two files."}}]},"summary":{}}
""",
)
