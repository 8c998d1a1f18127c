"""Sessions in the STS-Format of Hugging Face: a header with a `harness`, then a message a line.

Source: the Hub's documentation of agent traces. Keys are camelCase; arguments are the raw string.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields, message_fields
from ingest.shapes.told import RESULT, USER, Place, item, started, texts

_NAMES = {"reasoningContent": "reasoning_content", "toolCalls": "tool_calls"}
_LEFT = {"model", "timestamp", "toolCallId"}


def recognises(value: Any) -> bool:
    """Whether `value` is a header with a harness, or a message without an envelope."""
    match value:
        case {"type": "session", "harness": str(), "id": str()}:
            return not {"version", "cwd", "parentId"} & value.keys()
        case {"type": "message", "message": {"role": str()}}:
            return not {"id", "parentId", "timestamp", "uuid"} & value.keys()
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of lines of such a session, if one of them is a header."""
    headers = any(recognises(value) and value["type"] == "session" for value in values)
    return share(values, recognises) if headers else 0.0


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One message a line."""
    session: Fields = {"run_id": "sts"}
    place = Place()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no line of an STS session")
        elif line.value["type"] == "session":
            session, place = {"run_id": line.value["id"], "client": line.value["harness"]}, Place()
            yield Skipped(line.number, "bookkeeping: the session's header")
        else:
            yield _message(line, line.value["message"], session, place)


def _message(line: Line, message: Fields, session: Fields, place: Place) -> Item:
    if message["role"] == "user":
        place.user(message.get("content"))
        return Skipped(line.number, USER)
    if message["role"] != "assistant":
        return Skipped(
            line.number, RESULT if "toolCallId" in message else "a message of neither the user nor the model"
        )
    spelled = {_NAMES.get(key, key): value for key, value in message.items() if key not in _LEFT}
    try:
        fields = message_fields(spelled, mended=line.mended)
    except ValueError as fault:
        return quarantined(line, str(fault))
    fields |= texts(message, {"model": "model"}) | started(message.get("timestamp")) | place.take()
    fields["generation_id"] = f"{session['run_id']}:{fields['round']}"
    return item(line, fields | session | {"finish_fidelity": "absent"})


HF_STS = Format(
    name="hf-sts",
    title="STS-Format of Hugging Face (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="a header of `type` session with a `harness`, then lines of `type` message",
    carries="exact text, reasoning, raw arguments; time and model where they were written",
    lacks="tools offered, finish reason, usage, provider, engine",
    better="write leakdown's own records: they have room for tools and finish reason",
    example="""\
{"type":"session","harness":"my-agent","id":"s-1"}
{"type":"message","message":{"role":"user","content":"what is here?"}}
{"type":"message","message":{"role":"assistant","content":"One file.","model":"m","timestamp":1796028000000}}
""",
)
