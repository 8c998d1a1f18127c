"""`leakdown ingest`: run logs into the store."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import inputs, show
from api.cli.options import FormatOption, JsonOption, PathsArgument, StoreOption, pairs
from api.connect import connect, store_path
from api.settings import settings

if TYPE_CHECKING:
    from api.backend import Backend
    from ingest.containers import Source


def ingest(
    paths: PathsArgument,
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
    """Read run logs into the store.

    Plain, .gz and .zst files; the content decides the format. A file that is refused leaves nothing behind, the
    others go in, and the exit code is 2. The same file twice changes nothing.
    """
    from ingest.uploads import check_settings

    fields = pairs(given)
    check_settings(fields)
    inputs.check_format(format_name)
    sources, complete = inputs.sources(paths)
    if not sources:
        return 2
    results: list[dict[str, Any]] = []
    with connect(store, create=True) as backend:
        first = not backend.uploads()

        def add(source: "Source") -> None:
            results.append(_one(backend, source, format_name, fields))

        for source in sources:
            complete &= inputs.accepted(add, source)
    _print(results, as_json)
    new = [result["upload_id"] for result in results if result["upload_id"] is not None]
    if new and first and not as_json:
        _say_next(store, new[0])
    return 0 if complete else 2


def _one(backend: "Backend", source: "Source", format_name: str | None, fields: dict[str, str]) -> dict[str, Any]:
    """The result of one file, with what a person should know of it on stderr; InputError if it is refused."""
    with show.progress(f"{Path(source.name).name}, lines") as told:
        result = backend.ingest(source, format_name, fields, told)
    if result["warning"]:
        show.talk(f"leakdown: {result['path']}: warning: {result['warning']}")
    # none of an upload that brought nothing new was kept
    kept = backend.quarantine(result["upload_id"], show.QUARANTINE_SHOWN) if result["upload_id"] else []
    show.quarantined(result["path"], [(line["line"], line["reason"]) for line in kept], result["quarantined"])
    if result["upload_id"] is None:
        show.talk(f"leakdown: {result['path']}: brought nothing new; the store is as it was")
    return result


_COLUMNS = (
    "path", "format", "lines", "mapped", "skipped", "duplicate", "quarantined",
    "generations", "new_generations", "events",
)  # fmt: skip


def _print(results: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        show.json_line({"uploads": results})
    elif results:
        names = ["new" if name == "new_generations" else name for name in _COLUMNS]
        show.table(names, [[result[name] for name in _COLUMNS] for result in results])


def _say_next(store: Path | None, upload_id: int) -> None:
    option = f" --store {shlex.quote(str(store))}" if store else ""
    place = (None if store else settings().url) or store_path(store)
    show.talk(f"These are the first records in {place}. What now:")
    for command, purpose in (
        ("rates", "leak and recovery rates per model, engine and template"),
        ("detectors list", "the detectors, any two of which `leakdown replay` compares"),
        (f"uploads set {upload_id} engine=vllm", f"say what the file did not (upload {upload_id})"),
    ):
        show.talk(f"  leakdown {command}{option}  # {purpose}")
