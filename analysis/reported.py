"""What clients reported as leaks against what the detector finds: where the two disagree."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.detectors import Detector
from ingest.retention.prunings import COVERED, JUDGED
from ingest.store import Store, one

_SHOWN = "g.key, g.generation_id, g.run_id, g.started_at, g.upload_id, g.line, g.client, g.client_version, v.reason"
_TOLD = f"""
WITH told AS (
    SELECT generation AS key, any_value(markup) AS markup FROM events WHERE generation IS NOT NULL GROUP BY generation
), reported AS MATERIALIZED (
    SELECT {_SHOWN}, t.markup, coalesce(v.tier IN ('certain', 'likely'), false) AS found
    FROM told t JOIN facts g USING (key)
    LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key WHERE {COVERED} AND {JUDGED}
), reporting AS (SELECT DISTINCT client, client_version FROM reported
), found AS (
    SELECT {_SHOWN}, v.markup FROM verdicts v JOIN facts g USING (verdict_key)
    WHERE {COVERED} AND {JUDGED} AND v.detector = $detector AND v.tier IN ('certain', 'likely')
), found_only AS (
    SELECT f.* FROM found f
    SEMI JOIN reporting r
        ON r.client IS NOT DISTINCT FROM f.client AND r.client_version IS NOT DISTINCT FROM f.client_version
    ANTI JOIN told t ON t.key = f.key
)
"""  # noqa: S608 - the names are ours
"""From the events and the findings on: most generations are in neither."""
_COUNTS = f"""
{_TOLD}
SELECT (SELECT count(*) FROM reported WHERE found), (SELECT count(*) FROM reported WHERE NOT found),
    (SELECT count(*) FROM found_only),
    (SELECT count(*) FROM events WHERE generation IS NULL), (SELECT count(*) FROM events)
"""  # noqa: S608 - the names are ours
_DIFFERENCES = f"""
{_TOLD}, differing AS (
    SELECT * EXCLUDE (found), true AS reported FROM reported WHERE NOT found
    UNION ALL BY NAME SELECT *, false AS reported FROM found_only
)
SELECT generation_id, run_id, reported, markup, coalesce(reason, '') FROM differing
ORDER BY started_at DESC NULLS LAST, upload_id, line LIMIT $limit
"""  # noqa: S608 - the names are ours


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
