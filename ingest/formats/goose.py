"""Sessions of goose: `goose session export --format json`, and the JSON Lines of versions before 1.10.

Source: session/ and conversation/message.rs of goose 1.x. A call that could not be parsed has the status `error`: its
text is gone, and the block stays in `content_parts`. Messages that the user does not see were written by the tool.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.blocks import asks, block_fields
from ingest.shapes.conversation import OTHER
from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import digest
from ingest.shapes.told import RESULT, USER, Place, item, started, texts


def is_session(value: Any) -> bool:
    """Whether `value` is an exported session."""
    match value:
        case {"working_dir": _, "conversation": list() as messages}:
            return all(isinstance(message, dict) for message in messages)
        case _:
            return False


def recognises(value: Any) -> bool:
    """Whether `value` is an exported session, or a line of an older one."""
    match value:
        case {"role": str(), "created": int(), "content": list()}:
            return True
        case {"working_dir": _}:
            return is_session(value) or {"description", "message_count"} <= value.keys()
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of sessions or their lines."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One session a document, or one message a line."""
    header: Fields = {}
    run_id, place = "", Place()
    for line in lines:
        if is_session(line.value):
            yield from _document(line, line.value)
        elif not recognises(line.value):
            yield quarantined(line, "no session of goose")
        elif "working_dir" in line.value:
            header, run_id, place = line.value, "", Place()
            yield Skipped(line.number, "bookkeeping: the session's header")
        else:
            run_id = run_id or f"g{digest([header.get('working_dir'), line.value]).hex()}"
            yield _message(line, line.value, {"run_id": run_id}, place)


def _document(line: Line, session: Fields) -> Iterator[Item]:
    whole = texts(session, {"id": "run_id", "provider_name": "provider"})
    whole |= texts(session.get("model_config"), {"model_name": "model"})
    if session.get("session_type") == "sub_agent":
        whole["role"] = "subagent"
    whole.setdefault("run_id", f"g{digest(session).hex()}")
    place = Place()
    for message in session["conversation"]:
        yield _message(line, message, whole, place)
    if not session["conversation"]:
        yield Skipped(line.number, "a session without messages")


def _message(line: Line, message: Fields, whole: Fields, place: Place) -> Item:
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("userVisible") is False:
        return Skipped(line.number, "bookkeeping: a message of the tool to the model")
    if message.get("role") == "user":
        if not asks(message.get("content")):
            return Skipped(line.number, RESULT)
        place.user(message.get("content"))
        return Skipped(line.number, USER)
    if message.get("role") != "assistant":
        return Skipped(line.number, OTHER)
    about = {"role": "agent", "client": "goose", "call_mode": "native", "finish_fidelity": "absent"}
    about |= texts(message, {"id": "generation_id"}) | started(message.get("created"))
    return item(line, block_fields(message.get("content")) | about | whole | place.take())


GOOSE = Format(
    name="goose",
    title="goose sessions (JSON export; JSON Lines before 1.10)",
    sniff=sniff,
    read=read,
    recognised="a document with `working_dir` and `conversation`; or lines with `role`, `created` and `content`",
    carries="exact text, reasoning, calls with parsed arguments, time; model and provider in an export",
    lacks="tools offered, finish reason, usage by response, raw arguments; the text of a call that could not be parsed",
    better="export with `goose session export --format json`; log at a gateway where malformed calls matter",
    example="""\
{"working_dir":"/w","description":"list","message_count":2}
{"role":"user","created":1796028000,"content":[{"type":"text","text":"what is here?"}]}
{"role":"assistant","created":1796028001,"content":[{"type":"text","text":"One file."}]}
""",
)
