"""Runs and old generations are taken out wholly: from every table, with what only they used.

What another run holds too stays: texts, tool lists, verdicts, and the labels of an output with the same content,
which then speak of the generation that is left.
"""

# ruff: noqa: S608 - the statements are made of our own parts; values are bound

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from ingest.actions import note as note_action
from ingest.errors import NotFound
from ingest.retention.prunings import Removed, note
from ingest.retention.reports import blank, drop_naming
from ingest.store import Cursor, Store, one
from ingest.sweeping import sweep

_OF_RUN = """
CREATE OR REPLACE TEMP TABLE going AS
SELECT key, upload_id, run_id, generation_id, verdict_key FROM generations WHERE run_id = $run
"""
_OLD = """
CREATE OR REPLACE TEMP TABLE going AS
SELECT g.key, g.upload_id, g.run_id, g.generation_id, g.verdict_key FROM generations g JOIN uploads u USING (upload_id)
WHERE coalesce(g.started_at, u.created_at) < $before
"""
_RUNS_OF_RUN = "CREATE OR REPLACE TEMP TABLE going_runs AS SELECT $run AS run_id"
_RUNS_OLD = """
CREATE OR REPLACE TEMP TABLE going_runs AS
SELECT DISTINCT run_id FROM going WHERE run_id NOT IN (
    SELECT run_id FROM generations WHERE key NOT IN (SELECT key FROM going))
"""
_EVENTS_OF_RUN = """
CREATE OR REPLACE TEMP TABLE going_events AS
SELECT key, upload_id FROM events WHERE run_id = $run OR generation IN (SELECT key FROM going)
"""
_EVENTS_OLD = """
CREATE OR REPLACE TEMP TABLE going_events AS
SELECT e.key, e.upload_id FROM events e JOIN uploads u USING (upload_id)
WHERE e.generation IN (SELECT key FROM going)
    OR (e.generation IS NULL AND coalesce(e.reported_at, u.created_at) < $before)
"""
_EXCERPTS_OF_RUN = "UPDATE quarantine SET excerpt = 'of a run that was forgotten' WHERE contains(excerpt, $run)"
_NAMED_IN_ACTIONS = """
UPDATE actions SET object = 'of a generation that was taken out'
WHERE EXISTS (FROM going WHERE starts_with(object, 'generation ' || going.generation_id || ', by '))
"""
"""That somebody labelled something stays in the audit log, but not what."""
_EXCERPTS_OLD = """
DELETE FROM quarantine WHERE upload_id IN (SELECT upload_id FROM uploads WHERE created_at < $before)
"""

_KEYS = "(SELECT key FROM going UNION ALL SELECT key FROM going_events UNION ALL SELECT key FROM going_records)"
_GONE_KEYS = """(SELECT verdict_key FROM going WHERE verdict_key NOT IN (
    SELECT verdict_key FROM generations WHERE key NOT IN (SELECT key FROM going)))"""
_HEIRS = """
CREATE OR REPLACE TEMP TABLE going_heirs AS
SELECT verdict_key, arg_min({'run': run_id, 'id': generation_id}, (upload_id, line, position)) AS heir FROM generations
WHERE verdict_key IN (SELECT verdict_key FROM going) AND key NOT IN (SELECT key FROM going) GROUP BY verdict_key
"""
_LABELS = """
CREATE OR REPLACE TEMP TABLE going_labels AS
SELECT key, upload_id FROM labels WHERE verdict_key NOT IN (SELECT verdict_key FROM going_heirs) AND (
    verdict_key IN (SELECT verdict_key FROM going) OR run_id IN (SELECT run_id FROM going_runs))
UNION ALL
SELECT key, upload_id FROM labels WHERE verdict_key IS NULL AND (
    run_id IN (SELECT run_id FROM going_runs)
    OR (run_id IS NULL AND generation_id IN (SELECT generation_id FROM going)))
"""
_INHERITED = """
UPDATE labels SET run_id = CASE WHEN labels.run_id IS NOT NULL THEN h.heir.run END, generation_id = h.heir.id
FROM going_heirs h WHERE h.verdict_key = labels.verdict_key AND (
    labels.run_id IN (SELECT run_id FROM going_runs) OR labels.generation_id IN (SELECT generation_id FROM going))
"""
_RECORDS = """
CREATE OR REPLACE TEMP TABLE going_records AS
SELECT key, upload_id FROM going_labels UNION ALL
SELECT key, upload_id FROM runs WHERE run_id IN (SELECT run_id FROM going_runs)
"""
_TOUCHED = """
CREATE OR REPLACE TEMP TABLE touched AS
SELECT upload_id FROM going UNION SELECT upload_id FROM going_events UNION SELECT upload_id FROM going_records
"""
_CHANGED = """
CREATE OR REPLACE TEMP TABLE counted_anew AS SELECT run_id FROM going UNION SELECT run_id FROM going_runs
"""
_DELETED = (
    f"DELETE FROM assignments WHERE verdict_key IN {_GONE_KEYS}",
    f"""UPDATE sample_items SET generation = NULL, verdict_key = CASE WHEN verdict_key NOT IN {_GONE_KEYS}
        THEN verdict_key END WHERE generation IN (SELECT key FROM going)""",
    f"UPDATE sample_items SET verdict_key = NULL WHERE verdict_key IN {_GONE_KEYS}",
    f"DELETE FROM sightings WHERE key IN {_KEYS}",
    "UPDATE events SET generation = NULL WHERE generation IN (SELECT key FROM going)",
    """DELETE FROM audit_findings WHERE run_id IN (SELECT run_id FROM going_runs)
        OR generation_id IN (SELECT generation_id FROM going)""",
    """DELETE FROM otlp_messages WHERE upload_id IN (SELECT upload_id FROM touched)
        AND EXISTS (FROM going_runs WHERE contains(message, run_id))""",
    "DELETE FROM generations WHERE key IN (SELECT key FROM going)",
    "DELETE FROM events WHERE key IN (SELECT key FROM going_events)",
    "DELETE FROM labels WHERE key IN (SELECT key FROM going_labels)",
    "DELETE FROM runs WHERE run_id IN (SELECT run_id FROM going_runs)",
)
"""A drawn output that is gone keeps its place in the sample, as one of which nobody can say anything any more."""
_EMPTY = """
CREATE OR REPLACE TEMP TABLE emptied AS SELECT upload_id FROM touched t WHERE NOT EXISTS (
    FROM (SELECT upload_id FROM generations UNION ALL SELECT upload_id FROM events UNION ALL SELECT upload_id FROM runs
        UNION ALL SELECT upload_id FROM labels UNION ALL SELECT upload_id FROM sightings) h
    WHERE h.upload_id = t.upload_id)
"""
_OF_UPLOADS = ("quarantine", "skipped", "coverage", "searched_for_names", "uploads")
_COUNTS = """
SELECT (SELECT count(DISTINCT run_id) FROM going), (SELECT count(*) FROM going), (SELECT count(*) FROM going_events),
    (SELECT count(*) FROM going_labels), (SELECT count(*) FROM emptied), (SELECT count(hash) FROM texts)
"""


Recount = Callable[[Cursor], object]
"""Brings what is counted ahead up to date with the table `counted_anew` of runs, within the same transaction: the note
that a run is to be counted would be left of it otherwise."""


def forget(store: Store, run_id: str, now: datetime, recount: Recount, *, dry: bool = False) -> Removed:
    """Take a run out of the store, at the moment `now` (UTC). With `dry` only say what would go. NotFound; Conflict
    while a job that names it is under way."""
    with store.alone(dry=dry) as cursor:
        for sql in (_OF_RUN, _RUNS_OF_RUN, _EVENTS_OF_RUN, _EXCERPTS_OF_RUN):
            cursor.execute(sql, {"run": run_id})
        note_action(cursor, "forget run", "a run, by its id")
        removed = _remove(cursor, None, now, recount)
        [records] = one(cursor, "SELECT count(*) FROM going_records")
        if not (removed.generations or removed.events or records):
            raise NotFound(f"no run {run_id!r}")
        return replace(removed, runs=1, reports=drop_naming(cursor, run_id))


def remove_old(store: Store, before: datetime, now: datetime, recount: Recount, *, dry: bool = False) -> Removed:
    """Take out all generations older than `before`, runs of which none is left, and what belongs to them."""
    with store.alone(dry=dry) as cursor:
        for sql in (_OLD, _RUNS_OLD, _EVENTS_OLD, _EXCERPTS_OLD):
            cursor.execute(sql, {"before": before} if "$before" in sql else None)
        removed = _remove(cursor, before, now, recount)
        if removed.generations or removed.events:
            note_action(cursor, "prune", f"generations of before {before:%Y-%m-%d}")
        return replace(removed, reports=blank(cursor, "going"))


def _remove(cursor: Cursor, before: datetime | None, now: datetime, recount: Recount) -> Removed:
    """Take out what stands in `going`, `going_runs` and `going_events`."""
    [texts] = one(cursor, "SELECT count(hash) FROM texts")
    for sql in (_HEIRS, _LABELS, _RECORDS, _TOUCHED, _CHANGED, _NAMED_IN_ACTIONS, _INHERITED, *_DELETED, _EMPTY):
        cursor.execute(sql)
    for table in _OF_UPLOADS:
        cursor.execute(f"DELETE FROM {table} WHERE upload_id IN (FROM emptied)")
    sweep(cursor)
    recount(cursor)
    runs, generations, events, labels, uploads, left = one(cursor, _COUNTS)
    if generations or events:
        note(cursor, now, before, generations)
    return Removed(before, False, runs, generations, events, labels, uploads, texts - left, 0)
