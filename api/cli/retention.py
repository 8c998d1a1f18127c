"""`leakdown prune` and `leakdown forget`: what is old, and single runs, taken out of the store."""

from typing import Annotated, Any

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption
from api.connect import connect

DryOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]


def prune(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="In days, such as 90d: what began before.", show_default=False)
    ],
    keep_rates: Annotated[
        bool, typer.Option("--keep-rates", help="Take out texts only: all that is counted stays.")
    ] = False,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Take out what is old.

    With --keep-rates its texts, without it the generations wholly. It cannot be undone.
    """
    with connect(store) as backend:
        removed = backend.retention.prune(older_than, keep_rates=keep_rates, dry_run=dry_run)
    _tell(removed, as_json=as_json)


def forget(
    run: Annotated[str, typer.Option(metavar="ID", help="The run.", show_default=False)],
    dry_run: DryOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Take one run out of the store, wholly.

    What other runs hold too stays. An upload of its file would bring it again.
    """
    with connect(store) as backend:
        removed = backend.retention.forget(run, dry_run=dry_run)
    _tell(removed, as_json=as_json)


def _tell(removed: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show.json_line(removed)
        return
    print("\n".join(_lines(removed)))


def _lines(removed: dict[str, Any]) -> list[str]:
    verb = "would take out" if removed["dry_run"] else "took out"
    what = "the texts of " if removed["rates_kept"] else ""
    since = f", of before {removed['before'][:16].replace('T', ' ')} UTC" if removed["before"] else ""
    more = (
        ("texts", "that nothing else uses"),
        ("labels", "of them alone"),
        ("uploads", "of which nothing is left"),
        ("reports", "of replays that named them"),
    )
    along = [f"{show.count(removed[name], name)} {which}" for name, which in more if removed[name]]
    generations, runs, events = (show.count(removed[name], name) for name in ("generations", "runs", "events"))
    first = f"{verb} {what}{generations} of {runs} and {events}{since}"
    return [first, *([f"with them {', '.join(along)}"] if along else []), *_about_file(removed["file"])]


def _about_file(file: dict[str, Any] | None) -> list[str]:
    if file is None:
        return []
    freed = "" if file["freed"] else "; its blocks are free after the next checkpoint"
    why = f"; {file['why_not_smaller']}" if file["why_not_smaller"] else ""
    return [f"the store has {file['after']:,} bytes, it had {file['before']:,}{freed}{why}"]
