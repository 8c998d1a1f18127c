"""A verdict as the store keeps it: who says it of which output, and what. Written by whoever runs detectors."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa

from ingest.batch import Batch
from ingest.columns import Columns, table
from ingest.store import Cursor, insert


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """A finding, or the failure of a detector (`error`), on the outputs with one verdict key."""

    verdict_key: bytes
    kind: str | None = None
    family: str | None = None
    tier: str | None = None
    tool: str | None = None
    channel: str | None = None
    start: int | None = None
    end: int | None = None
    markup: str | None = None
    reason: str | None = None
    calls: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """The detector that judges what is ingested: its id, and its findings and failures on a batch.

    `index` notes what a batch holds, in the transaction that brings it and before it is judged; its last argument is
    the number of the last text that was there before. None: texts are searched when somebody asks.
    """

    detector: str
    verdicts: Callable[[Batch], Iterable[StoredVerdict]]
    index: Callable[[Cursor, Batch, int], object] | None = None


_COLUMNS: Columns = (
    ("verdict_key", pa.uuid()), ("kind", pa.string()), ("family", pa.string()), ("tier", pa.string()),
    ("tool", pa.string()), ("channel", pa.string()), ("start_at", pa.int32()), ("end_at", pa.int32()),
    ("markup", pa.string()), ("reason", pa.string()), ("calls", pa.string()), ("error", pa.string()),
)  # fmt: skip

_INSERT = """
INSERT INTO verdicts BY NAME
SELECT $detector AS detector, * FROM arriving a
WHERE NOT EXISTS (FROM verdicts v WHERE v.detector = $detector AND v.verdict_key = a.verdict_key)
"""


def keep_verdicts(cursor: Cursor, detector: str, verdicts: Iterable[StoredVerdict]) -> int:
    """Write the verdicts that are not there yet, one for each verdict key; their number."""
    unique = {verdict.verdict_key: verdict for verdict in verdicts}
    rows = [
        (
            v.verdict_key,
            v.kind,
            v.family,
            v.tier,
            v.tool,
            v.channel,
            v.start,
            v.end,
            v.markup,
            v.reason,
            v.calls,
            v.error,
        )
        for v in unique.values()
    ]
    return insert(cursor, _INSERT, table(_COLUMNS, rows), {"detector": detector}) if rows else 0
