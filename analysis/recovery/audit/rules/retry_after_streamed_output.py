"""A retry after semantic output was already streamed."""

from collections.abc import Iterator

from analysis.recovery.audit.bounds import NO_PLACE
from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read, told

_ROWS = rf"""
SELECT {LEAK}, l.placed, l.extra, l.has_calls AS call, s.retry IS NOT NULL AS retried,
    coalesce(l.channel = 'content' AND regexp_matches(substr(c.text, 1, l.start_at), '\S'), false)
        OR coalesce(l.channel <> 'content' AND regexp_matches(c.text, '\S'), false) AS text,
    coalesce(regexp_matches(CASE l.channel WHEN 'reasoning' THEN substr(r.text, 1, l.start_at) ELSE r.text END, '\S'),
        false) AS reasoning
FROM leaks l LEFT JOIN steps s ON s.key = l.key
LEFT JOIN texts c ON c.hash = l.content LEFT JOIN texts r ON r.hash = l.reasoning
"""  # noqa: S608 - our own names


def judge(row: Row, _: Asked) -> Verdict:
    """Broken if the record says that something was shown before the leak, and it was retried all the same."""
    if not row["placed"]:
        return Unknown("place_untold")
    shown, streamed = list(_before(row)), told(row, "streamed")
    if isinstance(streamed, list):
        shown = [str(each) for each in streamed]
    if not row["retried"] or not shown or streamed is False:
        return None
    if streamed is None:
        return Unknown("streaming_untold")
    return Broken(f"retried after the client had shown {excerpt(' and '.join(sorted(shown)))} of it")


def _before(row: Row) -> Iterator[str]:
    """What stands in the reply before its leak."""
    return (name for name in ("text", "reasoning", "call") if row[name])


RETRY_AFTER_STREAMED_OUTPUT = Rule(
    name="retry_after_streamed_output",
    summary="A leak is retried though something of the reply was shown before it.",
    source="Foundry Local (what was streamed is not taken back)",
    unit="leaks",
    needs="round and attempt; `streamed` in the record, a list of what was shown or true or false; nothing, where the "
    "leak stands first",
    not_checkable=NO_PLACE | {"streaming_untold": "something stands before the leak, and the record does not say "
                              "whether it was shown"},
    rows=read(_ROWS),
    judge=judge,
)  # fmt: skip
