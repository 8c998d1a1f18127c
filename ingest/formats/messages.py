"""Whole conversations, one a line: OpenAI's fine-tuning files and the chat data sets of Hugging Face.

Every assistant message is a generation. Nothing tells its finish reason, its time or its usage.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.exchange import answers, exchange
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.formats.native import is_native
from ingest.openai_message import Fields, message_fields, offered, unpacked, validated
from ingest.threads import digest

RUN_KEYS = ("id", "conversation_id", "session_id", "run_id")
BLOCKS = ("tool_use", "tool_result")
"""Content blocks of Anthropic's API, whose calls stand in the content: another format."""


def recognises(value: Any) -> bool:
    """Whether `value` is a conversation with no response beside it."""
    if not isinstance(value, dict) or is_native(value) or _response_beside(value):
        return False
    messages = unpacked(value.get("messages"))
    return isinstance(messages, list) and bool(messages) and all(map(_is_message, messages))


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str) and not _has_blocks(message)


def _has_blocks(message: Fields) -> bool:
    parts = message.get("content")
    return isinstance(parts, list) and any(isinstance(part, dict) and part.get("type") in BLOCKS for part in parts)


def _response_beside(value: Fields) -> bool:
    return any(isinstance(part, dict) for part in answers(value)) or exchange(value).response is not None


def sniff(values: Sequence[Any]) -> float:
    """The share of conversations."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One conversation a line."""
    for line in lines:
        try:
            yield _item(line)
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _item(line: Line) -> Item:
    messages = _messages(line.value)
    records = tuple(validated(_generations(line.value, messages, line.mended)))
    return Mapped(line.number, records) if records else Skipped(line.number, "no assistant message")


def _messages(value: Any) -> list[Fields]:
    """The messages of a conversation; ValueError if there are none."""
    messages = unpacked(value.get("messages")) if isinstance(value, dict) else None
    if not isinstance(messages, list):
        raise ValueError("no conversation: an object with a list of messages")
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise ValueError(f"messages[{index}] is not an object")
        if _has_blocks(message):
            raise ValueError(f"messages[{index}] holds tool_use or tool_result blocks, which are not supported here")
    return messages


def _generations(value: Fields, messages: list[Fields], mended: bool) -> Iterator[Fields]:
    whole = _conversation_fields(value)
    run_id = _run_id(value, messages)
    users = rounds = 0
    for message in messages:
        if message.get("role") == "user":
            users += 1
        if message.get("role") == "assistant":
            place = {
                "run_id": run_id,
                "generation_id": f"{run_id}:{rounds}",
                "turn": max(users - 1, 0),
                "round": rounds,
            }
            yield message_fields(message, mended=mended) | whole | place
            rounds += 1


def _conversation_fields(value: Fields) -> Fields:
    fields: Fields = {"finish_fidelity": "absent"}
    if isinstance(value.get("model"), str):
        fields["model"] = value["model"]
    if "tools" in value:
        fields["tools"] = offered(value["tools"])
        if fields["tools"] == []:
            fields["call_mode"] = "none"
    return fields


def _run_id(value: Fields, messages: list[Fields]) -> str:
    named = (value.get(key) for key in RUN_KEYS)
    run_id = next((name for name in named if isinstance(name, str) and name), None)
    return run_id or f"m{digest(messages).hex()}"


MESSAGES = Format(
    name="messages",
    title="conversations as lists of messages (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with a list of `messages` and no response beside it",
    carries="exact text, reasoning, raw arguments, tools where the set has them",
    lacks="model, finish reason, time, usage, engine",
    better="write leakdown's own records, or log whole responses",
    generic=2,
    example="""\
{"messages":[{"role":"user","content":"what is here?"},{"role":"assistant","content":null,\
"tool_calls":[{"id":"a1","type":"function","function":{"name":"ls","arguments":"{}"}}]},\
{"role":"tool","tool_call_id":"a1","content":"b.txt"},{"role":"assistant","content":"One file, b.txt.",\
"weight":1}],"tools":[{"type":"function","function":{"name":"ls"}}]}
{"id":"talk-2","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"Hello. And now?"}]}
""",
)
