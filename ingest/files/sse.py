"""Server-sent events (WHATWG HTML §9.2) whose data are JSON, as providers stream them and loggers keep them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import from_json

from ingest.files.containers import RawLine

Object = dict[str, Any]

FIELD = re.compile(r"(?:data|event|id|retry)?:")
"""The start of a line of an event stream; a comment has no name."""
_ENDS = re.compile(r"\r\n|\r|\n")


def events_of(value: Any) -> list[Object]:
    """The JSON objects of a stream: `value` is their list, or the text that came; empty for anything else."""
    if isinstance(value, str):
        return _parsed(value) if FIELD.match(value.lstrip()) else []
    if isinstance(value, list) and value and all(isinstance(event, dict) for event in value):
        return value
    return []


def events(found: Iterable[RawLine]) -> Iterator[RawLine]:
    """The data of each event of a stream, numbered by the line on which it begins.

    Blank lines, comments, other fields and the `[DONE]` at the end of a stream are its framing.
    """
    start = 0
    data: list[bytes] = []
    for line in found:
        if line.fault is not None:
            yield line
        elif line.data.startswith(b"data:"):
            start = start if data else line.number
            data.append(line.data[5:].removeprefix(b" "))
        elif not line.data.strip() and data:
            yield from _event(start, data)
            data = []
    if data:
        yield from _event(start, data)


def _event(number: int, data: list[bytes]) -> Iterator[RawLine]:
    if (joined := b"\n".join(data)).strip() != b"[DONE]":
        yield RawLine(number, joined)


def _parsed(text: str) -> list[Object]:
    found: list[Object] = []
    data: list[str] = []
    for line in [*_ENDS.split(text), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            found += _object("\n".join(data))
            data = []
    return found


def _object(text: str) -> list[Object]:
    """The object that the data of one event are; none for `[DONE]` and for data that were cut."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):  # half a surrogate pair is no text to it
        return []
    return [value] if isinstance(value, dict) else []
