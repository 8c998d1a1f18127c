"""What else changed at a change point: versions, the number of tools offered, the size of prompts.

A rate can move because a model got worse, or because it was asked other things. Whatever else moved stands beside it.
"""

from dataclasses import dataclass
from typing import Any

from scipy.stats import chi2_contingency

from analysis.drift.cells import LINE, Part
from analysis.request_sizes import SIZES, TABLE
from analysis.version_order import VERSIONS
from ingest.store import Cursor

LEAST = 0.10
"""A shift of fewer points is not told, however sure it is."""
SURE = 0.01

_WHATS = {**{name: f"g.{name}" for name in VERSIONS}, **SIZES}
_COUNTS = f"""
SELECT {{value}} AS value, count(*) FILTER (g.started_at < $at) AS before, count(*) FILTER (g.started_at >= $at)
FROM facts g SEMI JOIN run_cells c
    ON c.run_id = g.run_id AND {" AND ".join(f"c.{name} IS NOT DISTINCT FROM ${name}" for name in LINE)}
LEFT JOIN {TABLE}
WHERE g.eligible AND g.tools_known = $tools_known AND g.started_at::DATE BETWEEN $first AND $last
    AND {" AND ".join(f"g.{name} IS NOT DISTINCT FROM ${name}" for name in LINE)}
GROUP BY ALL
"""  # noqa: S608 - the names are ours


@dataclass(frozen=True, slots=True)
class Shift:
    """The value of `what` whose share moved most: from `before` to `after`, of the generations that tell it."""

    what: str
    value: str
    before: float
    after: float

    def as_json(self) -> dict[str, Any]:
        """As it stands."""
        return {"what": self.what, "value": self.value, "before": self.before, "after": self.after}


def shifts(cursor: Cursor, line: tuple[Any, ...], before: Part, after: Part) -> tuple[Shift, ...]:
    """What moved by `LEAST` or more between two parts of a line of `run_cells`."""
    given = {
        **dict(zip(LINE, line[:-1], strict=True)),
        "tools_known": line[-1], "first": before.first_day, "at": after.first_day, "last": after.last_day,
    }  # fmt: skip
    found = [_shift(cursor, what, sql, given) for what, sql in _WHATS.items()]
    return tuple(each for each in found if each)


def _shift(cursor: Cursor, what: str, sql: str, given: dict[str, Any]) -> Shift | None:
    found = cursor.execute(_COUNTS.format(value=sql), given).fetchall()
    return _largest(what, {value: (before, after) for value, before, after in found if value is not None})


def _largest(what: str, counts: dict[str, tuple[int, int]]) -> Shift | None:
    before, after = (sum(each[side] for each in counts.values()) for side in (0, 1))
    if len(counts) < 2 or not before or not after:
        return None
    shares = {label: (old / before, new / after) for label, (old, new) in counts.items()}
    moves = {label: new - old for label, (old, new) in shares.items()}
    label = max(moves, key=lambda each: (round(abs(moves[each]), 9), moves[each]))  # of two alike, what rose
    old, new = shares[label]
    if abs(new - old) < LEAST or chi2_contingency([*counts.values()]).pvalue > SURE:
        return None
    return Shift(what, label, old, new)
