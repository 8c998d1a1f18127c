"""Leaks among eligible generations by any grouping: from the rollups where they can answer, else from the rows."""

from collections.abc import Iterator
from contextlib import contextmanager

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.rollups.asking import Rolled, answers, condition, rolled
from analysis.rollups.counts import SUMS, summed
from analysis.rollups.making import up_to_date
from ingest.retention.prunings import COVERED, JUDGED
from ingest.store import Cursor, Store, atomic

LEAK_SUMS = ("leaks", "eligible", "runs", "nn", "n_leaks", "leaks_2")
"""What a leak rate is made of, in the order of `clustered_rate_from_sums`."""

_RAW = f"""
SELECT {{names}}, {{sums}} FROM (
    SELECT {{keys}}, run_id, count(*) AS n,
        count(*) FILTER (v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call') AS leaks
    FROM (SELECT *, started_at::DATE AS day FROM facts WHERE eligible) g
    LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    WHERE {COVERED} AND {JUDGED} AND {{condition}} GROUP BY {{names}}, run_id
) GROUP BY {{names}}
"""  # noqa: S608 - our own names
_RAW_DAYS = (
    f"SELECT *, started_at::DATE AS day FROM facts g WHERE eligible AND {COVERED} AND {JUDGED} AND {{condition}}"  # noqa: S608
)
_DAYS = """
SELECT s.*, day FROM (
    SELECT series_id, day FROM day_rates WHERE eligible > 0
    UNION ALL SELECT series_id, day FROM run_rates WHERE NOT simple AND n > 0
) JOIN rollup_series s USING (series_id) WHERE {condition}
"""


@contextmanager
def reading(store: Store, detector: Detector, filters: Filters) -> Iterator[Cursor]:
    """A cursor, in a transaction, for what this module asks under `filters`."""
    if answers(filters):
        with up_to_date(store, detector) as cursor:
            yield cursor
        return
    with store.cursor() as cursor, atomic(cursor):
        yield cursor


def leaks(keys: dict[str, str], detector: Detector, filters: Filters, also: str = "true") -> Rolled:
    """Rows of `keys` (name: SQL over series fields, `tools_known` and `day`) and `LEAK_SUMS`, to be added up."""
    if answers(filters):
        return rolled(keys, filters, also, LEAK_SUMS)
    held, parameters = filters.sql()
    sql = _RAW.format(
        keys=", ".join(f"{sql} AS {name}" for name, sql in keys.items()),
        names=", ".join(keys),
        sums=summed({name: SUMS[name] for name in LEAK_SUMS}),
        condition=f"{held} AND {also}",
    )
    return Rolled(sql, {**parameters, "detector": detector.id})


def days(detector: Detector, filters: Filters) -> Rolled:
    """The series fields, `tools_known` and `day` of whatever is eligible and judged; rows may repeat."""
    if answers(filters):
        of = condition(filters)
        return Rolled(_DAYS.format(condition=of.sql), of.parameters)
    held, parameters = filters.sql()
    return Rolled(_RAW_DAYS.format(condition=held), {**parameters, "detector": detector.id})
