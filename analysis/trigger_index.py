"""Which stored texts hold which trigger: searched once for each trigger and each text, and kept.

Texts have numbers that grow. A trigger is known up to a number; what is above is searched when somebody needs it, in
steps that are kept, so that interrupted work goes on where it was. What is ingested is searched as it arrives.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

import polars as pl
import pyarrow as pa

from analysis.triggers import Term, Wanted, search
from ingest.columns import table
from ingest.store import Cursor, Store, insert, one

STEP = 131_072
"""Text numbers between two commits."""
TEXT_ROWS = 512
"""Texts searched at a time: 50 MB where a text has 100 kB. (DuckDB itself reads 2,048 of them.)"""

Known = dict[Term, tuple[int, int]]
"""The id of a term, and the number up to which all texts were searched for it."""

_KNOWN = "SELECT literal, place, trigger_id, searched_to FROM triggers"
_ADD = """
INSERT INTO triggers
SELECT (SELECT coalesce(max(trigger_id), 0) FROM triggers) + row_number() OVER (ORDER BY literal, place),
    literal, place, $searched_to
FROM arriving a
WHERE NOT EXISTS (FROM triggers t WHERE t.literal = a.literal AND t.place = a.place)
"""
_TEXTS = "SELECT number, text FROM texts WHERE number > $low AND number <= $high"
_HITS = """
INSERT INTO trigger_hits SELECT a.trigger_id, a.number FROM arriving a
JOIN triggers t ON t.trigger_id = a.trigger_id AND a.number > t.searched_to ORDER BY ALL
"""
_ARRIVED_HITS = """
INSERT INTO trigger_hits SELECT a.trigger_id, t.number FROM arriving a
JOIN texts t ON t.hash = a.hash::UUID WHERE t.number > $before ORDER BY ALL
"""
_SEARCHED = """
UPDATE triggers SET searched_to = $high
WHERE searched_to >= $low AND searched_to < $high AND trigger_id IN (SELECT unnest($ids::INTEGER[]))
"""
_HELD = """
CREATE OR REPLACE TEMP TABLE {name} AS SELECT hash FROM texts
WHERE number IN (SELECT text_number FROM trigger_hits WHERE trigger_id IN (SELECT unnest($ids::INTEGER[])))
"""


def known(cursor: Cursor) -> Known:
    """All terms that texts were ever searched for."""
    return {
        Term(literal, place): (number, searched_to)
        for literal, place, number, searched_to in cursor.execute(_KNOWN).fetchall()
    }


def add_terms(cursor: Cursor, terms: Iterable[Term], searched_to: int) -> None:
    """Make unknown `terms` known, as searched up to that number. Within the writer's transaction."""
    rows = [(term.literal, term.place) for term in terms]
    insert(cursor, _ADD, table((("literal", pa.string()), ("place", pa.string())), rows), {"searched_to": searched_to})


def catch_up(store: Store, terms: Collection[Term], progress: Callable[[int], object] = lambda _: None) -> int:
    """Search the texts that were not yet searched for one of `terms`; their number, which `progress` is told too."""
    with store.cursor() as cursor:
        [last] = one(cursor, "SELECT coalesce(max(number), 0) FROM texts")
        if not known(cursor).keys() >= {*terms}:
            with store.transaction() as writer:
                add_terms(writer, [*terms], 0)
        found = known(cursor)
        due = [term for term in terms if found[term][1] < last]
        low = min((found[term][1] for term in due), default=last)
        searched = 0
        for start in range(low, last, STEP):
            end = min(start + STEP, last)
            searched += _search_step(store, cursor, due, [found[term][0] for term in due], (start, end))
            progress(searched)
    return searched


def _search_step(
    store: Store, cursor: Cursor, terms: Sequence[Term], ids: Sequence[int], between: tuple[int, int]
) -> int:
    """Search the texts with numbers above the first of `between` up to the second, and keep what was found."""
    low, high = between
    hits, read = [], 0
    for batch in cursor.sql(_TEXTS, params={"low": low, "high": high}).to_arrow_reader(TEXT_ROWS):
        texts = pl.DataFrame(pl.from_arrow(batch))
        found = search(texts["text"], terms)
        hits.append(found.select(number=texts["number"].gather(found["at"]), trigger_id=_ids(found, ids)))
        read += len(texts)
    with store.transaction() as writer:
        if hits:
            insert(writer, _HITS, pl.concat(hits).to_arrow())
        writer.execute(_SEARCHED, {"low": low, "high": high, "ids": ids})
    return read


def _ids(found: pl.DataFrame, ids: Sequence[int]) -> pl.Series:
    return pl.Series(ids, dtype=pl.Int32).gather(found["term"])


def keep_arrived(cursor: Cursor, live: Known, hits: pl.DataFrame, before: int) -> None:
    """Keep what was found in the texts of a batch: `hits` are rows of (hash as hex, trigger_id) for the `live` terms,
    which were searched for in every text up to `before`. Within the transaction that brings the batch."""
    [last] = one(cursor, "SELECT coalesce(max(number), 0) FROM texts")
    if last <= before or not live:
        return
    if len(hits):
        insert(cursor, _ARRIVED_HITS, hits.to_arrow(), {"before": before})
    ids = [number for number, _ in live.values()]
    cursor.execute(_SEARCHED, {"low": before, "high": last, "ids": ids})


def select_texts(cursor: Cursor, wanted: Wanted) -> None:
    """Fill the temporary tables `held_words` and `held_calls` with the hashes of the texts that make an output worth a
    look, as its words or as its structured calls. The texts must have been searched."""
    found = known(cursor)

    def ids(terms: Iterable[Term]) -> list[int]:
        return [found[term][0] for term in terms]

    cursor.execute(_HELD.format(name="held_words"), {"ids": ids(wanted.words)})
    cursor.execute(_HELD.format(name="held_calls"), {"ids": ids(wanted.calls)})
