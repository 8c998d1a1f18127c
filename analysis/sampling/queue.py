"""Working through a drawn sample: which output a person should look at next, and how far the work is."""

from collections.abc import Collection
from dataclasses import dataclass

from ingest.errors import NotFound
from ingest.store import Cursor, Store, one

_NEXT = """
SELECT i.verdict_key::VARCHAR AS verdict_key, min(i.place) AS place FROM sample_items i
WHERE i.sample_id = $sample AND i.verdict_key::VARCHAR NOT IN (SELECT unnest($taken::VARCHAR[]))
    AND EXISTS (FROM generations g WHERE g.verdict_key = i.verdict_key)
    AND NOT EXISTS (FROM labels l WHERE l.verdict_key = i.verdict_key AND l.by_whom = $by)
    AND (SELECT count(DISTINCT by_whom) FROM labels l WHERE l.verdict_key = i.verdict_key) < $people
GROUP BY i.verdict_key ORDER BY place LIMIT 1
"""
_PROGRESS = """
SELECT count(DISTINCT i.verdict_key), count(DISTINCT l.verdict_key),
    count(DISTINCT l.verdict_key) FILTER (l.by_whom = $by)
FROM sample_items i LEFT JOIN labels l ON l.verdict_key = i.verdict_key WHERE i.sample_id = $sample
"""


@dataclass(frozen=True, slots=True)
class NextItem:
    """The output to look at next: its verdict key as text, and its place in the sample, from 1. Which stratum it is
    from is not told, so that whoever looks at it is not swayed."""

    verdict_key: str
    place: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Different outputs of a sample: all, those with a label of anybody, those with a label of one person."""

    outputs: int
    labelled: int
    by_me: int


def next_item(
    store: Store, sample_id: int, by: str, *, people: int = 1, taken: Collection[str] = ()
) -> NextItem | None:
    """The first output of the sample that `by` has not labelled, that fewer than `people` have, and that is not among
    the verdict keys `taken` (what others are looking at now); None at the end. NotFound.

    In this order what is labelled of a stratum is always the beginning of its draw, which is what counts.
    """
    with store.cursor() as cursor:
        _check(cursor, sample_id)
        given = {"sample": sample_id, "by": by, "people": people, "taken": list(taken)}
        rows = cursor.execute(_NEXT, given).fetchall()
    return NextItem(*rows[0]) if rows else None


def progress(store: Store, sample_id: int, by: str) -> Progress:
    """How far the sample is labelled, and by `by`. NotFound."""
    with store.cursor() as cursor:
        _check(cursor, sample_id)
        return Progress(*one(cursor, _PROGRESS, {"sample": sample_id, "by": by}))


def latest_sample(store: Store) -> int | None:
    """The id of the sample drawn last; None before the first."""
    with store.cursor() as cursor:
        [sample_id] = one(cursor, "SELECT max(sample_id) FROM samples")
    return None if sample_id is None else int(sample_id)


def _check(cursor: Cursor, sample_id: int) -> None:
    if not cursor.execute("FROM samples WHERE sample_id = $1", [sample_id]).fetchall():
        raise NotFound(f"no sample {sample_id}; `leakdown label sample` draws one")
