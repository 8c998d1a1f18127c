"""`leakdown recovery`: what followed the leaks, and what each policy would have done."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import connect

Row = Mapping[str, Any]


def recovery(
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P",
            help="A policy: goat, or with parameters retry-n:max_retries=3; may be repeated [default: all of them].",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="KEYS", help="What rates are told by: series keys, kind, family; comma separated.")
    ] = "kind",
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only leaks since this date or time (UTC).")] = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print what followed leaks, and what policies would do.

    What the history holds is observed; what it does not is estimated from retries like it, in columns of its own.
    """
    with connect(store) as backend, show.progress("recovery") as told:
        keys = [key.strip() for key in by.split(",") if key.strip()]
        found = backend.figures.recovery(list(texts(policy)), list(texts(where)), since, told, by=keys)
    if as_json:
        show.json_line(found)
    else:
        _print(keys, found)


def _print(keys: list[str], found: dict[str, Any]) -> None:
    show.table(found["outcomes"].keys(), [found["outcomes"].values()])
    if found["rates"]:
        print()
        _print_rates(keys, found["rates"])
    if found["rounds"]:
        print()
        _print_observed(found["policies"])
        _print_estimated(found["policies"])
        show.talk(f"by {found['detector']}; {_counted(found)}")
    else:
        show.talk(f"by {found['detector']}; no round began with a leak, so no policy had anything to do")
    if found["strict"]["retries"]:
        show.talk(_strict(found["strict"]))


def _print_rates(keys: list[str], rates: list[Row]) -> None:
    columns = (
        *keys, "leaked rounds", "retried", "recovered (95 %)", "answered", "passed off", "retries that leaked (95 %)",
        "extra rounds", "extra tokens", "good answers nudged",
    )  # fmt: skip
    show.table(columns, [(*(row[key] for key in keys), *_rates(row)) for row in rates])


def _rates(row: Row) -> tuple[object, ...]:
    again = _share(row, "retry_leaked_again", "retries")
    discarded = _share(row, "discarded", "nudged_labelled")
    shares = (row["retried"], _share(row, "recovered", "leaked_rounds"), row["answered"], row["passed_off"])
    return (row["leaked_rounds"], *shares, again, _mean(row, "extra_rounds"), _mean(row, "extra_tokens"), discarded)


def _share(row: Row, name: str, of: str) -> str | None:
    rate = show.interval(row, name)
    return f"{row[name]:,}/{row[of]:,}, {rate}" if rate else None


def _mean(row: Row, name: str) -> str | None:
    """A mean of so many, with its interval if there are runs enough for one."""
    if row[name] is None:
        return None
    ends = "" if row[f"{name}_low"] is None else f" ({row[f'{name}_low']:,.1f}–{row[f'{name}_high']:,.1f})"
    return f"{row[name]:,.1f}{ends} of {row[f'{name}_n']:,}"


def _print_observed(policies: list[Row]) -> None:
    columns = (
        "policy", "handled", "observed", "extra rounds", "recovered (95 %)", "answered", "errored", "passed off",
        "other", "salvaged", "discarded",
    )  # fmt: skip
    show.table(columns, [_observed(each) for each in policies])


def _observed(of: Row) -> tuple[object, ...]:
    seen = of["observed"]
    rate = show.interval(seen, "recovery")
    other = sum(seen[name] for name in ("cancelled", "unknown", "called"))
    discarded = f"{seen['discarded']:,}/{seen['labelled']:,}" if seen["labelled"] else seen["discarded"]
    return (
        of["policy"], f"{of['handled']:,}/{of['rounds']:,}", seen["n"], seen["extra_rounds"],
        f"{seen['recovered']:,}, {rate}" if rate else None,
        *(seen[name] for name in ("answered", "errored", "passed_off")), other, _salvaged(of), discarded,
    )  # fmt: skip


def _print_estimated(policies: list[Row]) -> None:
    columns = (
        "policy", "estimated", "extra rounds", "recovered", "answered", "errored", "passed off", "not estimated",
        "unlabelled", "discarded",
    )  # fmt: skip
    rows = [_estimated(each) for each in policies if each["handled"]]
    if rows:
        print()
        show.table(columns, rows)


def _estimated(of: Row) -> tuple[object, ...]:
    unseen = of["estimated"]
    names = ("extra_rounds", "recovered", "answered", "errored", "passed_off")
    figures = (_expected(unseen, name) for name in names)
    return (
        of["policy"], unseen["n"], *figures, of["unestimated"], unseen["discarded_n"], _expected(unseen, "discarded"),
    )  # fmt: skip


def _salvaged(of: Row) -> str:
    valid = f", {of['salvaged_valid']:,} valid" if of["salvaged"] else ""
    return f"{of['salvaged']:,}{valid}"


def _expected(unseen: Row, name: str) -> str | None:
    value = unseen[name]
    return None if value is None else f"{value:,.1f} ({unseen[f'{name}_low']:,.1f}–{unseen[f'{name}_high']:,.1f})"


def _counted(found: dict[str, Any]) -> str:
    left = found["not_followed"]
    rest = f"; {left:,} leaked rounds have no leaked first attempt in the record" if left else ""
    return (
        f"of {found['rounds']:,} rounds that began with a leak: observed where the record holds the retry; estimated, "
        f"with 95 % intervals, from retries of the same line and kind{rest}"
    )


def _strict(of: Row) -> str:
    calls = of["calls"]
    reasons = ", ".join(f"{code} {n:,}" for code, n in of["reasons"].items())
    share = show.interval({"refused_rate": calls["rate"], "refused_low": calls["low"], "refused_high": calls["high"]},
                          "refused")  # fmt: skip
    return (
        f"strict check of {of['retries']:,} retries that stood: calls refused {calls['refused']:,}/{calls['n']:,} "
        f"{share or '–'}{f' ({reasons})' if reasons else ''}; not wholly checkable {of['not_checkable']:,}"
    )
