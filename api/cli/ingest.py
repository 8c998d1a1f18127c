"""`leakdown ingest`: run logs into the store."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import inputs, show
from api.cli.options import FormatOption, JsonOption, PathsArgument, StoreOption, pairs
from api.connect import connect, store_path

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

    settings = pairs(given)
    check_settings(settings)
    inputs.check_format(format_name)
    sources, complete = inputs.sources(paths)
    if not sources:
        return 2
    results: list[dict[str, Any]] = []
    with connect(store, create=True) as backend:
        first = not backend.uploads()

        def add(source: "Source") -> None:
            results.append(_one(backend, source, format_name, settings))

        for source in sources:
            complete &= inputs.accepted(add, source)
    _print(results, as_json)
    if results and first and not as_json:
        _say_next(store_path(store), given=store is not None)
    return 0 if complete else 2


def _one(backend: "Backend", source: "Source", format_name: str | None, settings: dict[str, str]) -> dict[str, Any]:
    """The result of one file, with what a person should know of it on stderr; InputError if it is refused."""
    with show.progress(f"{Path(source.name).name}, lines") as told:
        result = backend.ingest(source, format_name, settings, told)
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


def _say_next(path: Path, *, given: bool) -> None:
    option = f" --store {shlex.quote(str(path))}" if given else ""
    show.talk(f"These are the first records in {path}. What now:")
    for command, purpose in (
        ("rates", "leak and recovery rates per model, engine and template"),
        ("detectors list", "the detectors, any two of which `leakdown replay` compares"),
        ("uploads set 1 engine=vllm", "say what the file did not (upload 1)"),
    ):
        show.talk(f"  leakdown {command}{option}  # {purpose}")
