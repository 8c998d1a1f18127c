"""A pack as a store that lasts as long as a command: what `replay --pack` works on."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.backend import LocalBackend
from api.uploads import Given
from ingest.files.containers import Source
from ingest.packs import header, require_whole
from ingest.store import Store


@contextmanager
def packed(path: Path) -> Iterator[LocalBackend]:
    """A backend on the outputs and labels of the pack at `path`. InputError for no pack, or a damaged one."""
    source = Source(path, str(path))
    promised = header(source)
    with (
        tempfile.TemporaryDirectory(prefix="leakdown-pack-") as folder,
        Store.open(Path(folder, "pack.duckdb"), create=True) as store,
    ):
        backend = LocalBackend(store)
        result = backend.uploads.ingest(source, Given("native"))
        require_whole(store, source.name, promised, result["quarantined_why"])
        yield backend
