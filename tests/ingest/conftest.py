"""A store of its own for each test, in a real file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path / "store.duckdb", create=True) as opened:
        yield opened
