"""Retries that were accepted, and that a strict system would have refused.

A retry is an attempt after the first that came back with structured calls and stood. Each is checked by
`analysis.strict_check`, with no regard to any detector. Most logs hold the calls alone: the envelope they were written
in is then not checkable, and counted apart, as calls are whose tools or schemas the log does not hold.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.filters import Filters
from analysis.recovery.stored_outputs import parts
from analysis.statistics.estimates import Pool, proportion
from analysis.strict_check import StrictCheck, Verdict, strict_check
from ingest.store import Cursor, Store, atomic, one

_RETRIES = """
CREATE OR REPLACE TEMP TABLE wanted AS
SELECT row_number() OVER (ORDER BY run_id, upload_id, line, position) AS group_no, key, run_id, generation_id,
    upload_id, line
FROM facts WHERE attempt > 0 AND coalesce(role, 'agent') IN ('agent', 'subagent') AND coalesce(status, 'ok') = 'ok'
    AND reply IN ('structured', 'invalid_call') AND pruning IS NULL AND {condition}
"""
_PRUNED = """
SELECT count(*) FROM facts WHERE attempt > 0 AND coalesce(role, 'agent') IN ('agent', 'subagent')
    AND coalesce(status, 'ok') = 'ok' AND reply IN ('structured', 'invalid_call')
    AND pruning IS NOT NULL AND {condition}
"""
_NAMED = """
SELECT key::VARCHAR, run_id, generation_id FROM wanted WHERE group_no BETWEEN $first AND $last ORDER BY group_no
"""


@dataclass(frozen=True, slots=True)
class CheckedRetry:
    """A stored retry by its key, and what a strict system would have said of it."""

    key: str
    run_id: str
    generation_id: str
    check: StrictCheck


@dataclass(frozen=True, slots=True)
class StrictCounts:
    """What a strict system would have said of the retries that stand in the store."""

    retries: int
    verdicts: Counter[Verdict]
    codes: Counter[str]
    why: Counter[str]
    calls: Pool[bool]
    envelopes: Pool[bool]

    def as_json(self) -> dict[str, Any]:
        """`refused` by reason code; a retry may have several. `calls` and `envelopes`: refused of those checkable."""
        return {
            "retries": self.retries,
            **{verdict: self.verdicts[verdict] for verdict in ("accepted", "refused", "not_checkable")},
            "reasons": dict(sorted(self.codes.items())),
            "not_checkable_why": dict(sorted(self.why.items())),
            "calls": _part(self.calls),
            "envelopes": _part(self.envelopes),
        }


def _part(refused: Pool[bool]) -> dict[str, Any]:
    rate, counts = proportion(refused), refused.counts
    bounds = {"rate": rate and rate.value, "low": rate and rate.low, "high": rate and rate.high}
    return {"n": counts.total(), "refused": counts[True], **bounds}


def strict_counts(store: Store, filters: Filters | None = None) -> StrictCounts:
    """Check every stored retry that matches `filters`."""
    verdicts, codes, why = Counter[Verdict](), Counter[str](), Counter[str]()
    calls, envelopes = Pool[bool](), Pool[bool]()
    with store.cursor() as cursor, atomic(cursor):
        for retry in checked_retries(cursor, filters or Filters()):
            check = retry.check
            verdicts[check.verdict] += 1
            codes.update(check.codes)
            why.update(check.why)
            for pool, of_part in ((calls, check.calls), (envelopes, check.envelope)):
                if of_part != "not_checkable":
                    pool.add(retry.run_id, of_part == "refused")
        condition, parameters = (filters or Filters()).sql()
        [pruned] = one(cursor, _PRUNED.format(condition=condition), parameters)
    if pruned:
        verdicts["not_checkable"] += pruned
        why["pruned"] += pruned
    return StrictCounts(verdicts.total(), verdicts, codes, why, calls, envelopes)


def checked_retries(cursor: Cursor, filters: Filters) -> Iterator[CheckedRetry]:
    """Every stored retry that matches `filters`, checked, in order by run. Within a transaction of `cursor`."""
    condition, parameters = filters.sql()
    cursor.execute(_RETRIES.format(condition=condition), parameters)
    for part in parts(cursor):
        for key, run_id, generation_id in cursor.execute(_NAMED, {"first": part.first, "last": part.last}).fetchall():
            yield CheckedRetry(key, run_id, generation_id, strict_check(*part.outputs[key]))
