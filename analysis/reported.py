"""What clients reported as leaks against what the detector finds: where the two disagree."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.detectors import Detector
from analysis.rollups import up_to_date
from ingest.store import Store, one

_TOLD = """
WITH reporting AS (SELECT DISTINCT client, client_version FROM hints WHERE reported
), found_only AS (
    SELECT h.* FROM hints h SEMI JOIN reporting r
        ON r.client IS NOT DISTINCT FROM h.client AND r.client_version IS NOT DISTINCT FROM h.client_version
    WHERE h.found AND NOT h.reported
)
"""
_COUNTS = f"""
{_TOLD}
SELECT (SELECT count(*) FROM hints WHERE reported AND found),
    (SELECT count(*) FROM hints WHERE reported AND NOT found), (SELECT count(*) FROM found_only),
    (SELECT count(*) FROM events WHERE generation IS NULL), (SELECT count(*) FROM events)
"""  # noqa: S608 - the names are ours
_DIFFERENCES = f"""
{_TOLD}, shown AS (
    FROM (FROM hints WHERE reported AND NOT found UNION ALL FROM found_only)
    ORDER BY started_at DESC NULLS LAST, upload_id, line LIMIT $limit
), told AS (
    SELECT generation AS key, any_value(markup) AS markup FROM events
    WHERE generation IN (SELECT key FROM shown) GROUP BY generation
)
SELECT s.generation_id, s.run_id, s.reported, CASE WHEN s.reported THEN t.markup ELSE v.markup END,
    coalesce(v.reason, '')
FROM shown s LEFT JOIN told t USING (key)
LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = s.verdict_key
ORDER BY s.started_at DESC NULLS LAST, s.upload_id, s.line
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
    """Where events and the findings of `detector`, which must have judged the history, agree and differ, with the
    latest `limit` differences."""
    with up_to_date(store, detector) as cursor:
        counts = one(cursor, _COUNTS)
        rows = cursor.execute(_DIFFERENCES, {"detector": detector.id, "limit": limit}).fetchall()
    both, reported_only, found_only, unjoined, events = counts
    names = ("generation_id", "run_id", "reported", "markup", "reason")
    differences = [dict(zip(names, row, strict=True)) for row in rows]
    return Reported(both, reported_only, found_only, unjoined, events, differences)
