"""The arguments that a cut JSON call tells whole: `{"name": "f", "arguments": {"a": 1, "b": "…`."""

import re
from collections.abc import Mapping
from typing import Any

from analysis.reading.json_names import ARGUMENT_KEYS
from analysis.reading.values import JSON_LIKE, Broken, Cut, Style, Values

_ARGUMENTS = re.compile(rf'["\'](?:{"|".join(ARGUMENT_KEYS)})["\']\s*:\s*(?=\{{)')


def closed_arguments(text: str, start: int, name: str) -> Mapping[str, Any]:
    """The members that closed in the arguments of the call of `name` whose JSON begins at `start` of `text`."""
    own = text.find(name, start)
    arguments = _ARGUMENTS.search(text, start if own < 0 else own + len(name))
    return {} if arguments is None else closed_pairs(text, arguments.end(), ":", JSON_LIKE)


def closed_pairs(text: str, at: int, joint: str, style: Style) -> Mapping[str, Any]:
    """The outermost pairs, with `joint` between key and value, that closed behind the bracket at `at`."""
    reader = Values(text, at, style)
    try:
        reader.pairs(joint)
    except (Cut, Broken):
        return reader.closed
    return reader.closed
