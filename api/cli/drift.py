"""`leakdown drift`: which line got worse, with which version or since when, and whether that is real."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import alerts_table, gate, show
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import alert_rules, connect

Row = Mapping[str, Any]
LINE = ("model", "provider", "engine", "client")
_VERDICT = {"worse": "worse", "better": "better", "no_change": "no change shown", "too_few": "too few to say"}

_COMPARED = ("line", "change", "before", "rate (95 %)", "after", "rate (95 %)", "difference (95 %)", "p", "q", "")
_CHANGED = ("line", "changed on", "between", "before", "rate (95 %)", "after", "rate (95 %)", "p", "also then")


def drift(
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only generations since this date or time (UTC).")
    ] = None,
    where: WhereOption = None,
    alerts: Annotated[
        Path | None,
        typer.Option(
            "--alerts", metavar="FILE", help="Rules of alerts (TOML) [default: LEAKDOWN_ALERTS, or the built-in ones]."
        ),
    ] = None,
    fail_on: gate.FailOnOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> int:
    """Print what versions did to leak rates, changes, and alerts.

    Along each line (model, provider, engine, client) every version is compared with the one before it, and the days
    are scanned for a change that no version tells of. Alerts are what rules say that may be asked every day.
    """
    bar, rules = gate.gate(fail_on), alert_rules(alerts)
    with connect(store) as backend, show.progress("lines scanned") as told:
        found = backend.figures.drift(list(texts(where)), since, told, rules)
    ruling = gate.judged(bar, found)
    if as_json:
        show.json_line(found)
    else:
        _print(found)
    return gate.told(ruling)


def _print(found: dict[str, Any]) -> None:
    if found["alerts"]["items"]:
        alerts_table.show_alerts(found["alerts"]["items"])
        print()
    show.table(_COMPARED, (tuple(_comparison(row)) for row in found["comparisons"]))
    if found["change_points"]:
        print()
        show.table(_CHANGED, (tuple(_change(row)) for row in found["change_points"]))
    counts = found["counts"]
    show.talk(
        f"by {found['detector']}; lines: {counts['lines']:,}; versions compared: {counts['comparisons']:,}, of them "
        f"{counts['worse']:,} worse and {counts['better']:,} better at a false discovery rate of 5 %; "
        f"change points, each line at 1 %: {counts['change_points']:,}; open alerts: {counts['alerts']:,}; days in UTC"
        f"{_left_out(found['left_out'])}"
    )


def _comparison(row: Row) -> Iterator[object]:
    before, after = row["before"], row["after"]
    yield _line(row)
    yield f"{row['dimension']} {row['from']} → {row['to']}"
    for part in (before, after):
        yield f"{part['leaks']:,}/{part['n']:,}"
        yield show.bounded(part["rate"], part["low"], part["high"])
    yield None if row["difference"] is None else f"{row['difference']:+.1%} ({row['low']:+.1%}–{row['high']:+.1%})"
    yield from (None if row[name] is None else f"{row[name]:.2g}" for name in ("p", "q"))
    yield _VERDICT[row["verdict"]] + (f" ({', '.join(row['also'])} differs too)" if row["also"] else "")


def _change(row: Row) -> Iterator[object]:
    yield _line(row)
    yield row["at"]
    yield f"{row['earliest']} and {row['latest']}"
    for part in (row["before"], row["after"]):
        yield f"{part['leaks']:,}/{part['n']:,}"
        yield show.bounded(part["rate"], part["low"], part["high"])
    yield f"{row['p']:.2g}"
    yield ", ".join(
        f"{each['what']} {each['value']} {each['before']:.0%} → {each['after']:.0%}" for each in row["also"]
    )


def _line(row: Row) -> str:
    named = " · ".join(str(row[key]) for key in LINE if row[key] is not None) or "nothing told"
    return named if row["tools_known"] else f"{named} (tools unknown)"


def _left_out(left_out: dict[str, int]) -> str:
    told = {
        "no_time": "without a time, which no day counts",
        "in_the_future": "later than tomorrow, left out",
        "pruned": "pruned before they could be judged, left out",
    }
    return "".join(f"; {n:,} {told[why]}" for why, n in left_out.items() if n)
