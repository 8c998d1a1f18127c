"""The arguments that a cut call tells whole behind its name: `name(a=1, b="…`, `name{a:1,b:…`, `name: {"a": 1, …`."""

import re
from collections.abc import Mapping
from typing import Any

from analysis.reading.json_members import closed_pairs
from analysis.reading.values import GEMMA, JSON_LIKE, PYTHON

_OPENING = re.compile(r"[^{(\n]{0,160}\n?\s*(?P<bracket>[{(])\s*(?P<object>(?=\{))?")


def closed_behind(text: str, name: str, at: int) -> Mapping[str, Any]:
    """The arguments that closed behind the name that ends at `at` of `text`; `name` is that of the call."""
    opening = _OPENING.match(text, at)
    if opening is None or not name:
        return {}
    bracket = opening.start("bracket")
    if opening["bracket"] == "(":
        return (
            closed_pairs(text, opening.end(), ":", JSON_LIKE)
            if opening["object"] is not None
            else closed_pairs(text, bracket, "=", PYTHON)
        )
    return closed_pairs(text, bracket, ":", JSON_LIKE) or closed_pairs(text, bracket, ":", GEMMA)
