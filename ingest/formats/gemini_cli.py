"""Sessions of the Gemini CLI, `~/.gemini/tmp/<project>/chats/session-*.jsonl`, and the one JSON document before 0.40.

Source: chatRecordingService.ts and geminiChat.ts of @google/gemini-cli-core 0.61.0. A message is appended anew under
its id when its calls finish: the last one counts, and it is only ever the last message that grows. `$set.messages` is
the history as the model sees it (compressed, masked): copies, and summaries that the model did not say there.
`$rewindTo` takes back history, not what was generated. The text is trimmed and loses HTML comments and invisible
characters; failed attempts are not written.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.gemini_parts import part_fields
from ingest.shapes.openai_message import Fields, kept
from ingest.shapes.told import COPY, USER, Place, counts, item, objects, started, texts

KINDS = ("user", "gemini", "info", "error", "warning")
HISTORY = "bookkeeping: the history, told again"
OPEN = 8
"""Messages that may still grow; the tool itself only lets the last one."""
_MAPPED = {"id", "timestamp", "type", "content", "displayContent", "thoughts", "tokens", "model", "toolCalls"}


def recognises(value: Any) -> bool:
    """Whether `value` is a line of a session, or a whole one."""
    match value:
        case {"sessionId": str(), "projectHash": str()} | {"$set": dict()} | {"$rewindTo": str()}:
            return True
        case {"id": str(), "timestamp": str(), "type": str() as kind, "content": _}:
            return kind in KINDS
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of lines of a session, once one of them is only Gemini's."""
    sure = any(isinstance(value, dict) and ("projectHash" in value or _says(value)) for value in values)
    return share(values, recognises) if sure else 0.0


def _says(value: Any) -> bool:
    return recognises(value) and value.get("type") == "gemini"


@dataclass(slots=True)
class _Session:
    run_id: str = "gemini-cli"
    subagent: bool = False
    place: Place = field(default_factory=Place)
    open: dict[str, tuple[Line, Fields, Fields]] = field(default_factory=dict)
    """By message id: the latest line, its message, its place."""
    done: set[int] = field(default_factory=set)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One message a line, the latest of those with one id."""
    session = _Session()
    for line in lines:
        match line.value:
            case {"sessionId": str() as run_id, "projectHash": _}:
                yield from _close(session, 0)
                session = _Session(run_id, line.value.get("kind") == "subagent")
                yield from _document(session, line, line.value)
            case {"$set": dict() as patch}:
                yield from _patched(session, line, patch)
            case {"$rewindTo": str()}:
                yield Skipped(line.number, "bookkeeping: history taken back")
            case _ if recognises(line.value):
                yield from _message(session, line, line.value)
            case _:
                yield quarantined(line, "no message of a Gemini CLI session")
    yield from _close(session, 0)


def _document(session: _Session, line: Line, header: Fields) -> Iterator[Item]:
    """The messages of a whole session; a header has none."""
    messages = objects(header.get("messages"))
    if not messages:
        yield Skipped(line.number, "bookkeeping: the session's header")
    for message in messages:
        if message.get("type") == "gemini":
            yield item(line, _generation(session, message, session.place.take()))
        else:
            yield _other(session, line, message)


def _patched(session: _Session, line: Line, patch: Fields) -> Iterator[Item]:
    """A patch of the history: what it holds was read, but for messages that stand nowhere else."""
    fresh = [message for message in objects(patch.get("messages")) if _unseen(session, message)]
    for message in fresh:
        session.done.add(hash(message["id"]))
    if fresh:
        yield item(line, *(_generation(session, message, session.place.take()) for message in fresh))
    else:
        yield Skipped(line.number, HISTORY if patch.get("messages") else "bookkeeping: a patch of the header")


def _unseen(session: _Session, message: Fields) -> bool:
    """Whether the model said `message` and no line told it: a summary names no model."""
    told = message.get("type") == "gemini" and isinstance(message.get("model"), str)
    key = message.get("id")
    return told and isinstance(key, str) and key not in session.open and hash(key) not in session.done


def _message(session: _Session, line: Line, message: Fields) -> Iterator[Item]:
    if message["type"] != "gemini":
        yield _other(session, line, message)
        return
    key = message["id"]
    if hash(key) in session.done:
        yield Skipped(line.number, COPY)
        return
    earlier = session.open.pop(key, None)
    if earlier is not None:
        yield Skipped(earlier[0].number, COPY)
    session.open[key] = line, message, earlier[2] if earlier else session.place.take()
    yield from _close(session, OPEN)


def _other(session: _Session, line: Line, message: Fields) -> Item:
    if message.get("type") != "user":
        return Skipped(line.number, "bookkeeping: a notice of the tool")
    parts = message.get("content")
    if isinstance(parts, list) and any(isinstance(part, dict) and "functionResponse" in part for part in parts):
        return Skipped(line.number, "a tool result")
    session.place.user(parts)
    return Skipped(line.number, USER)


def _close(session: _Session, left: int) -> Iterator[Item]:
    """Give the oldest open messages until `left` are open."""
    while len(session.open) > left:
        key = next(iter(session.open))
        line, message, place = session.open.pop(key)
        session.done.add(hash(key))
        yield item(line, _generation(session, message, place))


def _generation(session: _Session, message: Fields, place: Fields) -> Fields:
    return {
        **kept("message", message, _MAPPED),
        **part_fields(message.get("content")),
        **({"text_fidelity": "normalised"} if message.get("content") else {}),
        **_thoughts(message.get("thoughts")),
        **_calls(message.get("toolCalls")),
        **texts(message, {"id": "generation_id", "model": "model"}),
        **counts(message.get("tokens"), "input", "output"),
        **started(message.get("timestamp")),
        **place,
        "run_id": session.run_id,
        "role": "subagent" if session.subagent else "agent",
        "client": "gemini-cli",
        "call_mode": "native",
        "finish_fidelity": "absent",
    }


def _thoughts(thoughts: Any) -> Fields:
    """Thoughts, which the tool cuts into a subject and a description: their text is rebuilt."""
    told = [_thought(thought) for thought in objects(thoughts)]
    if not told:
        return {"reasoning": None} if isinstance(thoughts, list) else {}
    return {"reasoning": "\n".join(told), "reasoning_fidelity": "rebuilt"}


def _thought(thought: Fields) -> str:
    subject, description = (thought.get(key) for key in ("subject", "description"))
    head = f"**{subject}**\n" if isinstance(subject, str) and subject else ""
    return head + (description if isinstance(description, str) else "")


def _calls(calls: Any) -> Fields:
    names = {"id": "id", "name": "name", "args": "arguments", "status": "status"}
    told = [{ours: call[key] for key, ours in names.items() if key in call} for call in objects(calls)]
    return {"tool_calls": told} if told else {}


GEMINI_CLI = Format(
    name="gemini-cli",
    title="Gemini CLI sessions (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="a header with `sessionId` and `projectHash`, messages of `type` gemini, patches with `$set`",
    carries="text (trimmed), reasoning (reformatted), calls with parsed arguments, the model asked for, usage, time",
    lacks="tools offered, finish reason, responding model, raw arguments, engine, failed attempts",
    better='set `"telemetry": {"enabled": true, "outfile": "…", "logPrompts": true, "traces": true}` and upload that '
    "file: it has exact text, finish reason, tools and model",
    example="""\
{"sessionId":"s-1","projectHash":"ab12","startTime":"2026-11-30T08:00:00Z","lastUpdated":"2026-11-30T08:00:00Z",\
"kind":"main"}
{"id":"u1","timestamp":"2026-11-30T08:00:01Z","type":"user","content":[{"text":"what is here?"}]}
{"id":"g1","timestamp":"2026-11-30T08:00:02Z","type":"gemini","content":"","thoughts":[],"model":"gemini-pro",\
"tokens":{"input":9,"output":3,"total":12}}
{"id":"g1","timestamp":"2026-11-30T08:00:02Z","type":"gemini","content":"","thoughts":[],"model":"gemini-pro",\
"tokens":{"input":9,"output":3,"total":12},"toolCalls":[{"id":"c1","name":"ls","args":{"path":"."},"status":"success"}]}
{"$set":{"lastUpdated":"2026-11-30T08:00:03Z"}}
""",
)
