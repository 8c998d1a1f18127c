"""Whole conversations, one a line: OpenAI's fine-tuning files and the chat data sets of Hugging Face.

Every assistant message is a generation. Nothing tells its finish reason, its time or its usage. Data sets keep what
has no single type (tools, calls, schemas) as JSON in strings, and fill missing keys with null. Messages may hold the
blocks of Anthropic's API (thinking, calls, results) instead of a text.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.formats.native import is_native
from ingest.shapes.blocks import block_fields, call_of, is_result
from ingest.shapes.by_design import Part, holds_markup, text_by_design
from ingest.shapes.conversation import walked
from ingest.shapes.exchange import answers, exchange
from ingest.shapes.openai_message import Fields, message_fields, offered, said, unpacked, validated
from ingest.shapes.repeated import EXECUTED
from ingest.shapes.threads import digest

RUN_KEYS = ("id", "conversation_id", "session_id", "run_id")
BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking")
"""Content blocks of Anthropic's API: calls and reasoning stand in the content."""
_PARTS: dict[str, Part] = {"system": "prompt", "developer": "prompt", "assistant": "model", "tool": "result"}


def recognises(value: Any) -> bool:
    """Whether `value` is a conversation with no response beside it."""
    if not isinstance(value, dict) or is_native(value) or _response_beside(value):
        return False
    messages = unpacked(value.get("messages"))
    return isinstance(messages, list) and bool(messages) and all(map(_is_message, messages))


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str)


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
    return messages


def _generations(value: Fields, messages: list[Fields], mended: bool) -> Iterator[Fields]:
    whole = _conversation_fields(value, messages)
    tells = "call_mode" not in whole and any(map(_answers_call, messages))
    run_id = _run_id(value, messages)
    replies = [
        (message, place, following)
        for (message, place), following in zip(walked(messages), [*messages, {}][1:], strict=True)
        if not isinstance(place, str)
    ]
    for number, (message, place, following) in enumerate(replies):
        named = {"run_id": run_id, "generation_id": f"{run_id}:{number}"}
        yield _said(message, mended) | whole | place | named | (_executed(message, following) if tells else {})


def _executed(message: Fields, following: Fields) -> Fields:
    """Whether a text that may hold a call was followed by a tool's result, though no structured call was made."""
    if _calls(message) or not holds_markup(said(message.get("content"))):
        return {}
    return {EXECUTED: _answers_call(following)}


def _answers_call(message: Fields) -> bool:
    return message.get("role") in ("tool", "function") or any(map(is_result, _list(message.get("content"))))


def _said(message: Fields, mended: bool) -> Fields:
    """What an assistant message says; its calls may be JSON in a string."""
    if isinstance(message.get("tool_calls"), str):
        message = {**message, "tool_calls": unpacked(message["tool_calls"])}
    if not _has_blocks(message):
        return message_fields(message, mended=mended)
    fields = block_fields(message["content"])
    if mended and fields.get("text_fidelity") == "exact":
        fields["text_fidelity"] = "normalised"
    return message_fields({key: part for key, part in message.items() if key != "content"}) | fields


def _conversation_fields(value: Fields, messages: list[Fields]) -> Fields:
    fields: Fields = {"finish_fidelity": "absent"}
    if isinstance(value.get("model"), str):
        fields["model"] = value["model"]
    if "tools" in value:
        fields["tools"] = _tools(value["tools"])
        if fields["tools"] == []:
            fields["call_mode"] = "none"
    if not any(map(_calls, messages)) and text_by_design(list(_parts(value, messages))):
        fields["call_mode"] = "text"
    return fields


def _tools(tools: Any) -> list[Any] | None:
    """The tools, with schemas that are JSON in a string read, and Anthropic's `input_schema` under our name."""
    return (found := offered(tools)) and [_schema_read(tool) for tool in found]


def _schema_read(tool: Any) -> Any:
    match tool:
        case {"function": dict() as function}:
            return {**tool, "function": _schema_read(function)}
        case {"input_schema": schema, **rest} if "parameters" not in tool:
            return {**rest, "parameters": unpacked(schema)}
        case {"parameters": str() as schema}:
            return {**tool, "parameters": unpacked(schema)}
        case _:
            return tool


def _calls(message: Fields) -> bool:
    """Whether a message makes or answers a structured call."""
    named = any(message.get(key) for key in ("tool_calls", "function_call", "tool_call_id"))
    return named or any(is_result(block) or call_of(block) for block in _list(message.get("content")))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _parts(value: Fields, messages: list[Fields]) -> Iterator[tuple[Part, str]]:
    yield "prompt", said(value.get("system"))
    for message in messages:
        role = message.get("role")
        yield _PARTS.get(role, "other") if isinstance(role, str) else "other", said(message.get("content"))


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
    carries="exact text, reasoning, raw arguments (objects in blocks), tools where the set has them; text calls by "
    "design are told",
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
