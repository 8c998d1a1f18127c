"""The history of labels: what was said, by whom and when, what changed, and what was taken back."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.store import Store

MOST = 1_000
"""Changes that are told: the latest."""

_SAID = """
SELECT l.key::VARCHAR, coalesce(l.verdict_key::VARCHAR, concat(l.run_id, ' ', l.generation_id)) AS output,
    l.generation_id, l.run_id, l.leak, l.kind, l.by_whom, l.note, coalesce(l.resolution, false),
    coalesce(l.labelled_at, l.recorded_at, u.created_at) AS moment, l.taken_back_at, coalesce(l.source, u.path)
FROM labels l LEFT JOIN uploads u USING (upload_id)
WHERE ($generation IS NULL OR l.generation_id = $generation) AND ($run IS NULL OR l.run_id = $run)
    AND ($by IS NULL OR l.by_whom = $by)
ORDER BY moment NULLS FIRST, l.recorded_at, l.upload_id, l.line, l.key
"""


@dataclass(frozen=True, slots=True)
class _Label:
    label_id: str
    output: str
    generation_id: str
    run_id: str | None
    leak: bool | None
    kind: str | None
    by: str
    note: str | None
    resolution: bool
    moment: datetime
    taken_back_at: datetime | None
    source: str | None


def history(
    store: Store, generation_id: str | None = None, run_id: str | None = None, by: str | None = None, limit: int = 100
) -> list[dict[str, Any]]:
    """The latest `limit` changes (at most MOST) as JSON, latest first; of one generation, run or person if asked.

    `what` is labelled, changed, confirmed, resolved or taken back; `before` is what that person's last word was.
    `source` is the file that brought the label, None where a person gave it here.
    """
    values = {"generation": generation_id, "run": run_id, "by": by}
    with store.cursor() as cursor:
        said = [_Label(*row) for row in cursor.execute(_SAID, values).fetchall()]
    return list(_changes(said))[::-1][: min(limit, MOST)]


def _changes(said: list[_Label]) -> Iterator[dict[str, Any]]:
    """The changes in the order of time."""
    happened = [(each.moment, False, each) for each in said]
    # a label may bear a time that is yet to come; it is taken back after it was given all the same
    happened += [(max(each.moment, each.taken_back_at), True, each) for each in said if each.taken_back_at]
    standing: dict[tuple[str, str, bool], list[_Label]] = {}
    for moment, taken_back, label in sorted(happened, key=lambda each: each[0]):
        words = standing.setdefault((label.output, label.by, label.resolution), [])
        before = words[-1] if words else None
        if taken_back:
            words.remove(label)
            yield _change(moment, "taken back", label, label)
        else:
            words.append(label)
            yield _change(moment, _what(label, before), label, before)


def _what(label: _Label, before: _Label | None) -> str:
    if label.resolution:
        return "resolved"
    if before is None:
        return "labelled"
    return "confirmed" if before.leak == label.leak else "changed"


def _change(moment: datetime, what: str, label: _Label, before: _Label | None) -> dict[str, Any]:
    return {
        "at": f"{moment.isoformat()}Z",
        "what": what,
        "by": label.by,
        "generation_id": label.generation_id,
        "run_id": label.run_id,
        "verdict": word(label.leak),
        "before": None if before is None else word(before.leak),
        "kind": label.kind,
        "note": label.note,
        "source": label.source,
        "label_id": label.label_id,
    }


def word(leak: bool | None) -> str:
    """A verdict in one word."""
    return "unsure" if leak is None else "leak" if leak else "clean"
