"""`leakdown faults`: whose fault the leaks are, and what to set."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import connect

Row = Mapping[str, Any]
_SHARES = (
    ("model", "model (95 %)"),
    ("parser", "parser"),
    ("template_and_parser", "template and parser"),
    ("unknown", "cannot tell"),
)


def faults(
    by: Annotated[str, typer.Option(metavar="KEYS", help="Series keys, comma separated.")] = "model,engine,template",
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only leaks since this date or time (UTC).")] = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print whose fault leaks are, and what to set.

    The model wrote the call wrong, the parser missed a valid one, template and parser disagree, or the log cannot tell.
    """
    keys = [key.strip() for key in by.split(",") if key.strip()]
    with connect(store) as backend, show.progress("faults") as told:
        found = backend.figures.faults(keys, list(texts(where)), since, told)
    if as_json:
        show.json_line(found)
    elif found:
        _print(keys, found)
    else:
        show.talk("no leaks here")


def _print(keys: list[str], found: Sequence[Row]) -> None:
    columns = (*keys, "tools known", "runs", "leaks", *(title for _, title in _SHARES))
    show.table(columns, [_row(keys, each) for each in found])
    settings = [(row, each) for row in found for each in row["settings"]]
    if settings:
        print()
        show.table(
            (*keys, "leaks", "syntax", "engine", "to set", "set already", "source"),
            [_setting(keys, row, each) for row, each in settings],
        )
    show.talk(_counted(found))


def _row(keys: list[str], of: Row) -> tuple[object, ...]:
    known = "yes" if of["tools_known"] else "no"
    return (*(of[key] for key in keys), known, of["runs"], of["leaks"], *(_share(of, name) for name, _ in _SHARES))


def _share(of: Row, name: str) -> str | None:
    fault = of["faults"][name]
    if fault["rate"] is None:
        return None
    return f"{fault['n']:,}, {fault['rate']:.1%} ({fault['low']:.1%}–{fault['high']:.1%})"


def _setting(keys: list[str], row: Row, of: Row) -> tuple[object, ...]:
    said = f"{of['setting']} ({of['note']})" if of["note"] else of["setting"]
    known = "yes" if of["configured"] else "no"
    return (*(row[key] for key in keys), of["n"], of["family"], of["engine"], said, known, of["source"])


def _counted(found: Sequence[Row]) -> str:
    apart = sum(row["not_eligible"] for row in found)
    rest = f"; {apart:,} more leaks of retries and of what else is not eligible are not counted" if apart else ""
    return f"by {found[0]['detector']}; of the leaks of eligible generations, printed calls among them{rest}"
