"""`leakdown export`: everything in the store, to take elsewhere."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli import show
from api.cli.options import StoreOption, output_path
from api.connect import connect, store_path
from ingest.errors import UsageError

if TYPE_CHECKING:
    from api.backend import Backend


def export(
    parquet: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write one Parquet file a table into this folder.")
    ] = None,
    jsonl: Annotated[
        str | None, typer.Option(metavar="F", help="Write native records to this file, - for stdout.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write the stored records to files.

    Native JSON Lines, which `ingest` reads again, or Parquet files.
    """
    if (parquet is None) == (jsonl is None):
        raise UsageError("export: name one of --parquet DIR and --jsonl F")
    path = store_path(store)
    target = output_path(parquet or jsonl or "-", path)
    with connect(store) as backend:
        try:
            written = _write(backend, target, parquet=parquet is not None)
        except BrokenPipeError:
            raise
        except OSError as fault:
            raise UsageError(f"{target}: cannot be written ({fault.strerror})") from None
    show.talk(f"wrote {written}")


def _write(backend: "Backend", target: Path, *, parquet: bool) -> str:
    """Says what was written."""
    if parquet:
        return f"{backend.exports.parquet(target)} files to {target}"
    if str(target) == "-":
        return f"{backend.exports.jsonl(sys.stdout.buffer):,} records"
    with target.open("wb") as out:
        return f"{backend.exports.jsonl(out):,} records to {target}"
