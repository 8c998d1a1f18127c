"""The rollups made, and kept up to date: the runs that changed are counted anew, all of them for another detector."""

from collections.abc import Iterator
from contextlib import contextmanager

from analysis.detectors import Detector
from analysis.recovery.outcomes import Among, follow
from analysis.rollups.counts import COUNTS, PER_RUN, SERIES_KEYS, SUMS, TOLD, summed
from analysis.rollups.hints import HINTS
from analysis.rollups.outputs import COUNT_LABELLED, UNSEEN, count_new_labels, count_outputs
from analysis.rollups.runs import COUNT_RUNS
from analysis.rollups.sizes import count_sizes, sum_sizes
from ingest.store import Cursor, Store, atomic, one

_FRESH = f"""
SELECT (SELECT count(*) FROM rolled_up WHERE detector = $detector) = 1
    AND NOT EXISTS (FROM stale_verdicts WHERE detector = $detector) AND NOT EXISTS (FROM stale_runs)
    AND NOT EXISTS ({UNSEEN})
"""  # noqa: S608 - our own names
_ALL_STALE = """
SELECT (SELECT count(*) FROM rolled_up WHERE detector = $detector) = 0
    OR EXISTS (FROM stale_verdicts WHERE detector = $detector)
"""
_OF_RUNS = ("run_totals", "run_rates", "run_sizes", "run_leaks", "hints", "labelled")
_OF_DAYS = ("day_rates", "day_sizes")
_EMPTY = ("rollup_series", *_OF_RUNS, *_OF_DAYS, "labelled_keys", "rolled_up")
_STALE = "CREATE OR REPLACE TEMP TABLE counted_anew AS SELECT DISTINCT run_id FROM stale_runs"
_AMONG = Among("run_id IN (FROM counted_anew)")
_NAMES = ", ".join(TOLD)
_COUNTED = PER_RUN.format(
    keys=", ".join(f"{SERIES_KEYS[name]} AS {name}" for name in TOLD) + ", g.started_at::DATE AS day",
    names=f"{_NAMES}, day",
    condition="{condition}",
)
_SAME_SERIES = " AND ".join(f"s.{name} IS NOT DISTINCT FROM c.{name}" for name in (*TOLD, "tools_known"))
_NEW_SERIES = f"""
INSERT INTO rollup_series
SELECT (SELECT coalesce(max(series_id), 0) FROM rollup_series) + row_number() OVER (), {_NAMES}, tools_known
FROM (SELECT DISTINCT {_NAMES}, tools_known FROM counted) c
WHERE NOT EXISTS (FROM rollup_series s WHERE {_SAME_SERIES})
"""  # noqa: S608 - our own names
_UNUSED_SERIES = """
DELETE FROM rollup_series WHERE NOT EXISTS (FROM run_rates r WHERE r.series_id = rollup_series.series_id)
"""
_RUN_RATES = f"""
INSERT INTO run_rates BY NAME
SELECT run_id, series_id, day, count(*) OVER (PARTITION BY run_id) = 1 AS simple, {", ".join(COUNTS)}
FROM counted c JOIN rollup_series s ON {_SAME_SERIES}
ORDER BY series_id, day
"""  # noqa: S608 - our own names
_CELLS = "SELECT DISTINCT series_id, day FROM run_rates WHERE simple AND run_id IN (FROM counted_anew)"
_IN_CELLS = "EXISTS (FROM cells t WHERE t.series_id = {0}.series_id AND t.day IS NOT DISTINCT FROM {0}.day)"
_DAY_RATES = f"""
INSERT INTO day_rates BY NAME
SELECT series_id, day, {summed(SUMS)} FROM run_rates WHERE simple AND {{held}} GROUP BY series_id, day
"""  # noqa: S608 - our own names


def refresh(store: Store, detector: Detector) -> None:
    """Bring the rollups up to date, for the verdicts of `detector`. All or nothing of it; an upload under way is not
    waited for."""
    with up_to_date(store, detector):
        pass


@contextmanager
def up_to_date(store: Store, detector: Detector) -> Iterator[Cursor]:
    """A cursor whose rollups are those of `detector`, all of one moment that is not before the call.

    What it counts anew it answers from before anybody else can count: of many who ask, by several detectors, each has
    its turn.
    """
    with store.cursor() as cursor, atomic(cursor):
        [fresh] = one(cursor, _FRESH, {"detector": detector.id})
        if fresh:
            yield cursor
    if not fresh:
        with store.rolling_up() as cursor:
            _bring_up_to_date(cursor, detector.id)
            yield cursor


def _bring_up_to_date(cursor: Cursor, detector_id: str) -> None:
    [all_stale] = one(cursor, _ALL_STALE, {"detector": detector_id})
    if all_stale:
        _count_all(cursor, detector_id)
    elif one(cursor, "SELECT count(*) FROM stale_runs") != (0,):
        _count_anew(cursor, detector_id)
    count_new_labels(cursor)
    count_outputs(cursor)
    # what another transaction adds meanwhile is not seen here, and stays
    for table in ("stale_runs", "stale_verdicts"):
        cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names


def recount(cursor: Cursor) -> None:
    """Count the runs in the table `counted_anew` anew, and what else is stale, within a transaction of `Store.alone`
    and before it is seen by anyone."""
    cursor.execute("INSERT INTO stale_runs SELECT run_id FROM counted_anew")
    found = cursor.execute("SELECT detector FROM rolled_up").fetchall()
    if found and not one(cursor, _ALL_STALE, {"detector": found[0][0]})[0]:
        _count_anew(cursor, found[0][0])
    else:
        _empty(cursor)
    cursor.execute("DELETE FROM labelled_keys k WHERE NOT EXISTS (FROM labels l WHERE l.verdict_key = k.verdict_key)")
    cursor.execute("DELETE FROM stale_runs")


def _count_all(cursor: Cursor, detector_id: str) -> None:
    _empty(cursor)
    follow(cursor, detector_id)
    _count(cursor, detector_id, "true")
    cursor.execute(_DAY_RATES.format(held="true"))
    sum_sizes(cursor, "true")
    cursor.execute("INSERT INTO rolled_up VALUES ($1)", [detector_id])


def _empty(cursor: Cursor) -> None:
    for table in _EMPTY:
        cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names


def _count_anew(cursor: Cursor, detector_id: str) -> None:
    """The runs that changed, and the sums of every day on which they were or are."""
    cursor.execute(_STALE)
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE cells AS {_CELLS}")
    for table in _OF_RUNS:
        cursor.execute(f"DELETE FROM {table} WHERE {_AMONG.sql}")  # noqa: S608 - our own names
    follow(cursor, detector_id, _AMONG)
    _count(cursor, detector_id, _AMONG.sql)
    cursor.execute(f"INSERT INTO cells {_CELLS}")
    for table in _OF_DAYS:
        cursor.execute(f"DELETE FROM {table} WHERE {_IN_CELLS.format(table)}")  # noqa: S608 - our own names
    cursor.execute(_DAY_RATES.format(held=_IN_CELLS.format("run_rates")))
    sum_sizes(cursor, _IN_CELLS.format("run_sizes"))
    cursor.execute(_UNUSED_SERIES)


def _count(cursor: Cursor, detector_id: str, among: str) -> None:
    given = {"detector": detector_id}
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE counted AS {_COUNTED.format(condition=among)}", given)
    cursor.execute(_NEW_SERIES)
    cursor.execute(_RUN_RATES)
    cursor.execute("DROP TABLE counted")
    count_sizes(cursor, detector_id, among)
    for sql in (COUNT_RUNS, HINTS):
        cursor.execute(sql.format(condition=among), given)
    cursor.execute(COUNT_LABELLED.format(condition=among, keys="labelled_keys"))
