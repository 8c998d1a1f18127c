"""An event without a leak."""

from collections.abc import Iterator

from analysis.recovery.audit.rules import Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, rows_of
from ingest.retention.prunings import COVERED
from ingest.store import Cursor

_ROWS = f"""
SELECT [e.key::VARCHAR] AS keys, coalesce(g.run_id, e.run_id) AS run_id, g.generation_id, e.markup,
    coalesce(e.detector, 'the client') AS reported_by, g.key IS NOT NULL AS here, v.error IS NOT NULL AS failed,
    coalesce(t.leak, v.tier IN ('certain', 'likely'), false) AS leak, t.leak IS NOT NULL AS labelled
FROM events e LEFT JOIN (SELECT *, {{condition}} AS asked FROM facts) g ON g.key = e.generation
LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
LEFT JOIN truth t ON t.verdict_key = g.verdict_key
WHERE e.pruning IS NULL AND (g.key IS NULL OR {COVERED}) AND CASE WHEN g.key IS NULL THEN $all ELSE g.asked END
"""  # noqa: S608 - our own names


def rows(cursor: Cursor, asked: Asked) -> Iterator[Row]:
    """The events of the generations that are asked for; without filters also those that belong to none."""
    condition, parameters = asked.filters.sql()
    values = {"detector": asked.detector, "all": not parameters, **parameters}
    return rows_of(cursor, _ROWS.format(condition=condition), values)


def judge(row: Row, asked: Asked) -> Verdict:
    """Broken if the reply that it tells of is none by people's labels, else by the detector."""
    if not row["here"]:
        return Unknown("generation_not_here")
    if row["leak"]:
        return None
    if row["failed"] and not row["labelled"]:
        return Unknown("not_judged")
    denied = "people say there is none" if row["labelled"] else f"{asked.detector} finds none"
    return Broken(f"{excerpt(row['reported_by'])} reported a leak where {denied}: {excerpt(row['markup'])}")


EVENT_WITHOUT_LEAK = Rule(
    name="event_without_leak",
    summary="A client reports a leak where there is none.",
    source="OpenRouter.Net (LeakedToolCallEvent)",
    unit="events",
    needs="events, and the replies that they tell of",
    not_checkable={
        "generation_not_here": "the event belongs to no generation of the store",
        "not_judged": "the detector failed on the reply",
    },
    rows=rows,
    judge=judge,
)
