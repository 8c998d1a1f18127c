"""Texts of what is old are taken out, and everything that is counted stays.

A generation is as old as its `started_at`, one without a time as the upload that brought it. It keeps its numbers,
its series, its verdicts and its labels; it loses content, reasoning, calls, raw text, tools and unknown fields.
"""

from datetime import datetime

from ingest.actions import note as note_action
from ingest.retention.prunings import Removed
from ingest.retention.reports import blank
from ingest.store import Cursor, Store, one
from ingest.sweeping import sweep

_AGING = """
CREATE OR REPLACE TEMP TABLE aging AS
SELECT g.key, g.run_id, g.generation_id, g.upload_id FROM generations g JOIN uploads u USING (upload_id)
WHERE g.pruning IS NULL AND coalesce(g.started_at, u.created_at) < $before
"""
_JUDGES = """
CREATE OR REPLACE TEMP TABLE aging_uploads AS
SELECT a.upload_id, a.n, coalesce(c.detectors, []) AS detectors
FROM (SELECT upload_id, count(*) AS n FROM aging GROUP BY upload_id) a LEFT JOIN (
    SELECT upload_id, list_sort(list(DISTINCT detector)) AS detectors FROM coverage GROUP BY upload_id
) c USING (upload_id)
"""
_NOTED = """
INSERT INTO prunings
SELECT (SELECT coalesce(max(pruning_id), 0) FROM prunings) + row_number() OVER (ORDER BY detectors),
    $now, $before, true, detectors, sum(n) FROM aging_uploads GROUP BY detectors
"""
"""Who has judged an upload by now is noted once for all uploads with the same judges."""
_NOTED_EVENTS = """
INSERT INTO prunings SELECT (SELECT coalesce(max(pruning_id), 0) + 1 FROM prunings), $now, $before, true, [], 0
WHERE NOT EXISTS (FROM prunings WHERE pruned_at = $now) AND EXISTS (FROM aging_events)
"""
_STRIP = """
UPDATE generations SET pruning = a.pruning, tools_offered = a.tools_offered, content = NULL, reasoning = NULL,
    tool_calls = NULL, raw_text = NULL, tools = NULL, inferred_names = NULL,
    extra = CASE WHEN coalesce(TRY(json_extract_string(extra, '$.reprimand')), '') <> ''
        THEN '{"reprimand":"pruned"}' END
FROM (
    SELECT g.key, p.pruning_id AS pruning, json_array_length(l.tools)::INTEGER AS tools_offered
    FROM aging JOIN generations g USING (key) JOIN aging_uploads u ON u.upload_id = g.upload_id
    JOIN prunings p ON p.pruned_at = $now AND p.detectors = u.detectors
    LEFT JOIN tool_lists l ON l.hash = g.tools
) a WHERE generations.key = a.key
"""
"""That a reply was reprimanded decides what became of its leak; the words of it go."""
_AGING_EVENTS = """
CREATE OR REPLACE TEMP TABLE aging_events AS
SELECT e.key FROM events e JOIN uploads u USING (upload_id) LEFT JOIN generations g ON g.key = e.generation
WHERE e.pruning IS NULL AND (
    g.key IN (SELECT key FROM aging) OR (g.key IS NULL AND coalesce(e.reported_at, u.created_at) < $before))
"""
_STRIP_EVENTS = """
UPDATE events SET markup = '', extra = NULL, pruning = (SELECT min(pruning_id) FROM prunings WHERE pruned_at = $now)
WHERE key IN (SELECT key FROM aging_events)
"""
_STRIP_RUNS = """
UPDATE runs SET extra = NULL WHERE extra IS NOT NULL AND run_id IN (SELECT run_id FROM aging)
AND NOT EXISTS (FROM generations g WHERE g.run_id = runs.run_id AND g.pruning IS NULL)
"""
_STRIP_QUARANTINE = """
UPDATE quarantine SET excerpt = 'text pruned on ' || strftime($now::TIMESTAMP, '%Y-%m-%d')
WHERE upload_id IN (SELECT upload_id FROM uploads WHERE created_at < $before) AND excerpt NOT LIKE 'text pruned on %'
"""
_NOT_ASKED = """
UPDATE labelled SET compared = false FROM aging a
WHERE labelled.run_id = a.run_id AND labelled.generation_id = a.generation_id
"""
"""Nobody is asked about what cannot be read; no other count of the rollups changes."""
_STRIP_FINDINGS = "DELETE FROM audit_findings WHERE generation_id IN (SELECT generation_id FROM aging)"
"""An answer that is kept quotes texts; it is computed anew."""


def prune(store: Store, before: datetime, now: datetime, *, dry: bool = False) -> Removed:
    """Take the texts out of all that is older than `before`; both times are UTC without a zone. With `dry` only say
    what would go."""
    with store.alone(dry=dry) as cursor:
        removed = _prune(cursor, {"before": before, "now": now})
        if removed.generations or removed.events:
            note_action(cursor, "prune", f"texts of before {before:%Y-%m-%d}")
        return removed


def _prune(cursor: Cursor, times: dict[str, datetime]) -> Removed:
    before, now = {"before": times["before"]}, {"now": times["now"]}
    [texts] = one(cursor, "SELECT count(hash) FROM texts")
    cursor.execute(_AGING, before)
    cursor.execute(_JUDGES)
    cursor.execute(_AGING_EVENTS, before)
    cursor.execute(_NOTED, times)
    cursor.execute(_NOTED_EVENTS, times)
    cursor.execute(_STRIP, now)
    cursor.execute(_STRIP_EVENTS, now)
    cursor.execute(_STRIP_RUNS)
    cursor.execute(_STRIP_QUARANTINE, times)
    cursor.execute(_STRIP_FINDINGS)
    cursor.execute(_NOT_ASKED)
    sweep(cursor)
    runs, generations, events, left = one(
        cursor,
        "SELECT (SELECT count(DISTINCT run_id) FROM aging), (SELECT count(*) FROM aging), "
        "(SELECT count(*) FROM aging_events), (SELECT count(hash) FROM texts)",
    )
    return Removed(times["before"], True, runs, generations, events, 0, 0, texts - left, blank(cursor, "aging"))
