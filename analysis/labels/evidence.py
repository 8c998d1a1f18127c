"""Weak evidence of leaks: a framework's reprimand, a client's report. It is shown apart, and never part of truth."""

from collections.abc import Mapping
from typing import Any

from analysis.labels.counted import counted
from analysis.statistics.intervals import clustered_rate
from ingest.store import Store

SOURCES = ("reprimand", "event")
"""A framework that reprimanded the model for its reply; a client that reported a leak (`leaked_tool_call`)."""

_TOLD = """
SELECT w.source, w.run_id, count(*) AS n, count(t.leak) AS labelled, count(*) FILTER (t.leak) AS leaks
FROM (
    SELECT run_id, verdict_key, 'reprimand' AS source FROM hints WHERE reprimanded
    UNION ALL SELECT run_id, verdict_key, 'event' FROM hints WHERE reported
) w LEFT JOIN truth t USING (verdict_key) GROUP BY w.source, w.run_id
"""
_LEAKS = "SELECT g.run_id, count(*) FROM labelled g JOIN truth t USING (verdict_key) WHERE t.leak GROUP BY g.run_id"


def against_truth(store: Store) -> list[dict[str, Any]]:
    """How often each source and the labels agree, as JSON, by generations.

    `right`: of those that the source hints at and whose truth is known (`labelled`), the share that is a leak.
    `told`: of the leaks by truth (`leaks`), the share that the source hints at; most logs have no such source at all,
    so a low one need not be its fault. Intervals as for every rate.
    """
    with counted(store) as cursor:
        hints = cursor.execute(_TOLD).fetchall()
        leaks = dict(cursor.execute(_LEAKS).fetchall())
    return [_row(source, [row[1:] for row in hints if row[0] == source], leaks) for source in SOURCES]


def _row(source: str, hints: list[tuple[str, int, int, int]], leaks_of: Mapping[str, int]) -> dict[str, Any]:
    """Of one source: `hints` are (run, generations, labelled, leaks among them), `leaks_of` all leaks of each run."""
    found = {run: leaks for run, _, _, leaks in hints}
    right = clustered_rate((leaks, labelled) for _, _, labelled, leaks in hints)
    told = clustered_rate((found.get(run, 0), leaks) for run, leaks in leaks_of.items())
    return {
        "source": source,
        "generations": sum(n for _, n, _, _ in hints),
        "labelled": right.n,
        "right": right.hits,
        "right_share": right.value,
        "right_low": right.low,
        "right_high": right.high,
        "leaks": told.n,
        "told": told.hits,
        "told_share": told.value,
        "told_low": told.low,
        "told_high": told.high,
    }
