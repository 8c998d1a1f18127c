"""Events of OpenHands up to 0.59: `trajectory.json`, `events/*.json`, and the `history` of `output.jsonl`.

An action carries the response that it was taken from (`tool_call_metadata.model_response`); several actions may
share one. A message of the agent without it is the text of a response. Times are local and name no zone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.bodies import body_of, generations
from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.documents import Items, objects, part, started, text, told
from ingest.shapes.openai_message import Fields, offered
from ingest.shapes.threads import digest
from ingest.shapes.told import Place

_BOOKKEEPING = "bookkeeping: an event without a reply"


def recognises(value: Any) -> bool:
    """Whether `value` is an event, a list of events, or an evaluation that holds one."""
    return any(_is_event(event) for event in _events(value)[:3])


def _events(value: Any) -> list[Fields]:
    """The events of a value; old evaluations hold pairs of an action and its observation."""
    if isinstance(value, dict) and "instance_id" in value:
        value = value.get("history")
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = [event for pair in value if isinstance(pair, list) for event in pair]
    return [value] if isinstance(value, dict) else objects(value)


def _is_event(event: Fields) -> bool:
    """An action or an observation, with who made it, when, and what it says to a person."""
    return bool({"action", "observation"} & event.keys()) and "source" in event and {"id", "timestamp"} <= event.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of events."""
    return share(values, recognises)


@dataclass(slots=True)
class _Run:
    """What earlier events tell of later ones; `last` is the id of the response that the last action was taken from."""

    whole: Fields
    place: Place = field(default_factory=Place)
    last: str | None = None


def _begun(event: Fields, value: Any) -> _Run:
    """A run, named by its first event."""
    named = text(value.get("instance_id")) if isinstance(value, dict) else None
    begun = f"m{digest(event).hex()}"
    return _Run({"run_id": f"{named}:{begun}" if named else begun, "client": "openhands"})


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """The events of a run, one a line or all in one document."""
    run: _Run | None = None
    items = Items()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no event of OpenHands")
            continue
        events = _events(line.value)
        whole = isinstance(line.value, list) or "instance_id" in line.value
        if whole or run is None or events[0].get("id") == 0:
            run = _begun(events[0], line.value)
        found = [item for event in events for item in _items(line, event, run, items)]
        yield from found or [Skipped(line.number, _BOOKKEEPING)]


def _items(line: Line, event: Fields, run: _Run, items: Items) -> Iterator[Item]:
    try:
        replies = _replies(event, run, mended=line.mended)
    except ValueError as fault:
        yield quarantined(line, str(fault))
        return
    place = run.place.take() if replies else {}
    for fields in replies:
        time = {} if "started_at" in fields else started(event.get("timestamp"))
        yield items.of(line, run.whole | fields | time | place)


def _replies(event: Fields, run: _Run, *, mended: bool) -> list[Fields]:
    args, source = part(event, "args"), event.get("source")
    if event.get("action") == "system":
        _learn(run, args)
    if source == "user" and event.get("action") == "message":
        run.place.user(args.get("content"))
    if source != "agent" or "action" not in event:
        return []
    response = part(event, "tool_call_metadata", "model_response")
    if body := body_of(response):
        again = text(response.get("id")) is not None and response.get("id") == run.last
        run.last = text(response.get("id"))
        return [] if again else generations(body, None, response, mended=mended)
    if event["action"] != "message" or "content" not in args:
        return []
    run.last = None
    fidelity = "normalised" if mended else "exact"
    return [{"content": args["content"], "text_fidelity": fidelity, "finish_fidelity": "absent"}]


def _learn(run: _Run, args: Fields) -> None:
    run.whole |= told(client_version=args.get("openhands_version"))
    if isinstance(args.get("tools"), list):
        run.whole["tools"] = offered(args["tools"])
        run.whole["call_mode"] = "native" if run.whole["tools"] else "none"


OPENHANDS_V0 = Format(
    name="openhands-v0",
    title="OpenHands events up to 0.59",
    sniff=sniff,
    read=read,
    recognised="events with `id`, `timestamp`, `source`, and `action` or `observation`",
    carries="text, tools; raw arguments, finish reason, model, usage and fingerprint of replies that became calls",
    lacks="finish reason, model and usage of replies in words, and the zone of their times; attempts, provider; the "
    "text before OpenHands made calls of it, for models without native calls",
    better="set `log_completions`: its folder keeps every request and response",
    example="""\
{"id":0,"timestamp":"2026-11-01T10:00:00.1","source":"agent","message":"You work","action":"system","args":{"content":\
"You work","tools":[{"type":"function","function":{"name":"execute_bash"}}],"openhands_version":"0.59.0"}}
{"id":1,"timestamp":"2026-11-01T10:00:01.1","source":"user","message":"ls","action":"message","args":{"content":"ls"}}
{"id":2,"timestamp":"2026-11-01T10:00:02.1","source":"agent","message":"No.","action":"message","args":{"content":"No."}}
""",
)
