"""`leakdown ingest`: run logs into the store."""

import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import inputs, show
from api.cli.options import FormatOption, JsonOption, PathsArgument, StoreOption, pairs, texts
from api.connect import connect, store_path
from api.settings import settings
from ingest.errors import NotAllowed

if TYPE_CHECKING:
    from api.backend import Backend
    from api.uploads import Given
    from ingest.files.containers import Source


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
    redact: Annotated[
        bool, typer.Option("--redact", help="Take out keys, tokens, e-mail addresses and home folders before storing.")
    ] = False,
    patterns: Annotated[
        list[str] | None,
        typer.Option(
            "--redact-pattern",
            metavar="REGEX",
            help="Take out what this matches too (syntax of Rust's regex); may be repeated.",
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> int:
    """Read run logs into the store.

    Files, folders and archives (.gz, .zst, .zip, .tar); the content decides the format. A file that is refused leaves
    nothing behind, the others go in, and the exit code is 2. The same file twice changes nothing. A leakdown.toml in
    a folder says what its files do not, in a table [set].
    """
    from api.uploads import Given
    from ingest.redaction import Redactor
    from ingest.uploads import check_settings

    fields = pairs(given)
    check_settings(fields)
    inputs.check_format(format_name)
    Redactor(texts(patterns))
    sources, complete = inputs.sources(paths)
    if not sources:
        return 2
    told = Given(format_name, fields, redact=tuple(texts(patterns)) if redact or patterns else None)
    results: list[dict[str, Any]] = []
    with connect(store, create=True) as backend:
        first = _is_empty(backend)

        def add(source: "Source") -> None:
            results.append(_one(backend, source, told))

        refused = [source for source in sources if not inputs.accepted(add, source)]
    _print(results, as_json)
    if len(sources) > 1 and not as_json:
        _say_formats(results, len(sources), len(refused))
    new = [result["upload_id"] for result in results if result["upload_id"] is not None]
    if new and first and not as_json:
        _say_next(store, new[0])
    return 0 if complete and not refused else 2


def _is_empty(backend: "Backend") -> bool:
    """Whether there is no upload yet, as far as one may know: a key that only sends is told nothing of the store."""
    try:
        return not backend.uploads.listed()
    except NotAllowed:
        return False


def _one(backend: "Backend", source: "Source", given: "Given") -> dict[str, Any]:
    """The result of one input, with what a person should know of it on stderr; InputError if it is refused."""
    from ingest.files.sidecar import told

    sidecar = dict(told(source.path)) if source.path else {}
    with show.reading(Path(source.name).name) as read:
        result = backend.uploads.ingest(source, replace(given, sidecar=sidecar), read)
    if result["warning"]:
        show.talk(f"leakdown: {result['path']}: warning: {result['warning']}")
    if result["unsure"]:
        _say_unsure(result["path"], result["unsure"])
    # none of an upload that brought nothing new was kept
    kept = backend.uploads.quarantine(result["upload_id"], show.QUARANTINE_SHOWN) if result["upload_id"] else []
    show.quarantined(result["path"], [(line["line"], line["reason"]) for line in kept], result["quarantined"])
    if result["upload_id"] is None:
        show.talk(f"leakdown: {result['path']}: brought nothing new; the store is as it was")
    return result


def _say_unsure(path: str, unsure: dict[str, Any]) -> None:
    """Why the format is a guess, and what it made of the first generations."""
    show.talk(f"leakdown: {path}: {unsure['why']}; if these are not its first generations, say {unsure['override']}:")
    for example in unsure["examples"]:
        said = "; ".join(f"{channel}: {show.brief(text, 80)}" for channel, text in example.items() if text)
        show.talk(f"  {said or 'no text'}")


def _say_formats(results: list[dict[str, Any]], inputs_: int, refused: int) -> None:
    """What many files were, a format a line."""
    files = Counter[str](result["format"] for result in results)
    generations = Counter[str]()
    for result in results:
        generations[result["format"]] += result["generations"]
    for name, count in files.most_common():
        show.talk(f"{name}: {count:,} of {inputs_:,} inputs, {generations[name]:,} generations")
    if refused:
        show.talk(f"not understood, and left out: {refused:,} of {inputs_:,} inputs (each is named above)")


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
