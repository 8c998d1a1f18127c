"""`leakdown backup` and `leakdown restore`: a copy of the whole store, and the way back."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from api.cli import show
from api.cli.options import StoreOption, output_path
from api.connect import connect, store_path
from ingest.errors import StoreLocked, UnreadableInput, UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write, - for stdout.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    store: StoreOption = None,
) -> None:
    """Write a copy of the whole store to a file.

    As it is at one moment, read back and compared; a running service goes on meanwhile. With --force FILE has its old
    content until the new one is complete.
    """
    from ingest.backups import whole

    target = output_path(file, store_path(store))
    if target.exists() and file != "-" and not force:
        raise UsageError(f"{target}: is there already; --force replaces it")
    with connect(store) as backend:
        out: AbstractContextManager[BinaryIO] = nullcontext(sys.stdout.buffer) if file == "-" else whole(target)
        try:
            with out as stream:
                written = backend.backups.write(stream)
        except BrokenPipeError:
            raise
        except OSError as fault:
            raise UsageError(f"{target}: cannot be written ({(fault.strerror or str(fault)).lower()})") from None
    show.talk(f"wrote {written:,} bytes to {'stdout' if file == '-' else target}, read back and compared")


def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A backup, - for stdin.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Put it in the place of a store that is there.")] = False,
    store: StoreOption = None,
) -> None:
    """Put a backup in the store's place.

    It is read whole before anything is replaced. While a service owns the store it is refused.
    """
    from ingest import backups

    target = store_path(store)
    _refuse(target, force=force)
    with _opened(file, target) as stream:
        held = backups.restore(stream, "stdin" if file == "-" else file, target)
    what = f"{show.count(held.uploads, 'uploads')}, {show.count(held.generations, 'generations')}"
    show.talk(f"restored {target}: {what}")


def _refuse(target: Path, *, force: bool) -> None:
    from api.discovery import serving

    owner = serving(target)
    if owner:
        raise StoreLocked(f"{target}: served at {owner.url}; stop that service, restore, and start it again")
    if target.exists() and not force:
        raise UsageError(f"{target}: there is a store already; --force puts the backup in its place")


def _opened(file: str, target: Path) -> "AbstractContextManager[BinaryIO]":
    from ingest.backups import refuse_loose_log

    if file == "-":
        return nullcontext(sys.stdin.buffer)
    path = Path(file)
    if path.exists() and target.exists() and path.samefile(target):
        raise UsageError(f"{path}: this is the store itself; name a backup of it")
    refuse_loose_log(path)
    try:
        return path.open("rb")
    except OSError as fault:
        raise UnreadableInput(f"{file}: {(fault.strerror or str(fault)).lower()}") from None
