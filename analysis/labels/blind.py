"""An output as a reviewer sees it: no verdict of a detector and no other person's label."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic_core import from_json

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
    SELECT verdict_key,
        arg_min({'c': content, 'r': reasoning}, (pruning IS NOT NULL, upload_id, line, position)) AS hashes
    FROM generations WHERE verdict_key IN (SELECT unnest($keys::UUID[])) GROUP BY verdict_key
)
SELECT p.verdict_key::VARCHAR, c.text, r.text FROM placed p
LEFT JOIN texts c ON c.hash = p.hashes.c LEFT JOIN texts r ON r.hash = p.hashes.r
"""


def texts(store: Store, keys: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
    """Content and reasoning of outputs, by verdict key."""
    if not keys:
        return {}
    with store.cursor() as cursor:
        rows = cursor.execute(_TEXTS, {"keys": list(keys)}).fetchall()
    return {key: (content, reasoning) for key, content, reasoning in rows}
