"""What a change makes stale of what is counted ahead: noted in the transaction of the change itself, so that no crash
can leave a wrong count. Rows are only added, so that no writer waits for who counts anew (`analysis.rollups`)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ingest.store import Cursor

_OF_UPLOADS = """
INSERT INTO stale_runs
SELECT run_id FROM generations WHERE upload_id IN (SELECT unnest($uploads::INTEGER[]))
UNION SELECT run_id FROM runs WHERE upload_id IN (SELECT unnest($uploads::INTEGER[]))
UNION SELECT g.run_id FROM events e JOIN generations g ON g.key = e.generation
    WHERE e.upload_id IN (SELECT unnest($uploads::INTEGER[]))
"""
_ARRIVED = """
INSERT INTO stale_runs
SELECT run_id FROM staged_generations UNION SELECT run_id FROM staged_runs
UNION SELECT g.run_id FROM staged_events s JOIN events e ON e.key = s.key JOIN generations g ON g.key = e.generation
"""
_WAITING = "CREATE OR REPLACE TEMP TABLE waiting AS SELECT key FROM events WHERE generation IS NULL"
_BOUND = """
INSERT INTO stale_runs
SELECT DISTINCT g.run_id FROM events e JOIN waiting USING (key) JOIN generations g ON g.key = e.generation
"""


def runs_changed(cursor: Cursor, uploads: Sequence[int]) -> None:
    """The runs of whose generations or records any is of these uploads, or of which their events tell, are to be
    counted anew."""
    cursor.execute(_OF_UPLOADS, {"uploads": list(uploads)})


def runs_arrived(cursor: Cursor) -> None:
    """The runs of which something is staged are to be counted anew: those of an upload that grows are too many."""
    cursor.execute(_ARRIVED)


@contextmanager
def binding_events(cursor: Cursor) -> Iterator[None]:
    """The runs of generations that events are bound to meanwhile are to be counted anew."""
    cursor.execute(_WAITING)
    yield
    cursor.execute(_BOUND)


def verdicts_changed(cursor: Cursor, detector_id: str) -> None:
    """Nothing that was counted by this detector holds."""
    cursor.execute("INSERT INTO stale_verdicts VALUES ($1)", [detector_id])
