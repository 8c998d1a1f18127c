"""Contents of Google's generateContent as fields of a generation and as messages of chat completions."""

from typing import Any

from ingest.shapes.openai_message import Fields
from ingest.shapes.told import Pieces

Object = dict[str, Any]


def told(value: Object, key: str) -> Any:
    """What stands in `value` under `key`, in camel case or snake case."""
    if key in value:
        return value[key]
    return value.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key))


def parts_of(candidate: Object) -> list[Any]:
    """The parts of the content of a candidate; none where it has none."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def part_fields(content: Any, *, mended: bool = False) -> Fields:
    """Text, thoughts and calls of a content: a text, a part, or a list of them.

    Parts of other kinds are kept as `content_parts`.
    """
    if isinstance(content, str):
        return {"content": content, "text_fidelity": "normalised" if mended else "exact"}
    pieces = Pieces()
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str():
                pieces.texts.append(part)
            case {"text": str() as text}:
                (pieces.thoughts if part.get("thought") is True else pieces.texts).append(text)
            case {"functionCall": dict() as call} | {"function_call": dict() as call}:
                pieces.calls.append(_call(call))
            case None:
                pass
            case _:
                pieces.others.append(part)
    return pieces.fields(mended=mended)


def _call(call: Object) -> Object:
    names = {"id": "id", "name": "name", "args": "arguments"}
    return {ours: call[key] for key, ours in names.items() if call.get(key) is not None}


def messages_of(content: Object) -> list[Object]:
    """A content as messages: a result of a function becomes one of its own."""
    parts = parts_of({"content": content})
    results = [part for part in parts if isinstance(part, dict) and told(part, "functionResponse")]
    called = [told(part, "functionCall") for part in parts if isinstance(part, dict)]
    calls = [{"id": call.get("id"), "function": call} for call in called if isinstance(call, dict)]
    rest = [part for part in parts if not _is_aside(part)]
    if results and not rest:
        return [_result(part) for part in results]
    role = "assistant" if content.get("role") == "model" else content.get("role", "user")
    return [*map(_result, results), {"role": role, "content": rest} | ({"tool_calls": calls} if calls else {})]


def _is_aside(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    return bool(part.get("thought") is True or told(part, "functionCall") or told(part, "functionResponse"))


def _result(part: Object) -> Object:
    result = told(part, "functionResponse")
    call_id = result.get("id") if isinstance(result, dict) else None
    return {"role": "tool", "tool_call_id": call_id, "content": [result]}
