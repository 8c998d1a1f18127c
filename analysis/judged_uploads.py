"""Which uploads two detectors have both judged."""

from ingest.store import Cursor

_JUDGED_UPLOADS = """
CREATE OR REPLACE TEMP TABLE judged_uploads AS
SELECT upload_id FROM coverage WHERE detector IN ($baseline, $candidate)
GROUP BY upload_id HAVING count(DISTINCT detector) = CASE WHEN $baseline = $candidate THEN 1 ELSE 2 END
"""


def keep_judged(cursor: Cursor, baseline: str, candidate: str) -> None:
    """Make the temporary table `judged_uploads` of those that both have judged. What arrives while they judge is not
    there yet: it would be clean by whoever has not seen it."""
    cursor.execute(_JUDGED_UPLOADS, {"baseline": baseline, "candidate": candidate})
