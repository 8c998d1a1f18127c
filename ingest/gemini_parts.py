"""Parts of Gemini's API (`{text, thought}`, `{functionCall}`), as fields of a generation."""

from typing import Any

from ingest.openai_message import Fields
from ingest.told import Pieces


def part_fields(content: Any) -> Fields:
    """Text, reasoning and calls of a content: a text, a part, or a list of them."""
    if isinstance(content, str):
        return {"content": content, "text_fidelity": "exact"}
    pieces = Pieces()
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str():
                pieces.texts.append(part)
            case {"text": str() as text}:
                (pieces.thoughts if part.get("thought") is True else pieces.texts).append(text)
            case {"functionCall": dict() as call}:
                pieces.calls.append(_call(call))
            case None:
                pass
            case _:
                pieces.others.append(part)
    return pieces.fields()


def _call(call: Fields) -> Fields:
    names = {"id": "id", "name": "name", "args": "arguments"}
    return {ours: call[key] for key, ours in names.items() if key in call}
