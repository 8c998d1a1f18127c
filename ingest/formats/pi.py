"""Sessions of the Pi coding agent, `~/.pi/agent/sessions/<cwd>/<time>_<id>.jsonl`, and what derives from it.

Source: docs "Session File Format" (pi.dev), sample of 0.74.2. Entries form a tree by `id` and `parentId`: what stands
on an abandoned branch was generated all the same. A fork copies its past into a new file under the same ids, so that
an entry is the request's identity, and not the session. `retainedTail` of a compaction is a copy.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.blocks import block_fields
from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import digest
from ingest.shapes.told import RESULT, USER, Place, counts, item, started, texts

TYPES = (
    "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message",
    "label", "session_info", "leaf", "active_tools_change",
)  # fmt: skip
_STATUS = {"error": "error", "aborted": "cancelled"}


def recognises(value: Any) -> bool:
    """Whether `value` is an entry of a session, or its header."""
    match value:
        case {"type": "session", "id": str(), "timestamp": _}:
            return "cwd" in value or "version" in value
        case {"type": str() as kind, "id": str(), "timestamp": _}:
            return kind in TYPES and "parentId" in value and (kind != "message" or isinstance(value.get(kind), dict))
        case {"type": "message", "timestamp": str(), "message": {"role": str()}}:
            return "uuid" not in value  # version 1, without a tree
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of entries; a header alone is not enough."""
    entries = any(recognises(value) and value["type"] != "session" for value in values)
    return share(values, recognises) if entries else 0.0


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One entry a line."""
    session: Fields = {"run_id": "pi", "client": "pi"}
    place = Place()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no entry of a Pi session")
        elif line.value["type"] == "session":
            session, place = _session(line.value), Place()
            yield Skipped(line.number, "bookkeeping: the session's header")
        else:
            yield _entry(line, line.value, session, place)


def _session(header: Fields) -> Fields:
    told = texts(header, {"harness": "client", "parentSession": "parent_session"})
    return {"run_id": header["id"], "client": "pi"} | told


def _entry(line: Line, entry: Fields, session: Fields, place: Place) -> Item:
    match entry:
        case {"type": "message", "message": {"role": "assistant"} as message}:
            fields = {**_entry_fields(entry), **_generation(message), **session}
            fields |= place.take(failed=fields["status"] == "error")
            return item(line, fields, request=_request(entry, message))
        case {"type": "message", "message": {"role": "user", **asked}}:
            place.user(asked.get("content"))
            return Skipped(line.number, USER)
        case {"type": "message", "message": {"role": "toolResult"}}:
            place.attempt = 0
            return Skipped(line.number, RESULT)
        case {"type": "compaction" | "branch_summary", "summary": str() as summary} if not entry.get("fromHook"):
            told = {"content": summary, "text_fidelity": "normalised", "role": "summariser", "call_mode": "none"}
            fields = {**_entry_fields(entry), **told, **counts(entry.get("usage"), "input", "output"), **session}
            return item(line, fields | {"finish_fidelity": "absent"}, request=_request(entry, {}))
        case _:
            return Skipped(line.number, "bookkeeping: an entry that is no message")


def _request(entry: Fields, message: Fields) -> bytes:
    """What makes an entry the same in the file of a fork."""
    return digest(["pi", *(entry.get(key) for key in ("id", "parentId", "timestamp")), message.get("timestamp")])


def _entry_fields(entry: Fields) -> Fields:
    return texts(entry, {"id": "generation_id", "parentId": "parent_entry"}) | started(entry.get("timestamp"))


def _generation(message: Fields) -> Fields:
    """What the model said. A response that was stopped or failed may be empty."""
    stop = message.get("stopReason")
    fields = {
        **block_fields(message.get("content")),
        **texts(message, {"model": "model", "provider": "provider", "api": "api", "responseId": "response_id"}),
        **texts(message, {"stopReason": "finish_reason", "errorMessage": "error"}),
        **counts(message.get("usage"), "input", "output"),
        **started(message.get("timestamp")),
        "finish_fidelity": "mapped" if isinstance(stop, str) else "absent",
        "status": _STATUS.get(stop, "ok") if isinstance(stop, str) else "ok",
        "role": "agent",
        "call_mode": "native",
    }
    return fields | _responding(message, fields)


def _responding(message: Fields, fields: Fields) -> Fields:
    answered = message.get("responseModel")
    if not isinstance(answered, str) or answered == fields.get("model"):
        return {}
    return {"model": answered, "requested_model": fields.get("model")}


PI = Format(
    name="pi",
    title="Pi sessions (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="entries with `type`, `id`, `parentId` and `timestamp`, after a header of `type` session",
    carries="exact text, reasoning, calls with parsed arguments, finish reason (as Pi names it), requested and "
    "responding model, provider, usage, time, errors, abandoned branches",
    lacks="tools offered, raw arguments, engine",
    better="log at a gateway in front of the engine where tools and raw arguments matter",
    example="""\
{"type":"session","version":3,"id":"s-1","timestamp":"2026-11-30T08:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-11-30T08:00:01.000Z","message":{"role":"user",\
"content":[{"type":"text","text":"what is here?"}],"timestamp":1796025601000}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-11-30T08:00:02.000Z","message":{"role":"assistant",\
"content":[{"type":"text","text":"One file."}],"provider":"p","model":"m","usage":{"input":9,"output":3},\
"stopReason":"stop","timestamp":1796025602000}}
""",
)
