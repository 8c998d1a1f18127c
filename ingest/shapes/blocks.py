"""Messages whose content is a list of blocks (text, thinking, calls), as agents keep them.

Anthropic's blocks and their kin: Cline, Roo, Pi, goose, Cursor, and data sets in Anthropic's shape. Arguments are
objects there; what the model wrote is gone.
"""

from base64 import b64decode
from typing import Any

from ingest.shapes.openai_message import Fields, part_text, unpacked
from ingest.shapes.told import Pieces

Object = dict[str, Any]

_THOUGHTS = ("thinking", "reasoning", "text")
_SMUGGLED = "openrouter.reasoning:"
"""OpenRouter keeps reasoning that is not encrypted as redacted thinking: this, and Base64 of JSON or text."""


def block_fields(content: Any, *, mended: bool = False) -> Fields:
    """Text, reasoning and calls of a content; one that is neither text nor null nor a list is no record's.

    Blocks of other kinds are kept as `content_parts`.
    """
    if isinstance(content, str):
        return {"content": content, "text_fidelity": "normalised" if mended else "exact"}
    return _pieces(content).fields(mended=mended) if isinstance(content, list) else {"content": content}


def _pieces(blocks: list[Any]) -> Pieces:
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
    return pieces


def call_of(block: Any) -> Fields | None:
    """The call that a block makes; None for other blocks."""
    match block:
        case {"type": "tool_use"}:
            return _call(block, "input")
        case {"type": "toolCall", "name": _}:
            return _call(block, "arguments")
        case {"type": "toolRequest", "toolCall": {"status": "success", "value": {"name": _} as call}}:  # goose
            return _call({**call, **({"id": block["id"]} if "id" in block else {})}, "arguments")
        case _:
            return None


def _call(block: Fields, key: str) -> Fields:
    """A call with its input as it came: an object, or the raw text of a stream."""
    told = {name: block[name] for name in ("id", "name") if name in block}
    return told | ({"arguments": block[key]} if key in block else {})


def _thought(block: Any) -> str | None:
    if not isinstance(block, dict):
        return None
    if block.get("type") == "redacted_thinking" and isinstance(block.get("data"), str):
        return _smuggled(block["data"])
    if block.get("type") not in ("thinking", "reasoning"):
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


def _smuggled(data: str) -> str | None:
    if not data.startswith(_SMUGGLED):
        return None
    try:
        text = b64decode(data.removeprefix(_SMUGGLED), validate=True).decode()
    except ValueError:
        return None
    inner = unpacked(text)
    told = inner.get("text") if isinstance(inner, dict) else text
    return told if isinstance(told, str) else None


def offered_tools(tools: Any) -> list[Any] | None:
    """A tool list of Anthropic's: `input_schema` are the parameters."""
    if tools is None:
        return None
    if not isinstance(tools, list):
        raise ValueError("tools is not a list")
    return [_tool(tool) for tool in tools]


def _tool(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    tool = {"parameters" if key == "input_schema" else key: value for key, value in tool.items()}
    return tool if "name" in tool or "type" not in tool else {"name": tool["type"], **tool}


BESIDE_RESULTS = "beside_results"
"""Marks what stood beside results of tools in one message: reminders of the host, no request of the user."""


def chat_messages(message: Object) -> list[Object]:
    """A message as those of chat completions: a result of a tool becomes one of its own."""
    blocks = message.get("content")
    if not isinstance(blocks, list):
        return [message]
    results = [_result(block) for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"]
    calls = [_chat_call(block) for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"]
    rest = [block for block in blocks if not (isinstance(block, dict) and block.get("type") in _APART)]
    if results and not rest:
        return results
    said = {"role": message.get("role"), "content": rest} | ({"tool_calls": calls} if calls else {})
    return [*results, said | ({BESIDE_RESULTS: True} if results else {})]


_APART = ("tool_result", "tool_use", "thinking", "redacted_thinking")


def _result(block: Object) -> Object:
    return {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": block.get("content")}


def _chat_call(block: Object) -> Object:
    return {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}
