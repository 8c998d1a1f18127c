"""The leak still in a later request's history."""

from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read
from ingest.shapes.repeated import BLANK, DIGITS, HISTORY

_ROWS = f"""
WITH hashed AS (
    SELECT l.*, substr(md5(nullif(trim(t.text, '{BLANK}'), '')), 1, {DIGITS}) AS hash, g.upload_id, g.line, g.position
    FROM leaks l JOIN generations g ON g.key = l.key LEFT JOIN texts t ON t.hash = l.content
), noted AS (
    SELECT key, run_id, generation_id, upload_id, line, position,
        json_extract_string(extra, '$.{HISTORY}[*]') AS replies
    FROM generations WHERE run_id IN (SELECT run_id FROM leaks) AND contains(extra, '"{HISTORY}":')
)
SELECT {LEAK}, any_value(l.markup) AS markup, any_value(l.hash) IS NOT NULL AS has_text,
    count(n.key) FILTER ((n.upload_id, n.line, n.position) > (l.upload_id, l.line, l.position)) > 0 AS noted,
    arg_min(n.generation_id, (n.upload_id, n.line, n.position)) FILTER (list_contains(n.replies, l.hash)) AS repeated_in
FROM hashed l LEFT JOIN noted n ON n.run_id = l.run_id AND n.key <> l.key GROUP BY l.key, l.run_id, l.generation_id
"""  # noqa: S608 - our own names


def judge(row: Row, _: Asked) -> Verdict:
    """Broken if a request of the run sends the whole text back; white space around it does not matter."""
    if row["repeated_in"] is not None:
        return Broken(f"the request of {excerpt(row['repeated_in'])} still holds it: {excerpt(row['markup'])}")
    if not row["has_text"]:
        return Unknown("not_in_content")
    return None if row["noted"] else Unknown("history_not_stored")


LEAK_IN_LATER_HISTORY = Rule(
    name="leak_in_later_history",
    summary="A later request still holds the leaked reply.",
    source="GOAT (a malformed response is left out of later prompts)",
    unit="leaks",
    needs="requests logged with their messages (pairs of request and response), in one run",
    not_checkable={
        "not_in_content": "the leak stands in reasoning or in a call, which requests do not send back as text",
        "history_not_stored": "no later request of the run is logged with its messages",
    },
    rows=read(_ROWS),
    judge=judge,
)
