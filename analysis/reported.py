"""What clients reported as leaks against what the detector finds: where the two disagree."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.detectors import Detector
from ingest.store import Store, one

_COUNTS = """
WITH told AS (SELECT DISTINCT generation FROM events WHERE generation IS NOT NULL),
reporting AS (
    SELECT DISTINCT g.client, g.client_version FROM told t JOIN facts g ON g.key = t.generation
), marked AS (
    SELECT coalesce(v.tier IN ('certain', 'likely'), false) AS found, t.generation IS NOT NULL AS reported,
        EXISTS (FROM reporting r WHERE r.client IS NOT DISTINCT FROM g.client
            AND r.client_version IS NOT DISTINCT FROM g.client_version) AS reports
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    LEFT JOIN told t ON t.generation = g.key
)
SELECT count(*) FILTER (found AND reported), count(*) FILTER (reported AND NOT found),
    count(*) FILTER (found AND NOT reported AND reports),
    (SELECT count(*) FROM events WHERE generation IS NULL), (SELECT count(*) FROM events)
FROM marked
"""
_DIFFERENCES = """
WITH told AS (
    SELECT generation, any_value(markup) AS markup FROM events WHERE generation IS NOT NULL GROUP BY generation
), reporting AS (
    SELECT DISTINCT g.client, g.client_version FROM told t JOIN facts g ON g.key = t.generation
)
SELECT g.generation_id, g.run_id, t.generation IS NOT NULL AS reported,
    coalesce(t.markup, v.markup) AS markup, coalesce(v.reason, '') AS reason
FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
LEFT JOIN told t ON t.generation = g.key
WHERE (t.generation IS NOT NULL) <> coalesce(v.tier IN ('certain', 'likely'), false)
    AND (t.generation IS NOT NULL OR EXISTS (FROM reporting r WHERE r.client IS NOT DISTINCT FROM g.client
        AND r.client_version IS NOT DISTINCT FROM g.client_version))
ORDER BY g.started_at DESC NULLS LAST, g.upload_id, g.line LIMIT $limit
"""


@dataclass(frozen=True, slots=True)
class Reported:
    """Events against findings. `found_only` counts the clients (and versions) that report events at all;
    `unjoined` are events without a generation here."""

    both: int
    reported_only: int
    found_only: int
    unjoined: int
    events: int
    differences: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """The counts, and the latest differences."""
        return asdict(self)


def reported(store: Store, detector: Detector, limit: int = 20) -> Reported:
    """Where events and the findings of `detector` agree and differ, with the latest `limit` differences."""
    with store.cursor() as cursor:
        counts = one(cursor, _COUNTS, {"detector": detector.id})
        rows = cursor.execute(_DIFFERENCES, {"detector": detector.id, "limit": limit}).fetchall()
    both, reported_only, found_only, unjoined, events = counts
    names = ("generation_id", "run_id", "reported", "markup", "reason")
    differences = [dict(zip(names, row, strict=True)) for row in rows]
    return Reported(both, reported_only, found_only, unjoined, events, differences)
