"""Which detectors a store knows, which one is current, and what happens when one is promoted or changes."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from types import ModuleType

from analysis.detectors import Detector, detector, detectors
from analysis.judging import judge_history
from ingest.store import Store, one

Progress = Callable[[int], object]


def default_detector() -> Detector:
    """The default of `scan` and of a new store: the newest leakdown; until it exists openrouter-net@1."""
    own = [each for each in detectors() if each.name == "leakdown"]
    return max(own, key=lambda each: each.version) if own else detector("openrouter-net@1")


def fingerprint(of: Detector) -> str:
    """The hash of the source that decides what a detector answers: its module and ours that it uses."""
    module = sys.modules[of.find.__module__]
    sources = {name: inspect.getsource(sys.modules[name]) for name in _own_modules(module, set())}
    return blake2b(repr(sorted(sources.items())).encode(), digest_size=16).hexdigest()


def _own_modules(module: ModuleType, seen: set[str]) -> set[str]:
    seen.add(module.__name__)
    for value in vars(module).values():
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name.startswith("analysis.") and name not in seen:
            _own_modules(sys.modules[name], seen)
    return seen


def register(store: Store, of: Detector) -> None:
    """Note `of` and its fingerprint; verdicts of the same version by other source are dropped, to be judged anew."""
    now = fingerprint(of)
    with store.transaction() as cursor:
        if cursor.execute("FROM detectors WHERE detector = $1 AND fingerprint = $2", [of.id, now]).fetchall():
            return
        for table in ("verdicts", "coverage", "detectors"):
            cursor.execute(f"DELETE FROM {table} WHERE detector = $1", [of.id])  # noqa: S608 - our own names
        cursor.execute("INSERT INTO detectors VALUES ($1, $2, make_timestamp(epoch_us(now())))", [of.id, now])


def current(store: Store) -> Detector:
    """The store's current detector, registered; a store without one takes the default and keeps it."""
    with store.cursor() as cursor:
        [promoted] = one(cursor, "SELECT last(detector ORDER BY promoted_at) FROM promotions")
    chosen = detector(promoted) if promoted else default_detector()
    if not promoted:
        _note_promotion(store, chosen)
    register(store, chosen)
    return chosen


def judged(store: Store, of: Detector, progress: Progress = lambda _: None, *, anew: bool = False) -> Detector:
    """`of`, registered, and with its verdict on every stored output; `anew` forgets its earlier ones."""
    register(store, of)
    if anew:
        with store.transaction() as cursor:
            cursor.execute("DELETE FROM verdicts WHERE detector = $1", [of.id])
            cursor.execute("DELETE FROM coverage WHERE detector = $1", [of.id])
    judge_history(store, of, progress)
    return of


def promote(store: Store, of: Detector, progress: Progress = lambda _: None) -> None:
    """Make `of` the current detector, once its verdict on the whole history is there."""
    judged(store, of, progress)
    _note_promotion(store, of)


def _note_promotion(store: Store, of: Detector) -> None:
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO promotions VALUES ($1, make_timestamp(epoch_us(now())))", [of.id])


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
