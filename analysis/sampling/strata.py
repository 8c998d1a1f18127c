"""Every generation of a comparison in its stratum."""

from collections.abc import Callable

import polars as pl

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.judging import TEXT_ROWS, holding
from analysis.sampling.cells import STRATA
from ingest.store import Cursor

_TEXTS = """
SELECT t.hash::VARCHAR AS hash, t.text FROM texts t
WHERE EXISTS (FROM (SELECT unnest([content, reasoning, tool_calls]) AS hash FROM generations) used
    WHERE used.hash = t.hash)
"""
_STRATA = """
CREATE OR REPLACE TEMP TABLE strata AS
SELECT g.key, CASE
    WHEN b.error IS NOT NULL OR c.error IS NOT NULL THEN NULL
    WHEN b.tier IN ('certain', 'likely') AND c.tier IN ('certain', 'likely') THEN 'both'
    WHEN b.tier IN ('certain', 'likely') THEN 'baseline_only'
    WHEN c.tier IN ('certain', 'likely') THEN 'candidate_only'
    WHEN g.content IN (FROM bearing) OR g.reasoning IN (FROM bearing) OR g.tool_calls IN (FROM bearing)
        THEN 'neither_trigger'
    ELSE 'neither_no_trigger' END::{type} AS stratum
FROM (FROM facts WHERE ({condition}) AND coalesce(role, 'agent') IN ('agent', 'subagent') AND reply <> 'empty') g
LEFT JOIN verdicts b ON b.detector = $baseline AND b.verdict_key = g.verdict_key
LEFT JOIN verdicts c ON c.detector = $candidate AND c.verdict_key = g.verdict_key
"""
"""The population of a replay. An output on which a detector failed stands in no cell, and in no stratum."""


def divide(
    cursor: Cursor,
    baseline: Detector,
    candidate: Detector,
    filters: Filters,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[dict[str, int], int]:
    """Put every generation of a replay's population into its stratum, in the temporary table `strata`; the size of
    each, and how many a detector failed on. Both must have judged the history."""
    literals = {literal for each in (baseline, candidate) for literal in each.triggers} - {""}
    _find_bearing(cursor, sorted(literals), progress)
    condition, parameters = filters.sql()
    enum = f"ENUM ({', '.join(repr(name) for name in STRATA)})"  # a byte a row
    given = {"baseline": baseline.id, "candidate": candidate.id, **parameters}
    cursor.execute(_STRATA.format(type=enum, condition=condition), given)
    counted = dict(cursor.execute("SELECT stratum::VARCHAR, count(*) FROM strata GROUP BY stratum").fetchall())
    return {name: counted.get(name, 0) for name in STRATA}, counted.get(None, 0)


def _find_bearing(cursor: Cursor, literals: list[str], progress: Callable[[int], object]) -> None:
    """The hashes of the texts with one of `literals`, as the temporary table `bearing`.

    An offered name is left aside, though some detectors go by it: names are common words, and a stratum of nearly
    everything divides nothing.
    """
    found: list[pl.Series] = []
    searched = 0
    for batch in cursor.sql(_TEXTS).to_arrow_reader(TEXT_ROWS) if literals else ():
        frame = pl.DataFrame(pl.from_arrow(batch))
        found.append(frame["hash"].gather(holding(frame["text"], literals)))
        searched += len(frame)
        progress(searched)
    _keep(cursor, pl.concat(found) if found else pl.Series(dtype=pl.String))


def _keep(cursor: Cursor, hashes: pl.Series) -> None:
    cursor.register("found", hashes.to_frame("hash").to_arrow())
    cursor.execute("CREATE OR REPLACE TEMP TABLE bearing AS SELECT hash::UUID AS hash FROM found")
    cursor.unregister("found")
