"""The outputs that people label: how many different ones there are, and where those stand that have a label."""

from ingest.store import Cursor, one
from ingest.uploads import state_of

COMPARED = "coalesce(role, 'agent') IN ('agent', 'subagent') AND reply <> 'empty' AND pruning IS NULL"
"""The population of a replay, as a condition over `generations`."""
UNSEEN = """
SELECT verdict_key FROM labels
WHERE verdict_key IS NOT NULL AND verdict_key NOT IN (SELECT verdict_key FROM labelled_keys)
"""
_UNSEEN = f"CREATE OR REPLACE TEMP TABLE unseen AS SELECT DISTINCT * FROM ({UNSEEN})"  # noqa: S608 - our own names
COUNT_LABELLED = f"""
INSERT INTO labelled BY NAME
SELECT verdict_key, run_id, generation_id, upload_id, line, position, {COMPARED} AS compared
FROM generations g WHERE {{condition}} AND verdict_key IN (SELECT verdict_key FROM {{keys}})
"""  # noqa: S608 - our own names
_ALL = f"SELECT count(DISTINCT verdict_key) FROM generations WHERE {COMPARED}"  # noqa: S608 - our own names
_NEW = f"""
SELECT count(DISTINCT verdict_key) FROM (SELECT verdict_key FROM generations WHERE upload_id > $last AND {COMPARED})
ANTI JOIN (SELECT verdict_key FROM generations WHERE upload_id <= $last AND {COMPARED}) USING (verdict_key)
"""  # noqa: S608 - our own names
_KEPT = "SELECT state, last_upload, outputs FROM output_counts"
_LAST = "SELECT coalesce(max(upload_id), 0) FROM uploads WHERE state = 'done'"


def count_new_labels(cursor: Cursor) -> None:
    """The outputs that were labelled since, wherever they stand."""
    cursor.execute(_UNSEEN)
    cursor.execute(COUNT_LABELLED.format(condition="true", keys="unseen"))
    cursor.execute("INSERT INTO labelled_keys FROM unseen")


def count_outputs(cursor: Cursor) -> None:
    """Note how many different outputs there are; where uploads only came, by those that they brought."""
    now, [last] = state_of(cursor), one(cursor, _LAST)
    for state, until, outputs in cursor.execute(_KEPT).fetchall():
        if state == now:
            return
        if state == state_of(cursor, until):
            [new] = one(cursor, _NEW, {"last": until})
            _note(cursor, now, last, outputs + new)
            return
    _note(cursor, now, last, *one(cursor, _ALL))


def _note(cursor: Cursor, *row: object) -> None:
    cursor.execute("DELETE FROM output_counts")
    cursor.execute("INSERT INTO output_counts VALUES ($1, $2, $3)", list(row))


def outputs(cursor: Cursor) -> int:
    """How many different outputs there are to be labelled. To count them takes seconds where there are ten million, so
    it is done once for each change of the uploads."""
    now = state_of(cursor)
    kept = [found for state, _, found in cursor.execute(_KEPT).fetchall() if state == now]
    return int(kept[0] if kept else one(cursor, _ALL)[0])
