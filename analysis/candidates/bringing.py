"""A detector from outside meets a store: it is kept there, and code judges the history and is looked at twice."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pydantic_core import to_json

from analysis.candidates.accounts import isolation_of
from analysis.candidates.checks import noticed
from analysis.candidates.kept import keep
from analysis.detectors import Detector, Isolation
from analysis.registry import judged, register
from ingest.store import Store, one

_UNSEEN = """
SELECT count(*) FROM uploads u
WHERE state = 'done' AND NOT EXISTS (FROM coverage c WHERE c.detector = $1 AND c.upload_id = u.upload_id)
"""


def bring(
    store: Store, of: Detector, progress: Callable[[int], object] = lambda _: None, *, anew: bool = False
) -> Detector:
    """`of`, known to the store under its id. Code judges every output that it has not seen (all, if `anew`), and
    what is noticed of it on samples is kept; a rule file judges when it is asked for."""
    keep(store, of)
    register(store, of)
    if of.brought is None or of.brought.many is None:
        return of
    if anew or _unseen(store, of):
        judged(store, of, progress, anew=anew)
        seen = to_json({**noticed(store, of), "isolation": _isolation(store, of, anew)}).decode()
        with store.transaction() as cursor:
            cursor.execute("UPDATE candidates SET checks = $2 WHERE detector = $1", [of.id, seen])
    return of


def _isolation(store: Store, of: Detector, anew: bool) -> dict[str, Any]:
    """How the code ran that judged what is stored now: not isolated, if some of it was judged so."""
    earlier = isolation_of(store, of.id)
    if earlier and earlier["by"] == "none" and not anew:
        return earlier
    told = of.brought.isolation if of.brought else None
    return asdict(told or Isolation("none", "nobody said how it ran"))


def _unseen(store: Store, of: Detector) -> int:
    """Uploads that it has not judged."""
    with store.cursor() as cursor:
        [count] = one(cursor, _UNSEEN, [of.id])
    return int(count)
