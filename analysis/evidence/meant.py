"""What contaminated structured calls were meant to be: the offered name in the debris, arguments without it."""

import json
import re
from collections.abc import Iterator
from typing import Any

from analysis.evidence.contamination import DEBRIS, DEEPEST, in_key, piece
from analysis.output import Call
from analysis.reading.json_names import named

_START = re.compile(rf"\s*(?:{DEBRIS})")
_TOKENS_FIRST = re.compile(r"(?:<[|｜][^<>]{1,40}[|｜]?>|\[[A-Z_]{3,20}\]|</?[\w:]{1,32}>|[\s\[({<>\"'])*+")
_NAME = re.compile(r"[^\W\d][\w.:/-]*+")
_NOTHING = object()


def meant(calls: tuple[Call, ...], names: frozenset[str]) -> tuple[Call, ...]:
    """The structured calls without debris; those left out that tell no name."""
    return tuple(found for call in calls for found in _meant(call, names))


def _meant(call: Call, names: frozenset[str]) -> Iterator[Call]:
    value = _value(call.arguments)
    if not call.name.strip():
        for each in named(value, names) or () if value is not _NOTHING else ():
            yield Call(each.name, None if each.arguments is None else json.dumps(each.arguments, ensure_ascii=False))
        return
    name = call.name if call.name in names else _name(call.name, names)
    if name:
        yield Call(name, None if value is _NOTHING else json.dumps(_cleaned(value, "", 0), ensure_ascii=False))


def _name(text: str, names: frozenset[str]) -> str | None:
    """The longest offered name that stands in `text` as a word; where no tools are known, the first word."""
    found = [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
    if names:
        return max(found, key=len, default=None)
    lead = _TOKENS_FIRST.match(text)
    word = _NAME.match(text.removeprefix("functions."), lead.end() if lead else 0)
    return word[0].removesuffix(":") if word else None


def _value(arguments: str | None) -> Any:
    """The JSON value at the start of the arguments, debris behind it or not."""
    try:
        return json.JSONDecoder(strict=False).raw_decode((arguments or "{}").lstrip())[0]
    except (ValueError, RecursionError):
        return _NOTHING


def _cleaned(value: Any, key: str, depth: int) -> Any:
    """`value` without debris in its keys and at the edges of its strings."""
    if depth > DEEPEST:
        return value
    if isinstance(value, str):
        return _text(value, key) if piece(value) else value
    if isinstance(value, list):
        return [_cleaned(each, key, depth + 1) for each in value]
    if isinstance(value, dict):
        return {_key(name): _cleaned(each, name, depth + 1) for name, each in value.items()}
    return value


def _key(text: str) -> str:
    debris = in_key(text)
    return text.removesuffix(debris).strip() if debris else text


def _text(text: str, key: str) -> str:
    """A value without debris at its edges; the line end that Qwen's template puts before a closer goes with it."""
    closers = re.compile(rf"(?:{DEBRIS}|</{re.escape(key)}>)\s*\Z")
    first = _START.match(text)
    text = text[first.end() :] if first and first.end() < len(text) else text
    inner = ""
    while (found := closers.search(text, max(0, len(text) - 400))) is not None:
        text, inner = text[: found.start()], found[0]
    return text.removesuffix("\n") if inner.startswith("</") and "DSML" not in inner else text
