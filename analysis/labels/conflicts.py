"""Outputs on which people contradict each other, open or resolved, with what each of them said."""

from collections.abc import Iterable
from typing import Any

from analysis.labels.counted import counted
from ingest.store import Store

_WORDS = """
SELECT l.verdict_key::VARCHAR, s.state = 'conflict' AS open, l.key::VARCHAR, l.by_whom, l.leak, l.kind, l.note,
    coalesce(l.labelled_at, l.recorded_at), l.resolution, g.generation_id, g.run_id
FROM label_states s JOIN last_words l USING (verdict_key) JOIN (
    SELECT verdict_key, arg_min(generation_id, (upload_id, line, position)) AS generation_id,
        arg_min(run_id, (upload_id, line, position)) AS run_id
    FROM labelled WHERE verdict_key IN (SELECT verdict_key FROM label_states WHERE state = 'conflict' OR resolved)
    GROUP BY verdict_key
) g USING (verdict_key)
WHERE s.state = 'conflict' OR s.resolved
ORDER BY g.run_id, g.generation_id, l.verdict_key, l.resolution, l.by_whom
"""


def conflicts(store: Store) -> dict[str, list[dict[str, Any]]]:
    """As JSON: `open`, the outputs in conflict, and `resolved` ones, each with everyone's last word and its
    resolution (None while open). Of outputs that are in the store."""
    with counted(store) as cursor:
        rows = cursor.execute(_WORDS).fetchall()
    found: dict[str, dict[str, Any]] = {}
    for key, is_open, label_id, by, leak, kind, note, moment, resolution, generation_id, run_id in rows:
        one = found.setdefault(
            key,
            {
                "verdict_key": key,
                "generation_id": generation_id,
                "run_id": run_id,
                "open": is_open,
                "labels": [],
                "resolution": None,
            },
        )
        at = f"{moment.isoformat()}Z" if moment else None
        word = {"label_id": label_id, "by": by, "leak": leak, "kind": kind, "note": note, "at": at}
        if resolution:
            one["resolution"] = word
        else:
            one["labels"].append(word)
    return {"open": _told(found.values(), True), "resolved": _told(found.values(), False)}


def _told(found: Iterable[dict[str, Any]], is_open: bool) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key != "open"} for one in found if one["open"] == is_open]
