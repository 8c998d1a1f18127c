"""A drawn sample as a queue for Review: the one place that knows how samples are stored."""

from ingest.errors import NotFound
from ingest.store import Cursor

_ITEMS = """
SELECT verdict_key, min(place) AS ord FROM sample_items i
WHERE sample_id::VARCHAR = $sample AND EXISTS (FROM generations g WHERE g.verdict_key = i.verdict_key)
GROUP BY verdict_key
"""
"""Without the outputs that were deleted since."""
_KNOWN = "SELECT 1 FROM sample_items WHERE sample_id::VARCHAR = $sample LIMIT 1"


def items(cursor: Cursor, sample: str) -> str:
    """The SQL of a drawn sample's outputs: verdict_key, and `ord`, their order; its parameter is $sample. NotFound."""
    if not cursor.execute(_KNOWN, {"sample": sample}).fetchall():
        raise NotFound(f"no sample {sample!r}")
    return _ITEMS
