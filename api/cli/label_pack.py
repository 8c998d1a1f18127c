"""`label export --pack`: the labelled outputs as one file."""

import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from api.cli import show
from api.cli.options import output_path, texts
from api.connect import connect, store_path
from ingest.errors import UsageError

PackOption = Annotated[
    str | None, typer.Option("--pack", metavar="F", help="Write the labelled outputs to this file, - for stdout.")
]
RedactOption = Annotated[
    bool,
    typer.Option("--redact", help="Take out keys, tokens, e-mail addresses, home folders and the names of people."),
]
PatternOption = Annotated[
    list[str] | None,
    typer.Option(
        "--redact-pattern",
        metavar="REGEX",
        help="Take out what this matches too (syntax of Rust's regex); may be repeated.",
    ),
]
MEMBER = "pack.jsonl"


def write(target: str, redact: bool, patterns: list[str] | None, store: Path | None) -> None:
    """Write the pack, whole or not at all."""
    output_path(target, store_path(store))
    wanted = tuple(texts(patterns)) if redact or patterns else None
    with tempfile.TemporaryFile() as whole:
        with connect(store) as backend:
            header = backend.exports.pack(whole, wanted)
        whole.seek(0)
        try:
            _put(target, whole)
        except BrokenPipeError:
            raise
        except OSError as fault:
            raise UsageError(f"{target}: cannot be written ({fault.strerror})") from None
    to = "" if target == "-" else f" to {target}"
    show.talk(f"wrote {header['generations']:,} outputs and {header['labels']:,} labels{to}")


def _put(target: str, whole: BinaryIO) -> None:
    if target == "-":
        shutil.copyfileobj(whole, sys.stdout.buffer)
    elif target.lower().endswith(".zip"):
        # no time of day in it: the same labels are the same bytes
        member = zipfile.ZipInfo(MEMBER)
        member.compress_type = zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(target, "w") as archive, archive.open(member, "w") as inside:
            shutil.copyfileobj(whole, inside)
    else:
        with Path(target).open("wb") as out:
            shutil.copyfileobj(whole, out)
