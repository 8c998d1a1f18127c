"""Gemma's pairs: `{city:<|"|>Oslo<|"|>,days:3}`, with strings between tokens, quotes, or bare."""

from collections.abc import Mapping
from typing import Any

from analysis.reading import Damages, Scan, damages
from analysis.reading.values import GEMMA, Broken, Cut, Values


def read_pairs(scan: Scan, at: int) -> tuple[Mapping[str, Any] | None, Mapping[str, Any], int, Damages] | None:
    """The pairs in the braces (or parentheses) that open at `at`: all of them (None if the text ends within), those
    told whole, their end and damage. None if no pairs stand there."""
    reader = Values(scan.text, at, GEMMA)
    try:
        value = reader.pairs(":")
    except Cut:
        scan.charge(len(scan.text) - at, reader.steps)
        return None, reader.closed, len(scan.text), damages("cut")
    except Broken:
        scan.charge(reader.at - at, reader.steps)
        return None
    return (value, value, reader.at, frozenset(reader.damage)) if scan.charge(reader.at - at, reader.steps) else None
