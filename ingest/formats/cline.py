"""Sessions of the Cline CLI: `~/.cline/data/sessions/<id>/<id>.messages.json`, and the state file beside it.

Source: sample of cline 3.0.65. Messages are Anthropic's blocks; `thinking` is reasoning. The state file holds no
text: it is recognised so that it is not taken for something else, and gives nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.blocks import block_fields
from ingest.shapes.conversation import walked
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import counts, item, started, texts

STATE = "the state of a session, which holds no text: upload the .messages.json beside it"


def is_state(value: Any) -> bool:
    """Whether `value` is the state of a session."""
    return isinstance(value, dict) and {"session_id", "messages_path", "source", "status"} <= value.keys()


def is_session(value: Any) -> bool:
    """Whether `value` is a session."""
    match value:
        case {"sessionId": str(), "agent": _, "version": _, "messages": list() as messages}:
            return all(isinstance(message, dict) and "role" in message for message in messages)
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of sessions and their states."""
    return share(values, lambda value: is_session(value) or is_state(value))


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One session a document."""
    for line in lines:
        if is_state(line.value):
            yield Skipped(line.number, STATE)
        elif not is_session(line.value):
            yield quarantined(line, "no session of the Cline CLI")
        elif not line.value["messages"]:
            yield Skipped(line.number, "a session without messages")
        else:
            yield from _session(line, line.value)


def _session(line: Line, value: Fields) -> Iterator[Item]:
    whole = {"run_id": value["sessionId"], "client": "cline", "call_mode": "native", "finish_fidelity": "absent"}
    whole |= texts(value.get("origin"), {"version": "client_version", "parentSessionId": "parent_run_id"})
    whole["role"] = "agent" if value["agent"] == "lead" and "parent_run_id" not in whole else "subagent"
    for message, place in walked(value["messages"]):
        if isinstance(place, str):
            yield Skipped(line.number, place)
        else:
            yield item(line, {**_message(message), **place, **whole})


def _message(message: Fields) -> Fields:
    return {
        **block_fields(message.get("content")),
        **texts(message, {"id": "generation_id"}),
        **texts(message.get("modelInfo"), {"id": "model", "provider": "provider"}),
        **counts(message.get("metrics"), "inputTokens", "outputTokens"),
        **started(message.get("ts")),
    }


CLINE = Format(
    name="cline",
    title="Cline CLI sessions (JSON)",
    sniff=sniff,
    read=read,
    recognised="a document with `sessionId`, `agent`, `version` and `messages`; the state file with `messages_path` "
    "is recognised too, and holds no text",
    carries="exact text, reasoning, calls with parsed arguments, the model asked for, provider, usage, time, version",
    lacks="tools offered, finish reason, responding model, raw arguments, engine, failed attempts",
    better="log at a gateway in front of the engine where tools and finish reasons matter",
    example="""\
{"version":1,"agent":"lead","sessionId":"s-1","origin":{"source":"cli","version":"3.0.65"},"messages":[{"id":"u1",\
"role":"user","content":[{"type":"text","text":"what is here?"}],"ts":1796027676372},{"id":"m1","role":"assistant",\
"content":[{"type":"text","text":"One file."}],"ts":1796027676990,"modelInfo":{"id":"m","provider":"p"},\
"metrics":{"inputTokens":9,"outputTokens":3}}]}
""",
)
