"""Items of a response of OpenAI's Responses API, as Codex keeps them in its rollouts."""

from typing import Any

from ingest.shapes.openai_message import Fields

ITEMS = frozenset((
    "message", "reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call",
    "tool_search_call", "image_generation_call", "function_call_output", "custom_tool_call_output",
    "tool_search_output", "mcp_tool_call_output", "compaction", "compaction_summary", "context_compaction",
    "ghost_snapshot", "other",
))  # fmt: skip
_CALLS = {"local_shell_call": "local_shell", "web_search_call": "web_search", "tool_search_call": "tool_search",
          "image_generation_call": "image_generation"}  # fmt: skip
"""Calls of tools that the API knows by type, and the names these go by."""
_TEXTS = ("output_text", "text")


def is_output(item: Fields) -> bool:
    """Whether a model wrote `item`."""
    kind = item.get("type")
    if kind == "message":
        return item.get("role") == "assistant"
    return isinstance(kind, str) and (kind in ("reasoning", "function_call", "custom_tool_call") or kind in _CALLS)


def item_fields(items: list[Fields]) -> Fields:
    """Text, reasoning and calls of a response; text is null where no item holds any."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Fields] = []
    fields: Fields = {}
    for item in items:
        if item.get("type") == "message":
            texts += _texts(item.get("content"))
        elif item.get("type") == "reasoning":
            fields |= _reasoning(item, thoughts)
        else:
            calls.append(_call(item))
    fields["content"] = "".join(texts) if texts else None
    fields["text_fidelity"] = "exact" if len(texts) < 2 and len(thoughts) < 2 else "rebuilt"
    fields |= {"reasoning": "".join(thoughts)} if thoughts else {}
    return fields | ({"tool_calls": calls} if calls else {})


def _reasoning(item: Fields, thoughts: list[str]) -> Fields:
    """Adds to `thoughts` what the model thought, or where that is kept from us its summary."""
    told = _texts(item.get("content"), "reasoning_text", "text")
    summary = [] if told else _texts(item.get("summary"), "summary_text", "text")
    thoughts += told or summary
    encrypted = {"reasoning_encrypted": True} if isinstance(item.get("encrypted_content"), str) else {}
    return encrypted | ({"reasoning_summary": True} if summary else {})


def _texts(content: Any, *kinds: str) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    wanted = kinds or _TEXTS
    return [
        part["text"]
        for part in parts
        if isinstance(part, dict) and part.get("type") in wanted and isinstance(part.get("text"), str)
    ]


def _call(item: Fields) -> Fields:
    kind = item["type"]
    name = _CALLS.get(kind) or item.get("name")
    call_id = item.get("call_id") or item.get("id")
    call: Fields = {"name": name} | ({"id": call_id} if call_id else {})
    if kind == "custom_tool_call":
        call["type"] = "custom"
    if isinstance(item.get("namespace"), str):
        call["namespace"] = item["namespace"]
    found = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
    return call if found is None else {**call, "arguments": found}
