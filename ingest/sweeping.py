"""What no generation points at any more, or none that still has its text, is deleted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest.store import Cursor

_TEXTS = """
DELETE FROM texts WHERE hash IS NOT NULL AND NOT EXISTS (
    FROM (SELECT unnest([content, reasoning, tool_calls, raw_text]) AS hash FROM generations) used
    WHERE used.hash = texts.hash
)
"""
_SWEPT = (
    _TEXTS,
    "DELETE FROM tool_lists WHERE NOT EXISTS (FROM generations g WHERE g.tools = tool_lists.hash)",
    "DELETE FROM trigger_hits WHERE NOT EXISTS (FROM texts t WHERE t.number = trigger_hits.text_number)",
    "DELETE FROM verdicts WHERE NOT EXISTS (FROM generations g WHERE g.verdict_key = verdicts.verdict_key)",
    *(
        f"DELETE FROM {table} WHERE verdict_key IS NOT NULL AND NOT EXISTS "  # noqa: S608 - our own names
        f"(FROM generations g WHERE g.verdict_key = {table}.verdict_key AND g.pruning IS NULL)"
        for table in ("naming", "candidate_outputs", "judged_so_far")
    ),
)
"""A NULL in the columns of a generation matches nothing, as it should: this is why it is no NOT IN. The empty rows
between long texts stay, or what they keep apart would come together."""
_PRUNED_ONLY = """
CREATE OR REPLACE TEMP TABLE pruned_only AS
SELECT g.verdict_key, list_distinct(flatten(list(p.detectors))) AS detectors
FROM generations g JOIN prunings p ON p.pruning_id = g.pruning
WHERE NOT EXISTS (FROM generations l WHERE l.verdict_key = g.verdict_key AND l.pruning IS NULL)
GROUP BY g.verdict_key
"""
"""The outputs whose text is here no more, with the detectors that had judged them by then."""
_STRIPPED = (
    """DELETE FROM verdicts USING pruned_only o
    WHERE o.verdict_key = verdicts.verdict_key AND NOT list_contains(o.detectors, verdicts.detector)""",
    """UPDATE verdicts SET markup = CASE WHEN markup IS NOT NULL THEN '' END,
        calls = CASE WHEN calls IS NOT NULL THEN '[]' END,
        reason = CASE WHEN reason IS NOT NULL THEN 'the text was pruned' END,
        error = CASE WHEN error IS NOT NULL THEN 'the text was pruned' END
    WHERE verdict_key IN (SELECT verdict_key FROM pruned_only)
        AND coalesce(reason, error, '') <> 'the text was pruned'""",
    """UPDATE labels SET note = NULL, extra = NULL
    WHERE verdict_key IN (SELECT verdict_key FROM pruned_only) AND (note IS NOT NULL OR extra IS NOT NULL)""",
)
"""A verdict quotes the text, and a note may."""


def sweep_unfinished(cursor: "Cursor") -> None:
    """Delete what uploads left that broke off. Within the writer's transaction: nobody else is loading then."""
    if cursor.execute("DELETE FROM uploads WHERE state = 'loading' RETURNING upload_id").fetchall():
        sweep(cursor)


def sweep(cursor: "Cursor") -> None:
    """Delete the texts, tool lists, verdicts and what is known of triggers that no generation points at; and what
    verdicts and labels quote of texts that were pruned."""
    for sql in _SWEPT:
        cursor.execute(sql)
    if cursor.execute("SELECT 1 FROM prunings LIMIT 1").fetchall():
        cursor.execute(_PRUNED_ONLY)
        for sql in _STRIPPED:
            cursor.execute(sql)
