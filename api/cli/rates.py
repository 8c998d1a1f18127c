"""`leakdown rates`: leak and recovery rates per series."""

from typing import Annotated, Any

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import connect


def rates(
    by: Annotated[str, typer.Option(metavar="KEYS", help="Series keys, comma separated.")] = "model,engine,template",
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only generations since this date or time (UTC).")
    ] = None,
    where: WhereOption = None,
    pairing: Annotated[
        bool, typer.Option("--pairing", help="Print what generations came out as: calls, printed, leaked, plain.")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print leak and recovery rates per series.

    Each with its hits, its n and a 95 % interval, by the store's current detector. Retries are counted apart.
    """
    keys = [key.strip() for key in by.split(",") if key.strip()]
    wanted = list(texts(where))
    with connect(store) as backend, show.progress("rates"):
        found = backend.figures.rates(keys, wanted, since)
        why_none = None if found else backend.figures.why_no_rates(wanted, since)
    if as_json:
        show.json_line(found)
    elif found:
        (_print_pairing if pairing else _print)(keys, found)
    if why_none:
        show.talk(why_none)


def _print(keys: list[str], found: list[dict[str, Any]]) -> None:
    columns = (
        *keys, "tools known", "runs", "leaks", "leak rate (95 %)", "printed",
        "retried", "recovered", "recovery rate (95 %)", "answered", "passed off",
    )  # fmt: skip
    rows = [
        (
            *(row[key] for key in keys), "yes" if row["tools_known"] else "no", row["runs"],
            f"{row['leaks']:,}/{row['eligible']:,}", show.interval(row, "leak"), row["printed"], row["retried"],
            f"{row['recovered']:,}/{row['leaked_rounds']:,}", show.interval(row, "recovery"),
            row["answered"], row["passed_off"],
        )
        for row in found
    ]  # fmt: skip
    show.table(columns, rows)
    failed, pruned = (sum(row[name] for row in found) for name in ("errors", "pruned"))
    show.talk(
        f"by {found[0]['detector']}; leaks of eligible generations, recovered of leaked rounds, retries counted apart"
        + (f"; the detector failed on {failed:,} outputs" if failed else "")
        + (f"; {pruned:,} more are not counted: their texts were pruned before it could judge them" if pruned else "")
    )


def _print_pairing(keys: list[str], found: list[dict[str, Any]]) -> None:
    """Each share of the eligible generations with its interval; `other` is what is left."""
    shares = ("structured", "printed", "leak", "plain")
    columns = (*keys, "tools known", "runs", "n", "structured (95 %)", "printed", "leaked", "plain", "other")
    rows = [
        (
            *(row[key] for key in keys), "yes" if row["tools_known"] else "no", row["runs"], row["eligible"],
            *(show.interval(row, name) for name in shares), row["other"],
        )
        for row in found
    ]  # fmt: skip
    show.table(columns, rows)
    show.talk(
        f"by {found[0]['detector']}; of eligible generations: valid structured calls, calls printed, calls leaked, "
        "clean answers in words; other is invalid calls, empty or errored replies, and what could not be judged"
    )
