"""Which detectors a store knows, which one is current, and what happens when one is promoted or changes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import blake2b

from analysis.candidates.kept import known
from analysis.detectors import Detector, detector, detectors
from analysis.judging import forget, judge_history
from analysis.source_hash import sources as module_sources
from ingest.actions import note
from ingest.errors import UsageError
from ingest.store import Cursor, Store, one

Progress = Callable[[int], object]


def default_detector() -> Detector:
    """The default of `scan` and of a new store: the newest leakdown; until it exists openrouter-net@1."""
    own = [each for each in detectors() if each.name == "leakdown"]
    return max(own, key=lambda each: int(each.version)) if own else detector("openrouter-net@1")


@cache
def fingerprint(of: Detector) -> str:
    """The hash of what decides a detector's answers: the source, and for one from outside its content.

    The source of a rule file is what reads it; of code, which runs elsewhere, the content is all.
    """
    content = of.brought.content if of.brought else ""
    source = () if of.brought and of.brought.rules is None else sorted(sources(of).items())
    return blake2b(repr((content, source) if content else source).encode(), digest_size=16).hexdigest()


def sources(of: Detector) -> dict[str, str]:
    """The source that decides what a detector answers, by module: its own, and ours that it imports."""
    return module_sources(of.find.__module__)


def register(store: Store, of: Detector) -> None:
    """Note `of` and its fingerprint; verdicts of the same version by other source are dropped, to be judged anew."""
    now = fingerprint(of)
    if _is_registered(store, of, now):
        return
    with store.transaction() as cursor:
        forget(cursor, of)
        cursor.execute("DELETE FROM detectors WHERE detector = $1", [of.id])
        cursor.execute("INSERT INTO detectors VALUES ($1, $2, make_timestamp(epoch_us(now())))", [of.id, now])


def _is_registered(store: Store, of: Detector, now: str) -> bool:
    """Asked without the writer, which an upload holds for its whole length."""
    with store.cursor() as cursor:
        return bool(cursor.execute("FROM detectors WHERE detector = $1 AND fingerprint = $2", [of.id, now]).fetchall())


def current(store: Store) -> Detector:
    """The store's current detector, registered; a store without one takes the default and keeps it.

    UsageError if it is not among the detectors any more.
    """
    with store.cursor() as cursor:
        [promoted] = one(cursor, "SELECT last(detector ORDER BY promoted_at) FROM promotions")
    chosen = _promoted(store, promoted) if promoted else default_detector()
    if not promoted:
        with store.transaction() as cursor:
            _note_promotion(cursor, chosen)
    register(store, chosen)
    return chosen


def _promoted(store: Store, detector_id: str) -> Detector:
    try:
        return known(store, detector_id)
    except UsageError as fault:
        raise UsageError(
            f"{store.path}: its current detector is gone: {fault}; make another current with "
            "`leakdown detectors promote`"
        ) from None


def judged(store: Store, of: Detector, progress: Progress = lambda _: None, *, anew: bool = False) -> Detector:
    """`of`, registered, and with its verdict on every stored output; `anew` forgets its earlier ones, but for code
    that is not here."""
    register(store, of)
    if anew and (of.brought is None or of.brought.here):
        with store.transaction() as cursor:
            forget(cursor, of)
    judge_history(store, of, progress)
    return of


def promote(store: Store, of: Detector, progress: Progress = lambda _: None) -> None:
    """Make `of` the current detector, once its verdict on the whole history is there. UsageError for code: it judges
    no upload."""
    if of.brought and of.brought.rules is None:
        raise UsageError(f"{of.id} is code, which judges no upload: it can be replayed, but not be current")
    judged(store, of, progress)
    with store.transaction() as cursor:
        _note_promotion(cursor, of)
        note(cursor, "promote", of.id)


_PROMOTED = """
INSERT INTO promotions SELECT $1, greatest(
    make_timestamp(epoch_us(now())), (SELECT max(promoted_at) + INTERVAL 1 MICROSECOND FROM promotions)
)
"""
"""The latest counts, so none is before an earlier one, even if the clock was set back."""


def _note_promotion(cursor: Cursor, of: Detector) -> None:
    cursor.execute(_PROMOTED, [of.id])


@dataclass(frozen=True, slots=True)
class Promotion:
    """A detector that became current, and when (UTC)."""

    detector: str
    promoted_at: datetime


def promotions(store: Store) -> list[Promotion]:
    """The history of current detectors, oldest first."""
    with store.cursor() as cursor:
        rows = cursor.execute("SELECT detector, promoted_at FROM promotions ORDER BY promoted_at").fetchall()
    return [Promotion(*row) for row in rows]
