"""The rows of an upload on their way: staged beside the store's until all are there; texts and verdicts at once."""

import pyarrow as pa

from ingest import columns
from ingest.batch import Batch
from ingest.store import Cursor, insert, one, spread
from ingest.verdict_rows import Judge, keep_verdicts

_STAGED = {
    "staged_generations": columns.GENERATIONS,
    "staged_events": columns.EVENTS,
    "staged_runs": columns.RUNS,
    "staged_labels": columns.LABELS,
    "staged_quarantine": columns.QUARANTINE,
}


def stage_tables(cursor: Cursor) -> None:
    """Temporary tables: gone with the cursor, so that a crash leaves no half upload."""
    for name, kinds in _STAGED.items():
        cursor.register("shape", columns.table(kinds, []))
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM shape")
        cursor.unregister("shape")


def stage(cursor: Cursor, batch: Batch, judge: Judge) -> int:
    """Texts and verdicts go in at once: they are addressed by content, so nobody sees them before their rows. Within a
    transaction.

    The number of texts, tool lists and verdicts that were new.
    """
    [before] = one(cursor, "SELECT coalesce(max(number), 0) FROM texts")
    kept = _keep_texts(cursor, batch)
    kept += _keep(cursor, "tool_lists", columns.table(columns.TEXTS, batch.tool_lists.items()))
    if kept or not _judged(cursor, batch, judge):
        if judge.index:
            judge.index(cursor, batch, before)
        kept += keep_verdicts(cursor, judge.detector, judge.verdicts(batch))
    arriving = {
        "staged_generations": [generation.row for generation in batch.generations],
        "staged_events": [columns.event_row(*event) for event in batch.events],
        "staged_runs": [columns.run_row(*run) for run in batch.runs],
        "staged_labels": [columns.label_row(*label) for label in batch.labels],
        "staged_quarantine": [columns.quarantine_row(item) for item in batch.quarantined],
    }
    for name, rows in arriving.items():
        if rows:
            insert(cursor, f"INSERT INTO {name} FROM arriving", columns.table(_STAGED[name], rows))
    return kept


_JUDGED = """
SELECT count(*) FROM arriving a SEMI JOIN (
    SELECT key, verdict_key FROM generations WHERE upload_id IN (SELECT upload_id FROM coverage WHERE detector = $1)
    AND ($2 OR upload_id IN (FROM searched_for_names))
) known ON known.key = a.key AND known.verdict_key = a.verdict_key
"""


def _judged(cursor: Cursor, batch: Batch, judge: Judge) -> bool:
    """Whether all generations of a batch are there, judged by this detector and searched: of these nothing is new."""
    keys = [(each.entry.key, each.verdict_key) for each in batch.generations]
    cursor.register("arriving", columns.table(columns.KEYS, keys))
    [known] = one(cursor, _JUDGED, [judge.detector, judge.index is None])
    cursor.unregister("arriving")
    return bool(known == len(keys))


_KEEP = {
    "texts": "INSERT INTO texts BY NAME FROM arriving a WHERE NOT EXISTS (FROM texts t WHERE t.hash = a.hash)",
    "tool_lists": "INSERT INTO tool_lists FROM arriving a WHERE NOT EXISTS (FROM tool_lists t WHERE t.hash = a.hash)",
}


_EMPTY_TEXTS = "INSERT INTO texts BY NAME SELECT NULL AS hash, NULL AS number"


def _keep_texts(cursor: Cursor, batch: Batch) -> int:
    texts = columns.texts(batch.texts, batch.column())
    kept = _keep(cursor, "texts", texts)
    if kept:
        spread(cursor, _EMPTY_TEXTS, kept, texts.nbytes)
    return kept


def _keep(cursor: Cursor, name: str, kept: pa.Table) -> int:
    return insert(cursor, _KEEP[name], kept) if len(kept) else 0
