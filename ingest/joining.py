"""Events and labels find the generations they speak of, whichever came first."""

from ingest.stale import binding_events
from ingest.store import Cursor

_BY_ID = """
UPDATE events SET generation = found.key FROM (
    SELECT e.key AS event, arg_min(g.key, (g.upload_id, g.line)) AS key
    FROM events e JOIN generations g ON g.generation_id = e.generation_id
    WHERE e.generation IS NULL AND (e.run_id IS NULL OR e.run_id = g.run_id) GROUP BY e.key
) found WHERE events.key = found.event
"""
_BY_MARKUP = """
UPDATE events SET generation = found.generation FROM (
    WITH told AS (
        SELECT key, {place}, markup,
            row_number() OVER (PARTITION BY {place}, markup ORDER BY leak, upload_id, line) AS n
        FROM events WHERE generation IS NULL AND markup <> ''
    ), texts_there AS (
        SELECT DISTINCT g.key, {place}, m.markup, g.attempt, g.started_at, g.upload_id, g.line, g.position,
            unnest([g.content, g.reasoning]) AS hash
        FROM (SELECT DISTINCT {place}, markup FROM told) m JOIN generations g USING ({place})
        WHERE NOT EXISTS (FROM events e WHERE e.generation = g.key AND e.markup = m.markup)
    ), seen AS (
        SELECT key, {place}, markup,
            row_number() OVER (PARTITION BY {place}, markup ORDER BY {order}) AS n
        FROM (
            SELECT DISTINCT h.* EXCLUDE (hash) FROM texts_there h JOIN texts t USING (hash)
            WHERE contains(t.text, h.markup)
        )
    )
    SELECT told.key AS event, seen.key AS generation FROM told JOIN seen USING ({place}, markup, n)
) found WHERE events.key = found.event
"""
"""The n-th waiting event of a markup belongs to the n-th generation that holds it and has no such event yet."""
_BY_ROUND_AND_MARKUP = _BY_MARKUP.format(
    place="run_id, round", order="coalesce(attempt, 0), started_at, upload_id, line, position"
)
_BY_RUN_AND_MARKUP = _BY_MARKUP.format(place="run_id", order="started_at, upload_id, line, position")
_BY_ROUND = """
UPDATE events SET generation = found.key FROM (
    SELECT e.key AS event, arg_min(g.key, (coalesce(g.attempt, 0), g.upload_id, g.line)) AS key
    FROM events e JOIN generations g ON g.run_id = e.run_id AND g.round = e.round
    WHERE e.generation IS NULL AND g.linked_by IS NULL GROUP BY e.key
) found WHERE events.key = found.event
"""
"""Only where the source itself numbers rounds: a number told by a history need not be the client's own."""
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
    """Bind the events and labels that still wait: an event by generation id, else by run and round, there to the
    attempt whose text holds the markup, else by run and markup."""
    with binding_events(cursor):
        for sql in (_BY_ID, _BY_ROUND_AND_MARKUP, _BY_ROUND, _BY_RUN_AND_MARKUP):
            cursor.execute(sql)
    bind_labels(cursor)


def bind_labels(cursor: Cursor) -> None:
    """Bind the labels that still wait for the one output that their id names."""
    cursor.execute(_BIND_LABELS)
