"""The history of what was taken out of a store."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from ingest.store import Cursor, Store, one

COVERED = "g.upload_id IN (SELECT upload_id FROM coverage WHERE detector = $detector)"
"""SQL over generations `g`: of an upload that `$detector` has judged. One that came meanwhile, judged by another, is
not there yet for who counts by this one: it would be clean."""
JUDGED = """(g.pruning IS NULL OR g.pruning IN (
    SELECT pruning_id FROM prunings WHERE list_contains(detectors, $detector)))"""
"""SQL over generations `g`: `$detector` has judged it, or still can. Of what was pruned before nobody can say whether
it leaked, so that no count may take it for clean."""

_STATE = "SELECT count(*), max(pruned_at)::VARCHAR FROM prunings"
_WHEN = """
SELECT g.run_id, g.generation_id, max(p.pruned_at) FROM generations g JOIN prunings p ON p.pruning_id = g.pruning
WHERE g.run_id IN (SELECT unnest($runs::VARCHAR[])) AND g.generation_id IN (SELECT unnest($ids::VARCHAR[]))
GROUP BY ALL
"""
_UNJUDGED = f"SELECT count(*) FROM generations g WHERE NOT {JUDGED}"  # noqa: S608 - our own names
_NOTE = """
INSERT INTO prunings
SELECT (SELECT coalesce(max(pruning_id), 0) + 1 FROM prunings), $now, $before, false, NULL, $generations
"""


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken out, or would be: `texts` are those that nothing else uses, `uploads` those of which nothing is
    left, `reports` kept ones that named it. `before` is None for a run that was forgotten."""

    before: datetime | None
    rates_kept: bool
    runs: int
    generations: int
    events: int
    labels: int
    uploads: int
    texts: int
    reports: int

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; the time in ISO 8601, UTC."""
        return {**asdict(self), "before": self.before and f"{self.before.isoformat()}Z"}


def state(cursor: Cursor) -> tuple[object, ...]:
    """Differs after anything was taken out: for who works on what it read before."""
    return one(cursor, _STATE)


def note(cursor: Cursor, now: datetime, before: datetime | None, generations: int) -> None:
    """Note that generations went wholly, without a word of which."""
    cursor.execute(_NOTE, {"now": now, "before": before, "generations": generations})


def pruned_at(cursor: Cursor, places: Sequence[tuple[str, str]]) -> list[str | None]:
    """When the texts of generations, each by run and id, were pruned (ISO 8601, UTC); None where they were not."""
    runs, ids = [run_id for run_id, _ in places], [id_ for _, id_ in places]
    found = cursor.execute(_WHEN, {"runs": runs, "ids": ids}).fetchall() if places else []
    known = {(run_id, id_): f"{moment.isoformat()}Z" for run_id, id_, moment in found}
    return [known.get(place) for place in places]


def unjudged(store: Store, detector: str) -> int:
    """How many generations were pruned before a detector judged them."""
    with store.cursor() as cursor:
        return int(one(cursor, _UNJUDGED, {"detector": detector})[0])
