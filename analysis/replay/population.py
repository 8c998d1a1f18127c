"""Which outputs a replay compares, declared once: filters, period, what is left out and why; and what was said there.

Everything later is counted over the temporary tables made here, in one transaction: `said` has a row for each output
with a finding, a failure or a label; all others are clean by both and unlabelled, and are in `counted` by number only.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analysis.filters import Filters
from analysis.judged_uploads import keep_judged
from ingest.store import Cursor

_COMPARED = (
    "({condition}) AND coalesce(role, 'agent') IN ('agent', 'subagent') AND reply <> 'empty' AND pruning IS NULL "
    "AND upload_id IN (FROM judged_uploads)"
)
_LEFT_OUT = """
SELECT CASE
    WHEN NOT ({where}) THEN 'filtered'
    WHEN NOT ({period}) THEN CASE WHEN started_at IS NULL THEN 'no_time' ELSE 'out_of_period' END
    WHEN coalesce(role, 'agent') NOT IN ('agent', 'subagent') THEN 'other_role'
    WHEN reply = 'empty' THEN 'no_output' WHEN pruning IS NOT NULL THEN 'pruned' ELSE '' END AS reason, count(*) AS n
FROM facts WHERE upload_id IN (FROM judged_uploads) GROUP BY reason ORDER BY reason
"""
_COUNTED = """
CREATE OR REPLACE TEMP TABLE counted AS
SELECT hash(run_id) AS run, model, engine, template, count(*) AS n FROM facts WHERE {compared} GROUP BY ALL
"""
"""A run is known by the 64-bit hash of its id here: a million runs grouped by a number cost a tenth of strings."""
_SAID = """
CREATE OR REPLACE TEMP TABLE said AS
SELECT g.upload_id, g.line, g.position, g.generation_id, g.run_id, hash(g.run_id) AS run,
    g.model, g.engine, g.template, g.verdict_key,
    b.error IS NULL AND c.error IS NULL AS ok, b.error IS NOT NULL AS baseline_failed,
    c.error IS NOT NULL AS candidate_failed, b.tier AS baseline_tier, c.tier AS candidate_tier,
    coalesce(b.tier IN ('certain', 'likely'), false) AS baseline,
    coalesce(c.tier IN ('certain', 'likely'), false) AS candidate,
    CASE WHEN candidate THEN c.family WHEN baseline THEN b.family END AS family,
    CASE WHEN candidate THEN c.kind WHEN baseline THEN b.kind END AS kind,
    CASE WHEN candidate THEN c.tier WHEN baseline THEN b.tier END AS tier, t.leak AS truth
FROM (
    FROM facts WHERE {compared} AND verdict_key IN (
        SELECT verdict_key FROM verdicts WHERE detector IN ($baseline, $candidate)
        UNION SELECT verdict_key FROM label_states
    )
) g
LEFT JOIN verdicts b ON b.detector = $baseline AND b.verdict_key = g.verdict_key
LEFT JOIN verdicts c ON c.detector = $candidate AND c.verdict_key = g.verdict_key
LEFT JOIN truth t ON t.verdict_key = g.verdict_key
"""


@dataclass(frozen=True, slots=True)
class Population:
    """The outputs compared, and those that are not, by the first reason that applies. Times are UTC; `until` is the
    first moment outside."""

    generations: int
    left_out: dict[str, int]
    where: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON; `stored` are all outputs that the store holds."""
        return {
            "generations": self.generations,
            "left_out": self.left_out,
            "stored": self.generations + sum(self.left_out.values()),
            "where": list(self.where),
            "since": _iso(self.since),
            "until": _iso(self.until),
        }


def declare(cursor: Cursor, baseline: str, candidate: str, filters: Filters) -> Population:
    """Make the tables `counted` and `said` for the two detectors, both of which must have judged the history."""
    (where, globs), (period, times), (condition, given) = filters.where_sql(), filters.period_sql(), filters.sql()
    keep_judged(cursor, baseline, candidate)
    left_out = dict(cursor.execute(_LEFT_OUT.format(where=where, period=period), {**globs, **times}).fetchall())
    compared = _COMPARED.format(condition=condition)
    cursor.execute(_COUNTED.format(compared=compared), given)
    cursor.execute(_SAID.format(compared=compared), {"baseline": baseline, "candidate": candidate, **given})
    generations = left_out.pop("", 0)
    written = tuple(f"{key}={glob}" for key, glob in filters.where)
    return Population(generations, left_out, written, filters.since, filters.until)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
