"""Every generation of a comparison in its stratum."""

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.judged_uploads import keep_judged
from analysis.sampling.cells import STRATA
from analysis.trigger_index import select_texts
from analysis.triggers import Wanted
from ingest.store import Cursor

_STRATA = """
CREATE OR REPLACE TEMP TABLE strata AS
SELECT g.key, CASE
    WHEN b.error IS NOT NULL OR c.error IS NOT NULL THEN NULL
    WHEN b.tier IN ('certain', 'likely') AND c.tier IN ('certain', 'likely') THEN 'both'
    WHEN b.tier IN ('certain', 'likely') THEN 'baseline_only'
    WHEN c.tier IN ('certain', 'likely') THEN 'candidate_only'
    WHEN g.content IN (FROM held_words) OR g.reasoning IN (FROM held_words) OR g.tool_calls IN (FROM held_calls)
        THEN 'neither_trigger'
    ELSE 'neither_no_trigger' END::{type} AS stratum
FROM (FROM facts WHERE ({condition}) AND coalesce(role, 'agent') IN ('agent', 'subagent') AND reply <> 'empty'
    AND pruning IS NULL AND upload_id IN (FROM judged_uploads)) g
LEFT JOIN verdicts b ON b.detector = $baseline AND b.verdict_key = g.verdict_key
LEFT JOIN verdicts c ON c.detector = $candidate AND c.verdict_key = g.verdict_key
"""
"""The population of a replay. An output on which a detector failed stands in no cell, and in no stratum."""


def divide(
    cursor: Cursor,
    baseline: Detector,
    candidate: Detector,
    filters: Filters,
) -> tuple[dict[str, int], int]:
    """Put every generation of a replay's population into its stratum, in the temporary table `strata`; the size of
    each, and how many a detector failed on. Both must have judged the history."""
    # an offered name is left aside, though some detectors go by it: a stratum of nearly everything divides nothing
    select_texts(cursor, Wanted(frozenset({*baseline.triggers, *candidate.triggers} - {""})))
    keep_judged(cursor, baseline.id, candidate.id)
    condition, parameters = filters.sql()
    enum = f"ENUM ({', '.join(repr(name) for name in STRATA)})"  # a byte a row
    given = {"baseline": baseline.id, "candidate": candidate.id, **parameters}
    cursor.execute(_STRATA.format(type=enum, condition=condition), given)
    counted = dict(cursor.execute("SELECT stratum::VARCHAR, count(*) FROM strata GROUP BY stratum").fetchall())
    return {name: counted.get(name, 0) for name in STRATA}, counted.get(None, 0)
