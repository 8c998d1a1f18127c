"""What the operations on an open store share: they end soon when the service stops, and the rollups follow them."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from ingest.errors import Stopping, StoreError
from ingest.pipeline import Progress as Read
from ingest.store import Store

Progress = Callable[[int], object]
ReadProgress = Callable[[Read], object]
Json = dict[str, Any]
Told = TypeVar("Told")


def silent(_: object) -> None:
    """Progress that nobody watches."""


class Work:
    """Work on `store`: once `stopping` is set, what is being written ends without a trace."""

    def __init__(self, store: Store, stopping: threading.Event | None = None) -> None:
        self.store = store
        self._stopping = stopping or threading.Event()

    def count(self) -> None:
        """Bring the rollups up to date with what has changed, so that the next page need not. The change is kept:
        where the disk has no room for this, whoever asks next counts."""
        from analysis.registry import current
        from analysis.rollups import refresh

        with suppress(StoreError):
            refresh(self.store, current(self.store))

    def unless_stopping(self, progress: Callable[[Told], object]) -> Callable[[Told], None]:
        """`progress` that ends the work with Stopping."""

        def told(done: Told) -> None:
            progress(done)
            self.go_on()

        return told

    def go_on(self) -> None:
        """Stopping, once the service is to stop."""
        if self._stopping.is_set():
            raise Stopping("the service is stopping; nothing of this was kept, send it again")
