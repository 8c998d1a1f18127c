"""Numbers on a page: counts, shares with their interval, and p-values in words. Undefined is a dash."""

from dataclasses import dataclass
from typing import Any

DASH = "–"
BAR = 100
"""Units of a bar's width."""


def count(number: int | None) -> str:
    """A count with thousands apart."""
    return DASH if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """A share in percent, one decimal; two below 1 %."""
    if share is None:
        return DASH
    return f"{share:.2%}" if 0 < share < 0.01 else f"{share:.1%}"


def p_value(p: float | None) -> str:
    """A p-value to three significant digits."""
    return DASH if p is None else ("< 0.001" if p < 0.001 else f"= {p:.3g}")


def evidence(e_value: float) -> str:
    """An e-value: whole from ten on, without more digits than it is worth."""
    if e_value >= 1e6:
        return f"{e_value:.0e}".replace("e+", " × 10^").replace("^0", "^")
    return f"{e_value:,.0f}" if e_value >= 10 else f"{e_value:.2g}"


@dataclass(frozen=True, slots=True)
class Share:
    """A rate with its hits, n and 95 % interval, drawn on a bar whose right end is `full`."""

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    full: float = 1.0

    def at(self, share: float | None) -> float:
        """Where `share` stands on the bar."""
        return round(BAR * min(1.0, (share or 0.0) / self.full), 2)


def shares(rows: list[dict[str, Any]], name: str, hits: str, n: str) -> list[Share]:
    """The shares `<name>_rate` of `rows`, on one scale: the next step above the largest interval."""
    full = step(max((row[f"{name}_high"] or 0.0 for row in rows), default=0.0))
    return [
        Share(row[hits], row[n], row[f"{name}_rate"], row[f"{name}_low"], row[f"{name}_high"], full) for row in rows
    ]


def step(largest: float) -> float:
    """Where a bar ends: the next round share above the `largest`."""
    return next(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if largest <= end or end == 1.0)


@dataclass(frozen=True, slots=True)
class Change:
    """A difference of shares with its interval, drawn on a bar with zero in its middle and `full` at its ends."""

    n: int
    value: float | None
    low: float | None
    high: float | None
    words: str
    full: float = 1.0

    def at(self, value: float | None) -> float:
        """Where `value` stands on the bar, from 0 to 100."""
        return round(50 + 50 * max(-1.0, min(1.0, (value or 0.0) / self.full)), 2)


def percent_points(value: float | None) -> str:
    """A difference in points, signed."""
    if value is None:
        return "–"
    return f"{100 * value:+.1f}" if abs(value) >= 0.001 or value == 0 else f"{100 * value:+.3f}"
