"""Labels: a person's verdict on one output, given while looking at it; and which output to look at next."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic_core import from_json

from ingest.errors import NotFound, UsageError
from ingest.identity import fields_hash
from ingest.records import Kind
from ingest.store import Cursor, Store, one

_NEXT = """
WITH opinions AS (
    SELECT verdict_key, count(*) FILTER (tier IN ('certain', 'likely')) AS leaks FROM verdicts GROUP BY verdict_key
), waiting AS (
    SELECT g.verdict_key, min((g.upload_id, g.line, g.position)) AS place, any_value(o.leaks) AS leaks,
        (SELECT count(DISTINCT detector) FROM coverage) AS detectors
    FROM facts g LEFT JOIN opinions o ON o.verdict_key = g.verdict_key
    WHERE g.reply IN ('words', 'reasoning_only')
        AND NOT EXISTS (FROM labels l WHERE l.verdict_key = g.verdict_key AND l.by_whom = $by)
    GROUP BY g.verdict_key
)
SELECT verdict_key, count(*) OVER () AS waiting FROM waiting
ORDER BY coalesce(leaks > 0 AND leaks < detectors, false) DESC, coalesce(leaks > 0, false) DESC,
    md5(verdict_key::VARCHAR)
LIMIT 1
"""
"""Outputs on which the detectors differ come first, then those that any takes for a leak, then the rest; within
each in an order that says nothing."""
_OUTPUT = """
SELECT g.generation_id, g.run_id, g.model, c.text AS content, r.text AS reasoning, l.tools, g.tools_known,
    g.finish_reason
FROM facts g LEFT JOIN texts c ON c.hash = g.content LEFT JOIN texts r ON r.hash = g.reasoning
LEFT JOIN tool_lists l ON l.hash = g.tools
WHERE g.verdict_key = $key ORDER BY g.upload_id, g.line, g.position LIMIT 1
"""
_ADD = """
INSERT INTO labels BY NAME SELECT $id AS key, $generation AS generation_id, $run AS run_id, $leak AS leak,
    $kind AS kind, $by AS by_whom, $at AS labelled_at, $note AS note, $nulls AS nulls, $key AS verdict_key
"""


@dataclass(frozen=True, slots=True)
class NewLabel:
    """A label to be added; `leak` None means unsure."""

    generation_id: str
    leak: bool | None
    by: str
    run_id: str | None = None
    kind: Kind | None = None
    note: str | None = None


def add(store: Store, label: NewLabel, at: datetime) -> str:
    """Add a label given at the moment `at` (UTC); its id, for taking it back. NotFound, or UsageError if the
    generation id names several different outputs."""
    moment = at.replace(tzinfo=None)
    label_id = UUID(bytes=fields_hash(label, moment))
    with store.transaction() as cursor:
        values = {
            "id": label_id,
            "generation": label.generation_id,
            "run": label.run_id,
            "leak": label.leak,
            "kind": label.kind,
            "by": label.by,
            "at": moment,
            "note": label.note,
            "nulls": ["leak"] if label.leak is None else None,
            "key": _verdict_key(cursor, label),
        }
        cursor.execute(_ADD, values)
    return str(label_id)


def _verdict_key(cursor: Cursor, label: NewLabel) -> UUID:
    """The one output that a label is of."""
    found = cursor.execute(
        "SELECT DISTINCT verdict_key FROM generations WHERE generation_id = $1 AND ($2 IS NULL OR run_id = $2)",
        [label.generation_id, label.run_id],
    ).fetchall()
    if not found:
        raise NotFound(f"no generation {label.generation_id!r}")
    if len(found) > 1:
        raise UsageError(f"generation {label.generation_id!r} names {len(found)} different outputs; name its run too")
    key: UUID = found[0][0]
    return key


def take_back(store: Store, label_id: str) -> None:
    """Delete one label by its id. NotFound."""
    with store.transaction() as cursor:
        gone = cursor.execute("DELETE FROM labels WHERE key::VARCHAR = $1 RETURNING key", [label_id]).fetchall()
    if not gone:
        raise NotFound(f"no label {label_id!r}")


def following(store: Store, by: str) -> dict[str, Any]:
    """The output that `by` should look at next, without any verdict on it, and how many wait; None at the end."""
    with store.cursor() as cursor:
        rows = cursor.execute(_NEXT, {"by": by}).fetchall()
        [labelled] = one(cursor, "SELECT count(DISTINCT verdict_key) FROM labels WHERE by_whom = $1", [by])
        if not rows:
            return {"output": None, "waiting": 0, "labelled": labelled}
        key, waiting = rows[0]
        generation_id, run_id, model, content, reasoning, tools, known, finish = one(cursor, _OUTPUT, {"key": key})
    return {
        "output": {
            "generation_id": generation_id,
            "run_id": run_id,
            "model": model,
            "content": content,
            "reasoning": reasoning,
            "tools": [tool["name"] for tool in from_json(tools or "[]")] if known else None,
            "finish_reason": finish,
        },
        "waiting": waiting,
        "labelled": labelled,
    }
