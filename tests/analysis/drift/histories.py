"""Histories of a line, day by day, as records."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from tests.analysis.stories import Json, said

FIRST = date(2026, 9, 1)
TODAY = date(2026, 11, 30)
LEAK = "LEAK"


def day(number: int) -> date:
    """The day with this number; the first is 0."""
    return FIRST + timedelta(days=number)


def history(days: range, leaks: int, of: int = 10, runs: int = 3, size: int = 1, **fields: Any) -> Iterator[Json]:
    """`runs` runs a day of `size` generations each; of every `of` generations of a day the first `leaks` leak."""
    for number in days:
        for at in range(runs * size):
            text = LEAK if at % of < leaks else "All is well."
            where = {"run": f"{fields.get('model', 'm')}-{number}-{at // size}", "model": "m", "engine": "vllm"}
            yield said(text, **{**where, "started_at": f"{day(number)}T12:00:00Z", **fields})
