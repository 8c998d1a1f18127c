"""Where labels are read together with what is counted ahead of their outputs."""

from collections.abc import Iterator
from contextlib import contextmanager

from analysis.registry import current, judged
from analysis.rollups import up_to_date
from ingest.store import Cursor, Store


@contextmanager
def counted(store: Store) -> Iterator[Cursor]:
    """A cursor, in a transaction, on which `labelled` has the generations of every labelled output, and `hints` what
    hints at a leak."""
    with up_to_date(store, judged(store, current(store))) as cursor:
        yield cursor
