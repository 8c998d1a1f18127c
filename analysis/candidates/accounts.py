"""What a replay tells of its detectors beside their verdicts: failures with examples, and what was noticed of code."""

from typing import Any

from pydantic_core import from_json

from analysis.filters import Filters
from ingest.store import Cursor, Store

KINDS = 20
"""Sorts of failures that are told."""

UNKNOWN = {"by": "none", "why": "it judged before leakdown could isolate code"}

_FAILURES = """
SELECT split_part(v.error, ':', 1) AS sort, count(*) AS n, arg_min(v.error, place), arg_min(g.generation_id, place),
    arg_min(g.run_id, place)
FROM (
    SELECT *, (upload_id, line, position) AS place FROM facts
    WHERE ({condition}) AND coalesce(role, 'agent') IN ('agent', 'subagent') AND reply <> 'empty'
        AND pruning IS NULL
) g JOIN verdicts v ON v.verdict_key = g.verdict_key
WHERE v.detector = $detector AND v.error IS NOT NULL GROUP BY sort ORDER BY n DESC, sort LIMIT {kinds}
"""


def accounts(store: Store, baseline: str, candidate: str, filters: Filters) -> dict[str, Any]:
    """For the JSON of a replay: `failures` of each side, the most frequent sort first, each with its first example;
    `checks` and `isolation` of each side, null for what is no code."""
    sides = {"baseline": baseline, "candidate": candidate}
    with store.cursor() as cursor:
        return {
            "failures": {side: _failures(cursor, each, filters) for side, each in sides.items()},
            "checks": {side: _checks(cursor, each)[0] for side, each in sides.items()},
            "isolation": {side: _checks(cursor, each)[1] for side, each in sides.items()},
        }


def isolation_of(store: Store, detector_id: str) -> dict[str, Any] | None:
    """How the code ran that gave the stored verdicts; None for what is no code, or has judged nothing."""
    with store.cursor() as cursor:
        return _checks(cursor, detector_id)[1]


def _failures(cursor: Cursor, detector_id: str, filters: Filters) -> list[dict[str, Any]]:
    condition, parameters = filters.sql()
    sql = _FAILURES.format(condition=condition, kinds=KINDS)
    rows = cursor.execute(sql, {"detector": detector_id, **parameters}).fetchall()
    names = ("sort", "n", "error", "generation_id", "run_id")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _checks(cursor: Cursor, detector_id: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    rows = cursor.execute("SELECT checks FROM candidates WHERE detector = $1", [detector_id]).fetchall()
    if not rows or not rows[0][0]:
        return None, None
    checks = from_json(rows[0][0])
    return checks, checks.pop("isolation", UNKNOWN)
