"""What a change makes stale of what is counted ahead: noted in the transaction of the change itself, so that no crash
can leave a wrong count. Rows are only added, so that no writer waits for who counts anew (`analysis.rollups`)."""

from collections.abc import Sequence

from ingest.store import Cursor

_OF_UPLOADS = """
INSERT INTO stale_runs
SELECT run_id FROM generations WHERE upload_id IN (SELECT unnest($uploads::INTEGER[]))
UNION SELECT run_id FROM runs WHERE upload_id IN (SELECT unnest($uploads::INTEGER[]))
"""


def runs_changed(cursor: Cursor, uploads: Sequence[int]) -> None:
    """The runs of whose generations or records any is of these uploads are to be counted anew."""
    cursor.execute(_OF_UPLOADS, {"uploads": list(uploads)})


def runs_arrived(cursor: Cursor) -> None:
    """The runs of which something is staged are to be counted anew: those of an upload that grows are too many."""
    cursor.execute("INSERT INTO stale_runs SELECT run_id FROM staged_generations UNION SELECT run_id FROM staged_runs")


def verdicts_changed(cursor: Cursor, detector_id: str) -> None:
    """Nothing that was counted by this detector holds."""
    cursor.execute("INSERT INTO stale_verdicts VALUES ($1)", [detector_id])
