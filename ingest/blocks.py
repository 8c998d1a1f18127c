"""Content blocks of Anthropic's Messages API as fields of a generation and as messages of chat completions."""

from base64 import b64decode
from typing import Any

from ingest.openai_message import Fields, unpacked

Object = dict[str, Any]

_SMUGGLED = "openrouter.reasoning:"
"""OpenRouter keeps reasoning that is not encrypted as redacted thinking: this, and Base64 of JSON or text."""


def block_fields(blocks: list[Any], *, mended: bool = False) -> Fields:
    """Text, reasoning and calls of the content of a reply; blocks of other kinds are kept as `content_parts`."""
    texts, thoughts, calls, others = [], [], [], []
    for block in blocks:
        match block:
            case {"type": "text", "text": str() as text}:
                texts.append(text)
            case {"type": "thinking", "thinking": str() as thought}:
                thoughts.append(thought)
            case {"type": "redacted_thinking", "data": str() as data} if plain := _smuggled(data):
                thoughts.append(plain)
            case {"type": "tool_use"}:
                calls.append(_call(block))
            case _:
                others.append(block)
    fields: Fields = {"content": "".join(texts) if texts else None}
    if texts:
        fields["text_fidelity"] = "normalised" if mended else "exact" if len(texts) == 1 else "rebuilt"
    fields |= {"reasoning": "".join(thoughts)} if thoughts else {}
    fields |= {"tool_calls": calls} if calls else {}
    return fields | ({"content_parts": others} if others else {})


def _call(block: Object) -> Object:
    """A call with its input as it came: an object, or the raw text of a stream."""
    told = {key: block[key] for key in ("id", "name") if key in block}
    return told | ({"arguments": block["input"]} if "input" in block else {})


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
    return [*results, said]


_APART = ("tool_result", "tool_use", "thinking", "redacted_thinking")


def _result(block: Object) -> Object:
    return {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": block.get("content")}


def _chat_call(block: Object) -> Object:
    return {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}
