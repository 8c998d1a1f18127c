"""Parts of Gemini's API (`{text, thought}`, `{functionCall}`), as fields of a generation."""

from typing import Any

from ingest.openai_message import Fields


def part_fields(content: Any) -> Fields:
    """Text, reasoning and calls of a content: a text, a part, or a list of them."""
    if isinstance(content, str):
        return {"content": content, "text_fidelity": "exact"}
    parts = content if isinstance(content, list) else [content]
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Fields] = []
    others: list[Any] = []
    for part in parts:
        match part:
            case str():
                texts.append(part)
            case {"text": str() as text}:
                (thoughts if part.get("thought") is True else texts).append(text)
            case {"functionCall": dict() as call}:
                calls.append(_call(call))
            case None:
                pass
            case _:
                others.append(part)
    fields: Fields = {"content": "".join(texts) if texts else None}
    fields |= {"text_fidelity": "exact" if len(texts) == 1 else "rebuilt"} if texts else {}
    fields |= {"reasoning": "".join(thoughts)} if thoughts else {}
    fields |= {"tool_calls": calls} if calls else {}
    return fields | ({"content_parts": others} if others else {})


def _call(call: Fields) -> Fields:
    names = {"id": "id", "name": "name", "args": "arguments"}
    return {ours: call[key] for key, ours in names.items() if key in call}
