"""The runs that leaked, a piece at a time, in order by run: what one takes in memory does not grow with the store."""

from analysis.filters import Filters
from analysis.recovery.outcomes import Among
from ingest.store import Cursor, one

MOST = 200_000
"""Generations of a piece, but for those of its last run."""

_LEAKING = """
CREATE OR REPLACE TEMP TABLE leaking_runs AS
WITH leaking AS (
    SELECT run_id, count(*) AS n FROM generations WHERE run_id IN (
        SELECT g.run_id FROM generations g JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
        WHERE v.tier IN ('certain', 'likely')
    ) GROUP BY run_id
)
SELECT run_id, (sum(n) OVER (ORDER BY run_id ROWS UNBOUNDED PRECEDING) - n) // $most AS piece FROM leaking
"""
REST = Among("run_id NOT IN (SELECT run_id FROM leaking_runs)")
"""The runs that are in no piece."""


def pieces(cursor: Cursor, detector_id: str) -> list[Among]:
    """The pieces, one at least; the temporary table `leaking_runs` must stay. Within a transaction of `cursor`."""
    cursor.execute(_LEAKING, {"detector": detector_id, "most": MOST})
    [last] = one(cursor, "SELECT coalesce(max(piece), 0) FROM leaking_runs")
    of_piece = "run_id IN (SELECT run_id FROM leaking_runs WHERE piece = $piece)"
    return [Among(of_piece, {"piece": at}) for at in range(int(last) + 1)]


def asked(filters: Filters, among: Among) -> Among:
    """Whether a `key` is of a generation that `filters` ask for, as SQL, among the runs at hand."""
    if filters == Filters():
        return Among()
    condition, parameters = filters.sql()
    sql = f"key IN (SELECT key FROM facts WHERE {condition} AND {among.sql})"  # noqa: S608 - the condition binds its values
    return Among(sql, {**parameters, **among.parameters})
