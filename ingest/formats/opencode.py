"""Sessions of OpenCode as `opencode export` writes them: one document, `{info, messages: [{info, parts}]}`.

Source: OpenCode 1.18.33 (session/message-v2.ts). A message of the assistant is one model call, or several in older
versions. A `retry` part is an attempt that failed before it said anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields
from ingest.shapes.opencode_parts import began, status_of, step_fields, steps
from ingest.shapes.told import USER, Place, counts, item, objects, started, texts


def recognises(value: Any) -> bool:
    """Whether `value` is an exported session."""
    match value:
        case {"info": {"id": str(), **info}, "messages": list() as messages}:
            told = [isinstance(each, dict) and {"info", "parts"} <= each.keys() for each in messages]
            return all(told) and (bool(told) or "projectID" in info)
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of sessions."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One session a document."""
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no exported session of OpenCode")
            continue
        place, info = Place(), line.value["info"]
        whole = _session(info)
        for message in line.value["messages"]:
            yield _item(line, message, whole, place)
        if not line.value["messages"]:
            yield Skipped(line.number, "a session without messages")


def _session(info: Fields) -> Fields:
    fields = {"run_id": info["id"], "client": "opencode", "call_mode": "native"}
    fields |= texts(info, {"version": "client_version", "parentID": "parent_run_id"})
    return fields | {"role": "subagent" if "parent_run_id" in fields else "agent"}


def _item(line: Line, message: Fields, whole: Fields, place: Place) -> Item:
    info = message["info"]
    if not isinstance(info, dict):
        return quarantined(line, "a message without its description")
    if info.get("role") == "assistant":
        return item(line, *_generations(info, message["parts"], whole, place))
    if any(part.get("type") == "compaction" for part in objects(message["parts"])):
        return Skipped(line.number, "bookkeeping: a request to compact the history")
    place.user(objects(message["parts"]))
    return Skipped(line.number, USER)


def _generations(info: Fields, parts: Any, whole: Fields, place: Place) -> Iterator[Fields]:
    told = steps(parts)
    for number, step in enumerate(told):
        retries = [part for part in step if part.get("type") == "retry"]
        about = whole | _message(info, f"#{number}" if number else "")
        yield from (_retried(part, about, place) for part in retries)
        last = number == len(told) - 1
        status = status_of(info.get("error")) if last else "ok"
        fields = {**about, **(_whole_message(info) if len(told) == 1 else {}), **began(step), **_start(info, number)}
        fields |= step_fields(step)
        if "finish_reason" not in fields and last:
            fields |= _finish(info)
        error = {"error": info["error"]} if last and info.get("error") else {}
        yield fields | place.take() | error | {"status": status}


def _retried(part: Fields, about: Fields, place: Place) -> Fields:
    """An attempt that failed. `attempt` counts from 1 there."""
    name = {"generation_id": f"{about.get('generation_id')}~{place.attempt}"}
    time = part.get("time")
    at = started(time.get("created")) if isinstance(time, dict) else {}
    failed = {"content": None, "status": "error", "finish_fidelity": "absent", "error": part.get("error")}
    return about | name | at | failed | place.take(failed=True)


def _message(info: Fields, suffix: str) -> Fields:
    fields = texts(info, {"id": "generation_id", "modelID": "model", "providerID": "provider", "agent": "agent"})
    if suffix and "generation_id" in fields:
        fields["generation_id"] += suffix
    compacted = info.get("summary") is True or "compaction" in (info.get("mode"), info.get("agent"))
    return fields | ({"role": "summariser"} if compacted else {})


def _whole_message(info: Fields) -> Fields:
    return counts(info.get("tokens"), "input", "output")


def _start(info: Fields, number: int) -> Fields:
    time = info.get("time")
    return started(time.get("created")) if isinstance(time, dict) and not number else {}


def _finish(info: Fields) -> Fields:
    told = texts(info, {"finish": "finish_reason"})
    return told | {"finish_fidelity": "mapped"} if told else {}


OPENCODE = Format(
    name="opencode",
    title="OpenCode sessions, as exported (JSON)",
    sniff=sniff,
    read=read,
    recognised="a document with `info` and `messages`, each with `info` and `parts`",
    carries="text (trailing white space gone), reasoning, calls with parsed arguments, finish reason (as the AI SDK "
    "names it), model, provider, usage, time, retries, errors, tool version",
    lacks="tools offered, raw arguments, responding model, engine; arguments of a call that could not be parsed",
    better="log at a gateway in front of the engine; `opencode export SESSION` rather than `run --format json`",
    example="""\
{"info":{"id":"ses_1","projectID":"global","version":"1.18.33"},"messages":[{"info":{"id":"msg_1","role":"user"},\
"parts":[{"type":"text","text":"what is here?"}]},{"info":{"id":"msg_2","role":"assistant","modelID":"m",\
"providerID":"p","time":{"created":1796027661385},"finish":"stop"},"parts":[{"type":"step-start"},{"type":"text",\
"text":"One file."},{"type":"step-finish","reason":"stop","tokens":{"input":9,"output":3}}]}]}
""",
)
