"""An assistant message and a tool list of OpenAI's chat completions, as fields of a generation.

A key that the source lacks is lacking in the fields, so that absent, null and empty stay apart. What has no
field of its own is kept under its name, or under `message_<name>` where a field of ours has that name.
"""

from collections.abc import Container, Iterable, Iterator
from typing import Any

from pydantic_core import from_json

from ingest.records import Generation, Tool, validate
from ingest.repeats import MadeOnce, one_of_equals

Fields = dict[str, Any]

TEXT_PARTS = ("text", "output_text", "input_text")
REASONING = ("reasoning_content", "reasoning")
"""DeepSeek, SGLang and llama.cpp write the first, OpenRouter and newer vLLM the second, some both."""
_TAKEN = frozenset(Generation.model_fields)
_offers = MadeOnce[list[Any]]()
_MAPPED = {"role", "content", "tool_calls", "function_call", *REASONING}


def message_fields(message: Fields, *, mended: bool = False) -> Fields:
    """The fields of an assistant message; `mended` as of its line. ValueError with a reason for its user."""
    fields = kept("message", message, _MAPPED)
    if "content" in message:
        fields |= _content(message["content"])
    fields |= _reasoning(message)
    fields |= _calls(message)
    if mended and fields.get("text_fidelity", "exact") == "exact":
        fields["text_fidelity"] = "normalised"
    return fields


def kept(owner: str, source: Fields, mapped: Container[str]) -> Fields:
    """What `source` says beyond the keys in `mapped`, under names that are no fields of a generation."""
    return {f"{owner}_{key}" if key in _TAKEN else key: source[key] for key in source if key not in mapped}


def _content(content: Any) -> Fields:
    match content:
        case None:
            return {"content": None}
        case str():
            return {"content": content, "text_fidelity": "exact"}
        case list():
            texts = [text for part in content if (text := part_text(part)) is not None]
            others = [part for part in content if part_text(part) is None]
            fidelity = "rebuilt" if others or len(texts) > 1 else "exact"
            fields = {"content": "".join(texts), "text_fidelity": fidelity}
            return fields | {"content_parts": others} if others else fields
        case _:
            raise ValueError("the content is neither text nor null nor a list of parts")


def part_text(part: Any) -> str | None:
    """The text of one part of a content list; None for an image, a refusal, and whatever else."""
    match part:
        case str():
            return part
        case {"text": str() as text} if part.get("type", "text") in TEXT_PARTS:
            return text
        case _:
            return None


def said(content: Any) -> str:
    """The text of a content, whatever its shape."""
    if isinstance(content, str):
        return content
    parts = map(part_text, content) if isinstance(content, list) else ()
    return "\n".join(text for text in parts if text)


def _reasoning(message: Fields) -> Fields:
    told = {key: message[key] for key in REASONING if key in message}
    if not told:
        return {}
    texts = [value for value in told.values() if isinstance(value, str)]
    if not texts:
        odd = {f"message_{key}": value for key, value in told.items() if value is not None}
        return odd or {"reasoning": None}
    second = {"message_reasoning": texts[1]} if len(texts) > 1 and texts[1] != texts[0] else {}
    return {"reasoning": texts[0]} | second


def _calls(message: Fields) -> Fields:
    """Structured calls, the one of the retired `function_call` among them, as the source has them."""
    legacy = message.get("function_call")
    if "tool_calls" not in message and legacy is None:
        return {}
    calls = message.get("tool_calls")
    if not isinstance(calls, list | None):
        raise ValueError("tool_calls is not a list")
    found = None if calls is None else [_call(call) for call in calls]
    if isinstance(legacy, dict):
        found = [*(found or []), {"type": "function_call", **legacy}]
    return {"tool_calls": found}


def _call(call: Any) -> Any:
    match call:
        case {"custom": {"name": name, **custom}, **rest}:
            arguments = {"arguments": custom["input"]} if "input" in custom else {}
            return {**rest, "name": name, **arguments}
        case _:
            return call


def offered(tools: Any) -> list[Any] | None:
    """A tool list as the tools of a generation; JSON in a string, as data sets hold it, is read.

    A tool of the provider's own has no name: it goes by its type. ValueError if it is no list of tools.
    """
    tools = unpacked(tools)
    if tools is None:
        return None
    if not isinstance(tools, list):
        raise ValueError("tools is not a list")
    return _offers.of(one_of_equals(tools), _offer)


def _offer(tools: list[Any]) -> list[Any]:
    offer: list[Any] = one_of_equals([_tool(unpacked(tool)) for tool in tools])
    return offer


def _tool(tool: Any) -> Any:
    match tool:
        case {"custom": {"name": str()} as custom}:
            return {"type": "custom", **custom}
        case {"type": str() as kind} if "name" not in tool and not isinstance(tool.get("function"), dict):
            return {"name": kind, **tool}
        case _:
            return tool


def unpacked(value: Any) -> Any:
    """`value`, or what it holds if it is JSON of an object or a list in a string; blank is None."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        return None
    try:
        return from_json(text, allow_inf_nan=False) if text[0] in "[{" else value
    except ValueError:
        return value


def validated(line: Iterable[Fields]) -> Iterator[Generation]:
    """The generations of one line. Their tools are one list, validated once and shared: a line may hold
    thousands of both.
    """
    shared: list[Tool] | None = None
    for number, fields in enumerate(line):
        if number and "tools" in fields:
            record = _generation({key: value for key, value in fields.items() if key != "tools"})
            yield record.model_copy(update={"tools": shared})
        else:
            record = _generation(fields)
            shared = record.tools
            yield record


def _generation(fields: Fields) -> Generation:
    record = validate({**fields, "type": "generation"})
    assert isinstance(record, Generation)  # noqa: S101 - its type says so
    return record
