"""`leakdown ingest`: run logs into the store."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli import show
from api.cli.options import FormatOption, JsonOption, StoreOption, pairs, store_path

if TYPE_CHECKING:
    from ingest.containers import Source
    from ingest.pipeline import UploadResult
    from ingest.store import Store
    from ingest.verdict_rows import Judge


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Files, folders, globs, or - for stdin.", show_default=False),
    ],
    format_name: FormatOption = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A series field the file does not say (or says wrongly), such as engine=vllm.",
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> int:
    """Read run logs into the store. Plain, .gz and .zst; the content decides the format."""
    from analysis.judging import judge_for
    from analysis.registry import current
    from ingest.containers import expand
    from ingest.store import Store
    from ingest.uploads import check_settings

    settings = pairs(given)
    check_settings(settings)
    sources = expand(paths)
    with Store.open(store_path(store), create=True) as opened:
        judge = judge_for(current(opened))
        results = [_one(opened, source, judge, format_name, settings) for source in sources]
    accepted = [result for result in results if result]
    if as_json:
        show.json_line({"uploads": [result.as_json() for result in accepted]})
    else:
        _print(accepted)
    return 0 if len(accepted) == len(results) else 2


def _one(
    store: "Store", source: "Source", judge: "Judge", format_name: str | None, settings: dict[str, str]
) -> "UploadResult | None":
    """The result of one file; None if it was refused, which is said on stderr."""
    from ingest.errors import InputError
    from ingest.pipeline import ingest as ingest_one

    try:
        with show.progress(f"{Path(source.name).name}, lines") as told:
            result = ingest_one(store, source, judge, format_name=format_name, settings=settings, progress=told)
    except InputError as fault:
        show.talk(f"leakdown: {fault}")
        return None
    if result.warning:
        show.talk(f"leakdown: {result.path}: warning: {result.warning}")
    for why, lines in result.quarantined_why.items():
        show.talk(f"leakdown: {result.path}: {lines:,} quarantined: {why}")
    return result


def _print(results: list["UploadResult"]) -> None:
    columns = (
        "path",
        "format",
        "lines",
        "mapped",
        "skipped",
        "duplicate",
        "quarantined",
        "generations",
        "new",
        "events",
    )
    rows = [
        (
            result.path, result.format, result.lines, result.mapped, result.skipped, result.duplicate,
            result.quarantined, result.generations, result.new_generations, result.events,
        )
        for result in results
    ]  # fmt: skip
    if rows:
        show.table(columns, rows)
