"""Messages whose content is a list of blocks (text, thinking, calls), as agents keep them.

Anthropic's blocks and their kin: Cline, Roo, Pi, goose, Cursor, and data sets in Anthropic's shape. Arguments are
objects there; what the model wrote is gone.
"""

from typing import Any

from ingest.openai_message import Fields, part_text
from ingest.told import Pieces

_THOUGHTS = ("thinking", "reasoning", "text")


def block_fields(content: Any) -> Fields:
    """Text, reasoning and calls of a content; one that is neither text nor null nor a list is no record's."""
    if isinstance(content, str):
        return {"content": content, "text_fidelity": "exact"}
    return _of_blocks(content) if isinstance(content, list) else {"content": content}


def _of_blocks(blocks: list[Any]) -> Fields:
    pieces = Pieces()
    for block in blocks:
        if (call := call_of(block)) is not None:
            pieces.calls.append(call)
        elif (thought := _thought(block)) is not None:
            pieces.thoughts.append(thought)
        elif (text := part_text(block)) is not None:
            pieces.texts.append(text)
        else:
            pieces.others.append(block)
    return pieces.fields()


def call_of(block: Any) -> Fields | None:
    """The call that a block makes; None for other blocks."""
    match block:
        case {"type": "tool_use", "name": name}:
            return _call(block, name, "input")
        case {"type": "toolCall", "name": name}:
            return _call(block, name, "arguments")
        case {"type": "toolRequest", "toolCall": {"status": "success", "value": {"name": name} as call}}:  # goose
            return _call({**call, **({"id": block["id"]} if "id" in block else {})}, name, "arguments")
        case _:
            return None


def _call(block: Fields, name: Any, key: str) -> Fields:
    told = {"id": block["id"]} if "id" in block else {}
    return told | {"name": name} | ({"arguments": block[key]} if key in block else {})


def _thought(block: Any) -> str | None:
    if not isinstance(block, dict) or block.get("type") not in ("thinking", "reasoning"):
        return None
    return next((block[key] for key in _THOUGHTS if isinstance(block.get(key), str)), None)


def is_result(block: Any) -> bool:
    """Whether a block answers a call."""
    return isinstance(block, dict) and block.get("type") in ("tool_result", "toolResponse", "function_response")


def asks(content: Any) -> bool:
    """Whether the content of a user's message says something beside answering calls."""
    if not isinstance(content, list):
        return content is not None
    return not any(map(is_result, content))


def said(content: Any) -> str:
    """The text of a content, whatever its shape."""
    if isinstance(content, str):
        return content
    parts = map(part_text, content) if isinstance(content, list) else ()
    return "\n".join(text for text in parts if text)
