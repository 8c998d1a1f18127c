"""Items of OpenAI's Responses API as fields of a generation and as messages of chat completions."""

from collections.abc import Iterable
from typing import Any

from ingest.shapes.openai_message import Fields, part_text

Object = dict[str, Any]

CALLS = ("function_call", "custom_tool_call")


def item_fields(items: Iterable[Any], *, mended: bool = False) -> Fields:
    """Text, reasoning and calls of the output of a response; items of other kinds are kept as `output_items`."""
    texts: list[str] = []
    parts: list[Any] = []
    thoughts, summaries, calls, others = [], [], [], []
    for item in items:
        match item:
            case {"type": "message", "content": list() as content}:
                texts += [text for part in content if (text := part_text(part)) is not None]
                parts += [part for part in content if part_text(part) is None]
            case {"type": "reasoning"}:
                thoughts += _texts(item.get("content"))
                summaries += _texts(item.get("summary"))
            case {"type": "function_call" | "custom_tool_call"}:
                calls.append(_call(item))
            case _:
                others.append(item)
    fields: Fields = {"content": "".join(texts) if texts else None}
    if texts:
        whole = len(texts) == 1 and not parts
        fields["text_fidelity"] = "normalised" if mended else "exact" if whole else "rebuilt"
    fields |= _reasoning("".join(thoughts), "\n\n".join(summaries))
    fields |= {"tool_calls": calls} if calls else {}
    return fields | {key: kept for key, kept in (("content_parts", parts), ("output_items", others)) if kept}


def _reasoning(thought: str, summary: str) -> Fields:
    """The reasoning itself, or else the summary of it, which is all that OpenAI's own models give."""
    if thought and summary and summary != thought:
        return {"reasoning": thought, "reasoning_summary": summary}
    return {"reasoning": thought or summary} if thought or summary else {}


def _texts(parts: Any) -> list[str]:
    if not isinstance(parts, list):
        return []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _call(item: Object) -> Object:
    """A call: what results refer to is its `call_id`, not the id of the item."""
    told = {"id": item.get("call_id", item.get("id")), "name": item.get("name")}
    if item["type"] == "custom_tool_call":
        told["type"] = "custom"
    raw = "input" if item["type"] == "custom_tool_call" else "arguments"
    return told | ({"arguments": item[raw]} if raw in item else {})


def chat_messages(items: Iterable[Any]) -> list[Object]:
    """Items as messages: text and calls that follow each other are one answer, as in chat completions."""
    found: list[Object] = []
    for item in items:
        if not isinstance(item, dict):
            raise ValueError("the input holds something other than objects")
        kind = item.get("type", "message")
        if kind in CALLS or (kind == "message" and item.get("role") == "assistant"):
            _extend(_answer(found), item)
        elif kind == "message":
            found.append({"role": item.get("role"), "content": item.get("content")})
        elif "output" in item and "call_id" in item:
            found.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
    return found


def _answer(found: list[Object]) -> Object:
    if not found or found[-1]["role"] != "assistant":
        found.append({"role": "assistant", "content": [], "tool_calls": []})
    return found[-1]


def _extend(answer: Object, item: Object) -> None:
    if item.get("type") in CALLS:
        function = {key: item.get(key) for key in ("name", "arguments", "input") if key in item}
        answer["tool_calls"].append({"id": item.get("call_id"), "function": function})
    else:
        content = item.get("content")
        answer["content"] += content if isinstance(content, list) else [content]
