"""An output as a reviewer sees it: no verdict of a detector and no other person's label."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic_core import from_json

from analysis.labels.counted import counted
from ingest.store import Cursor, Store, one

_OUTPUT = """
SELECT g.generation_id, g.run_id, g.model, c.text AS content, r.text AS reasoning, k.text AS calls, l.tools,
    g.tools_known, g.finish_reason
FROM facts g LEFT JOIN texts c ON c.hash = g.content LEFT JOIN texts r ON r.hash = g.reasoning
LEFT JOIN texts k ON k.hash = g.tool_calls LEFT JOIN tool_lists l ON l.hash = g.tools
WHERE g.verdict_key = $key ORDER BY g.pruning IS NOT NULL, g.upload_id, g.line, g.position LIMIT 1
"""
_SAID = """
SELECT CASE WHEN leak THEN 'leak' WHEN NOT leak THEN 'clean' ELSE 'unsure' END FROM last_words
WHERE verdict_key = $key AND by_whom = $by AND NOT resolution
"""


def output(cursor: Cursor, key: UUID, by: str) -> dict[str, Any]:
    """The output of a verdict key; `said` is what `by` said of it so far: leak, clean, unsure, or None."""
    generation_id, run_id, model, content, reasoning, calls, tools, known, finish = one(cursor, _OUTPUT, {"key": key})
    said = cursor.execute(_SAID, {"key": key, "by": by}).fetchall()
    return {
        "verdict_key": str(key),
        "generation_id": generation_id,
        "run_id": run_id,
        "model": model,
        "content": content,
        "reasoning": reasoning,
        "tool_calls": from_json(calls) if calls else None,
        "tools": [tool["name"] for tool in from_json(tools or "[]")] if known else None,
        "finish_reason": finish,
        "said": said[0][0] if said else None,
    }


_TEXTS = """
WITH placed AS (
    SELECT verdict_key, coalesce(
        min((upload_id, line, position)) FILTER (compared), min((upload_id, line, position))) AS place
    FROM labelled WHERE verdict_key IN (SELECT unnest($keys::UUID[])) GROUP BY verdict_key
), firsts AS MATERIALIZED (
    SELECT verdict_key, place[1] AS upload_id, place[2] AS line, place[3] AS position FROM placed
), hashes AS MATERIALIZED (
    SELECT g.verdict_key, g.content, g.reasoning
    FROM firsts JOIN generations g USING (verdict_key, upload_id, line, position)
)
SELECT h.verdict_key::VARCHAR, c.text, r.text FROM hashes h
LEFT JOIN texts c ON c.hash = h.content LEFT JOIN texts r ON r.hash = h.reasoning
"""
"""By the places of the outputs, so that no others are read."""


def texts(store: Store, keys: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
    """Content and reasoning of labelled outputs, by verdict key."""
    if not keys:
        return {}
    with counted(store) as cursor:
        rows = cursor.execute(_TEXTS, {"keys": list(keys)}).fetchall()
    return {key: (content, reasoning) for key, content, reasoning in rows}
