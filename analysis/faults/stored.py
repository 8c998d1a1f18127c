"""A stored leak as the rules take it."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from analysis.detectors import Finding
from analysis.faults import Leaked
from analysis.output import Output

TOLD = ("engine", "tool_parser", "template", "text_fidelity", "status", "tool_choice")
"""Columns of a generation that tell how its text came about."""
FOUND = ("kind", "family", "tier", "tool", "channel", "start", "end", "markup", "reason")
"""Columns of its verdict."""


def stored_leak(row: Mapping[str, Any], output: Output, raw_text: str | None) -> Leaked:
    """A leak from a row that has `TOLD` and `FOUND`."""
    told = {name: row[name] for name in TOLD}
    told["tool_choice"] = _tool_choice(row["tool_choice"])
    return Leaked(output, Finding(**{name: row[name] for name in FOUND}), raw_text, **told)


def _tool_choice(stored: str | None) -> str | None:
    """A choice by its word; a source may wrap it in an object."""
    value = from_json(stored) if stored else None
    word = value.get("type") if isinstance(value, dict) else value
    return word if isinstance(word, str) else None
