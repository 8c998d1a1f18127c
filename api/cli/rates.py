"""`leakdown rates`: leak and recovery rates per series."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, WhereOption, store_path


def rates(
    by: Annotated[str, typer.Option(metavar="KEYS", help="Series keys, comma separated.")] = "model,engine,template",
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only generations since this date or time (UTC).")
    ] = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print leak and recovery rates with n and 95 % interval, by the store's current detector."""
    from analysis.filters import Filters
    from analysis.rates import rates as rates_of
    from analysis.registry import current, judged
    from ingest.store import Store

    keys = [key.strip() for key in by.split(",") if key.strip()]
    filters = Filters.parse(where or (), since)
    with Store.open(store_path(store)) as opened, show.progress("texts searched") as told:
        found = rates_of(opened, judged(opened, current(opened), told), keys, filters)
    if as_json:
        show.json_line([row.as_json() for row in found])
        return
    show.table(
        (*keys, "tools known", "eligible", "runs", "leaks", "leak rate (95 %)",
         "printed", "retried", "recovered (95 %)", "passed off"),
        [
            (
                *row.series.values(), "yes" if row.tools_known else "no", row.leak.n, row.runs, row.leak.hits,
                show.interval(row.leak.value, row.leak.low, row.leak.high), row.printed, row.retried,
                show.interval(row.recovery.value, row.recovery.low, row.recovery.high), row.passed_off,
            )
            for row in found
        ],
    )  # fmt: skip
    show.talk(f"by {found[0].detector}; retries are counted apart" if found else "no eligible generation here")
