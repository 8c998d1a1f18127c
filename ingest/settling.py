"""The moment an upload becomes visible: its staged rows become the store's, without those already there."""

from collections import Counter
from dataclasses import dataclass

from ingest.joining import join
from ingest.stale import runs_arrived, runs_changed
from ingest.store import Cursor, one
from ingest.sweeping import sweep


@dataclass(frozen=True, slots=True)
class Totals:
    """What reading the file counted; `kept` are the texts, tool lists and verdicts that were new."""

    lines: int
    quarantined: int
    generations: int
    events: int
    kept: int
    skipped: Counter[str]


@dataclass(frozen=True, slots=True)
class Settled:
    """What an upload brought: lines with anything new, lines without, new generations."""

    fresh_lines: int
    duplicate_lines: int
    new_generations: int


_REPEATS = """
CREATE OR REPLACE TEMP TABLE repeats AS
SELECT line, position, n FROM (
    SELECT line, position, row_number() OVER (PARTITION BY key ORDER BY line, position) - 1 AS n
    FROM staged_generations
) WHERE n > 0
"""
"""The second and later occurrences of a key within the file."""

_ARRIVED = """
CREATE OR REPLACE TEMP VIEW arrived_generations AS
SELECT s.* REPLACE (
    CASE WHEN r.n IS NULL THEN s.key ELSE md5(concat_ws(':', s.key, r.n))::UUID END AS key,
    coalesce(s.generation_id, 'g' || replace(s.key::VARCHAR, '-', '') || coalesce('-' || r.n, '')) AS generation_id
)
FROM staged_generations s LEFT JOIN repeats r ON r.line = s.line AND r.position = s.position
WHERE r.n IS NULL OR s.generation_id IS NULL
"""
"""A repeated id with the same request and response is a duplicate. A repeated record *without* an id is another
generation, known by its occurrence, so that the same file again still changes nothing."""

_ARRIVED_EVENTS = """
CREATE OR REPLACE TEMP VIEW arrived_events AS
SELECT * EXCLUDE (n) REPLACE (CASE WHEN n = 0 THEN key ELSE md5(concat_ws(':', key, n))::UUID END AS key) FROM (
    SELECT *, row_number() OVER (PARTITION BY key ORDER BY line) - 1 AS n FROM staged_events
)
"""
_ARRIVED_ONCE = """
CREATE OR REPLACE TEMP VIEW arrived_{table} AS
FROM staged_{table} QUALIFY row_number() OVER (PARTITION BY key ORDER BY line) = 1
"""
_VIEWS = (
    _REPEATS, _ARRIVED, _ARRIVED_EVENTS, _ARRIVED_ONCE.format(table="runs"), _ARRIVED_ONCE.format(table="labels"),
)  # fmt: skip
RECORDS = ("generations", "events", "runs", "labels")
"""The tables of an upload's records, each with upload_id, line and key."""
_NEW = """
INSERT INTO {table} BY NAME
SELECT $upload AS upload_id, a.* FROM arrived_{table} a
WHERE NOT EXISTS (FROM {table} t WHERE t.key = a.key)
ORDER BY a.line
"""
_SEEN = """
INSERT INTO sightings BY NAME
SELECT $upload AS upload_id, a.line, a.key FROM arrived_{table} a JOIN {table} t ON t.key = a.key
WHERE t.upload_id <> $upload
"""
_LINES = """
WITH staged AS (
    SELECT line FROM staged_generations UNION SELECT line FROM staged_events
    UNION SELECT line FROM staged_runs UNION SELECT line FROM staged_labels
), fresh AS (
    SELECT line FROM (
        SELECT line FROM generations WHERE upload_id = $upload UNION SELECT line FROM events WHERE upload_id = $upload
        UNION SELECT line FROM runs WHERE upload_id = $upload UNION SELECT line FROM labels WHERE upload_id = $upload
    ) SEMI JOIN staged USING (line)
)
SELECT (SELECT count(*) FROM fresh), (SELECT count(*) FROM staged) - (SELECT count(*) FROM fresh),
    (SELECT count(*) FROM generations SEMI JOIN staged USING (line) WHERE upload_id = $upload)
"""
"""Of the lines that are staged: an upload that grows holds others too."""

_PRUNED_AGAIN = """
SELECT count(*) > 0 FROM generations g SEMI JOIN arrived_generations a USING (key) WHERE g.pruning IS NOT NULL
"""
"""An upload that holds again what was pruned has brought its texts along."""
_DONE = """
UPDATE uploads SET state = 'done', lines = $lines, mapped = $mapped, skipped = $skipped, duplicate = $duplicate,
    quarantined = $quarantined, generations = $generations, new_generations = $new_generations, events = $events
WHERE upload_id = $upload
"""


def settle(cursor: Cursor, upload_id: int, detector: str, totals: Totals, *, indexed: bool) -> Settled:
    """Make the staged upload visible, within a transaction; one that brought nothing new leaves no trace.

    `indexed`: its outputs were searched for offered names too.
    """
    settled = _move(cursor, upload_id)
    if not settled.fresh_lines:
        cursor.execute("DELETE FROM uploads WHERE upload_id = $1", [upload_id])
        if totals.kept:
            sweep(cursor)
        return settled
    _see(cursor, upload_id)
    runs_changed(cursor, [upload_id])
    cursor.execute("INSERT INTO coverage VALUES ($1, $2)", [detector, upload_id])
    if indexed:
        cursor.execute("INSERT INTO searched_for_names VALUES ($1)", [upload_id])
    _record(cursor, upload_id, settled, totals)
    if totals.kept and one(cursor, _PRUNED_AGAIN)[0]:
        sweep(cursor)
    return settled


_GROWN = """
UPDATE uploads SET lines = lines + $lines, mapped = mapped + $mapped, skipped = skipped + $skipped,
    duplicate = duplicate + $duplicate, quarantined = quarantined + $quarantined,
    generations = generations + $generations, new_generations = new_generations + $new_generations,
    events = events + $events
WHERE upload_id = $upload
"""
_JUDGED_SO_FAR = """
INSERT INTO judged_so_far SELECT c.detector, g.verdict_key FROM coverage c JOIN generations g USING (upload_id)
WHERE upload_id = $1 AND c.detector <> $2
"""
_UNCOVERED = "DELETE FROM coverage WHERE upload_id = $1 AND detector <> $2"
_UNSEARCHED = "DELETE FROM searched_for_names WHERE upload_id = $1"


def extend(cursor: Cursor, upload_id: int, detector: str, totals: Totals, *, indexed: bool) -> Settled:
    """Add what is staged to an upload that is visible already. Within a transaction. `indexed` as in `settle`.

    Another detector has not judged all of the upload any more: what it judged is noted, so that it need not again.
    """
    for sql in (_JUDGED_SO_FAR, _UNCOVERED):
        cursor.execute(sql, [upload_id, detector])
    if not indexed:
        cursor.execute(_UNSEARCHED, [upload_id])
    settled = _move(cursor, upload_id)
    if settled.fresh_lines:
        _see(cursor, upload_id)
        runs_arrived(cursor)
    cursor.execute(_GROWN, _counts(upload_id, settled, totals))
    _keep_reasons(cursor, upload_id, totals)
    return settled


def _move(cursor: Cursor, upload_id: int) -> Settled:
    """What is staged and was not there yet becomes the upload's."""
    me = {"upload": upload_id}
    for sql in _VIEWS:
        cursor.execute(sql)
    for table in RECORDS:
        cursor.execute(_NEW.format(table=table), me)
    return Settled(*one(cursor, _LINES, me))


def _see(cursor: Cursor, upload_id: int) -> None:
    """Note what is staged and was there already; bind what waited for what has come."""
    for table in RECORDS:
        cursor.execute(_SEEN.format(table=table), {"upload": upload_id})
    join(cursor)


def _record(cursor: Cursor, upload_id: int, settled: Settled, totals: Totals) -> None:
    cursor.execute(_DONE, _counts(upload_id, settled, totals))
    _keep_reasons(cursor, upload_id, totals)


def _counts(upload_id: int, settled: Settled, totals: Totals) -> dict[str, int]:
    return {
        "upload": upload_id,
        "lines": totals.lines,
        "mapped": settled.fresh_lines,
        "skipped": totals.skipped.total(),
        "duplicate": settled.duplicate_lines,
        "quarantined": totals.quarantined,
        "generations": totals.generations,
        "new_generations": settled.new_generations,
        "events": totals.events,
    }


def _keep_reasons(cursor: Cursor, upload_id: int, totals: Totals) -> None:
    cursor.execute("INSERT INTO quarantine BY NAME SELECT $1 AS upload_id, * FROM staged_quarantine", [upload_id])
    for reason, lines in totals.skipped.items():
        if not cursor.execute(_SKIPPED_MORE, [upload_id, reason, lines]).fetchall():
            cursor.execute("INSERT INTO skipped VALUES ($1, $2, $3)", [upload_id, reason, lines])


_SKIPPED_MORE = "UPDATE skipped SET lines = lines + $3 WHERE upload_id = $1 AND reason = $2 RETURNING lines"
