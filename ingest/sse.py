"""Server-sent events (WHATWG HTML §9.2) whose data are JSON, as providers stream them and loggers keep them."""

import re
from typing import Any

from pydantic_core import from_json

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
    except ValueError:
        return []
    return [value] if isinstance(value, dict) else []
