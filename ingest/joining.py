"""Events and labels find the generations they speak of, whichever came first."""

from ingest.store import Cursor

_BY_ID = """
UPDATE events SET generation = found.key FROM (
    SELECT e.key AS event, arg_min(g.key, (g.upload_id, g.line)) AS key
    FROM events e JOIN generations g ON g.generation_id = e.generation_id
    WHERE e.generation IS NULL AND (e.run_id IS NULL OR e.run_id = g.run_id) GROUP BY e.key
) found WHERE events.key = found.event
"""
_BY_ROUND = """
UPDATE events SET generation = found.key FROM (
    SELECT e.key AS event,
        arg_min(g.key, (
            NOT coalesce(contains(t.text, e.markup), false), coalesce(g.attempt, 0), g.upload_id, g.line
        )) AS key
    FROM events e JOIN generations g ON g.run_id = e.run_id AND g.round = e.round
    LEFT JOIN texts t ON t.hash = g.content
    WHERE e.generation IS NULL GROUP BY e.key
) found WHERE events.key = found.event
"""
_BY_MARKUP = """
UPDATE events SET generation = found.generation FROM (
    WITH told AS (
        SELECT key, run_id, markup, row_number() OVER (PARTITION BY run_id, markup ORDER BY leak, line) AS n
        FROM events WHERE generation IS NULL AND run_id IS NOT NULL AND markup <> ''
    ), seen AS (
        SELECT g.key, m.run_id, m.markup,
            row_number() OVER (PARTITION BY m.run_id, m.markup ORDER BY g.started_at, g.upload_id, g.line) AS n
        FROM (SELECT DISTINCT run_id, markup FROM told) m
        JOIN generations g ON g.run_id = m.run_id JOIN texts t ON t.hash = g.content
        WHERE contains(t.text, m.markup)
    )
    SELECT told.key AS event, seen.key AS generation FROM told JOIN seen USING (run_id, markup, n)
) found WHERE events.key = found.event
"""
_BIND_LABELS = """
UPDATE labels SET verdict_key = found.verdict_key FROM (
    SELECT l.key, any_value(g.verdict_key) AS verdict_key
    FROM labels l JOIN generations g ON g.generation_id = l.generation_id
    WHERE l.verdict_key IS NULL AND (l.run_id IS NULL OR l.run_id = g.run_id)
    GROUP BY l.key HAVING count(DISTINCT g.verdict_key) = 1
) found WHERE labels.key = found.key
"""
"""A label whose id names several different outputs binds to none of them."""


def join(cursor: Cursor) -> None:
    """Bind the events and labels that still wait: an event by generation id, else by run and round, else by run
    and markup, the n-th event of a markup to the n-th generation that holds it."""
    for sql in (_BY_ID, _BY_ROUND, _BY_MARKUP, _BIND_LABELS):
        cursor.execute(sql)
