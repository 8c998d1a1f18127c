"""`leakdown export`: everything in the store, to take elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli import show
from api.cli.options import StoreOption, store_path
from ingest.errors import UsageError


def export(
    parquet: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write one Parquet file a table into this folder.")
    ] = None,
    jsonl: Annotated[
        str | None, typer.Option(metavar="F", help="Write native records to this file, - for stdout.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write the stored records: native JSON Lines that `ingest` reads again, or Parquet files."""
    from ingest.export import to_jsonl, to_parquet
    from ingest.store import Store

    if (parquet is None) == (jsonl is None):
        raise UsageError("export: name one of --parquet DIR and --jsonl F")
    with Store.open(store_path(store)) as opened:
        try:
            written = to_parquet(opened, parquet) if parquet else to_jsonl(opened, jsonl or "-")
        except OSError as fault:
            raise UsageError(f"{parquet or jsonl}: cannot be written ({fault.strerror})") from None
    show.talk(f"wrote {written}")
