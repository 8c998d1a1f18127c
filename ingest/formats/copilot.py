"""Sessions of the GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`.

Source: the event types of the Copilot SDK, and Harbor's reader. `assistant.message` is a whole response.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import RESULT, USER, Place, counts, item, objects, started, texts

_GROUPS = ("session", "user", "assistant", "tool", "hook", "subagent", "system", "skill", "permission", "abort")
_SESSION = {"sessionId": "run_id", "copilotVersion": "client_version", "selectedModel": "model"}


def recognises(value: Any) -> bool:
    """Whether `value` is an event of such a session."""
    match value:
        case {"type": str() as kind, "timestamp": str(), "data": dict()}:
            return kind == "abort" or (kind.partition(".")[0] in _GROUPS and "." in kind)
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of events."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One event a line."""
    run: Fields = {"run_id": "copilot"}
    place = Place()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no event of a Copilot session")
            continue
        data = line.value["data"]
        match line.value["type"]:
            case "assistant.message":
                about = started(line.value["timestamp"]) | run | texts(data, {"model": "model"})
                yield item(line, _generation(data) | about | place.take())
                continue
            case "session.start" | "session.resume":
                run |= texts(
                    data, {"sessionId": "run_id", "copilotVersion": "client_version", "selectedModel": "model"}
                )
            case "session.model_change":
                run |= texts(data, {"newModel": "model"})
            case "user.message":
                place.user(data.get("content"))
        yield Skipped(line.number, _why(line.value["type"]))


def _why(kind: str) -> str:
    if kind == "user.message":
        return USER
    return RESULT if kind.startswith("tool.") else "bookkeeping: an event beside the responses"


def _generation(data: Fields) -> Fields:
    names = {"toolCallId": "id", "name": "name", "arguments": "arguments"}
    calls = [{names[key]: call[key] for key in names if key in call} for call in objects(data.get("toolRequests"))]
    content = data.get("content")
    fields: Fields = {"content": content} | ({"text_fidelity": "exact"} if isinstance(content, str) else {})
    fields |= texts(data, {"reasoningText": "reasoning", "messageId": "generation_id"})
    fields |= {"tool_calls": calls} if "toolRequests" in data else {}
    fields |= counts(data, "inputTokens", "outputTokens") | texts(data, {"parentToolCallId": "parent_call"})
    fields |= {"role": "subagent" if "parent_call" in fields else "agent", "client": "copilot-cli"}
    return fields | {"call_mode": "native", "finish_fidelity": "absent"}


COPILOT = Format(
    name="copilot",
    title="GitHub Copilot CLI sessions (events.jsonl)",
    sniff=sniff,
    read=read,
    recognised="events with `type` (session.start, assistant.message, …), `timestamp` and `data`",
    carries="exact text, reasoning, calls with parsed arguments, output tokens, time, model where it is told, version",
    lacks="tools offered, finish reason, raw arguments, engine, retries",
    better="log at a gateway in front of the engine where tools and finish reasons matter",
    example="""\
{"type":"session.start","timestamp":"2026-11-30T08:00:00Z","data":{"sessionId":"s1","copilotVersion":"1.0.0"}}
{"type":"user.message","timestamp":"2026-11-30T08:00:00Z","data":{"content":"what is here?"}}
{"type":"assistant.message","timestamp":"2026-11-30T08:00:01Z","data":{"messageId":"m1","content":"One file.",\
"toolRequests":[],"outputTokens":3}}
""",
)
