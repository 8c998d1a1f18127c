"""Answers that take a moment, remembered until the store changes; and what tells that it has."""

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from ingest import uploads
from ingest.store import Store, one

MOST = 100
"""Answers that are remembered."""
T = TypeVar("T")
_LABELS = "SELECT (SELECT (count(*), count(verdict_key), count(taken_back_at)) FROM labels)::VARCHAR"
"""Labels come, find their generation, and are taken back."""


def state_of(store: Store, *, labels: bool = False) -> str:
    """What an answer depends on besides its question, as text: the uploads, the current detector, the labels if it
    needs them."""
    from analysis.registry import current, fingerprint

    of = current(store)
    with store.cursor() as cursor:
        told = (uploads.state_of(cursor), *(one(cursor, _LABELS) if labels else ()))
    return repr((of.id, fingerprint(of), *told))


class Remembered:
    """Answers in memory; never one from before a change. Whoever gets one must not alter it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._state = ""
        self._answers: dict[Hashable, object] = {}
        self._lock = threading.Lock()
        self._computing: dict[Hashable, threading.Lock] = {}

    def of(self, question: Hashable, compute: Callable[[], T]) -> T:
        """The answer to `question`, computed if the store has changed since it was last asked. Of many who ask the same
        at a time one computes, and the others wait for that."""
        if (known := self._known(question)) is not None:
            return cast("T", known[0])
        with self._lock:
            computing = self._computing.setdefault(question, threading.Lock())
        with computing:
            if (known := self._known(question)) is not None:
                return cast("T", known[0])
            state = state_of(self._store)
            found = compute()
            with self._lock:
                self._keep(state, question, found)
        return found

    def _known(self, question: Hashable) -> tuple[object] | None:
        """The answer for the store as it is now, if it is known."""
        state = state_of(self._store)
        with self._lock:
            return (self._answers[question],) if state == self._state and question in self._answers else None

    def _keep(self, state: str, question: Hashable, found: object) -> None:
        if state != self._state:
            self._state, self._answers, self._computing = state, {}, {}
        while len(self._answers) >= MOST:
            self._answers.pop(next(iter(self._answers)))
        self._answers[question] = found
