"""`leakdown replay`: two detectors on the stored outputs."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import candidates, gate, show
from api.cli.options import (
    MEGABYTES,
    SECONDS,
    IsolationOption,
    MemoryLimitOption,
    ReadableOption,
    StoreOption,
    TimeLimitOption,
    WhereOption,
    limits,
    output_path,
    texts,
    wanted,
)
from api.connect import connect, store_path
from ingest.errors import UsageError

if TYPE_CHECKING:
    from api.backend import Backend


def replay(
    baseline: Annotated[
        str,
        typer.Option(
            metavar="A",
            help="The detector in use: name@version, a rule file (rules.toml), code (path.py:attribute, "
            "module:attribute), or exec:COMMAND.",
            show_default=False,
        ),
    ],
    candidate: Annotated[
        str,
        typer.Option(metavar="B", help="The detector to compare with it, named in the same ways.", show_default=False),
    ],
    where: WhereOption = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only generations since this date or time (UTC).")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only generations before this time, or to the end of this day (UTC)."),
    ] = None,
    recompute: Annotated[bool, typer.Option("--recompute", help="Judge every output anew.")] = False,
    json_to: Annotated[
        str | None,
        typer.Option("--json", metavar="F", help="Write the report as JSON to this file, - for stdout."),
    ] = None,
    markdown_to: Annotated[
        str | None,
        typer.Option("--markdown", metavar="F", help="Write the report as Markdown to this file, - for stdout."),
    ] = None,
    html_to: Annotated[
        str | None,
        typer.Option("--html", metavar="F", help="Write the report as one HTML file, - for stdout."),
    ] = None,
    fail_on: gate.FailOnOption = None,
    pack: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Compare on this pack (`label export --pack`) in place of a store."),
    ] = None,
    time_limit: TimeLimitOption = SECONDS,
    memory_limit: MemoryLimitOption = MEGABYTES,
    isolation: IsolationOption = "auto",
    readable: ReadableOption = None,
    store: StoreOption = None,
) -> int:
    """Compare two detectors on the stored outputs.

    Where they agree, where they differ, who is right where there are labels, and what the difference would have
    cost. The store keeps the verdicts, so that the next replay judges only what is new.
    """
    targets = {"json": json_to, "markdown": markdown_to, "html": html_to}
    if list(targets.values()).count("-") > 1:
        raise UsageError("replay: only one of --json, --markdown and --html can go to stdout")
    if pack and store:
        raise UsageError("replay: name one of --pack and --store; a pack brings its own outputs")
    filters, bar = list(texts(where)), gate.gate(fail_on)
    for target in targets.values():
        output_path(target or "-", pack or store_path(store), "the pack" if pack else "the store")
    box = wanted(isolation, readable, store, pack)
    brought = candidates.resolved((baseline, candidate), limits(time_limit, memory_limit), box)
    with _outputs(pack, store) as backend, show.progress("texts searched") as told:
        for each in brought.values():
            backend.detectors.bring(each, recompute, told)
        first, second = (brought[spec].id if spec in brought else spec for spec in (baseline, candidate))
        report = backend.replays.replay(first, second, filters, recompute, told, since=since, until=until)
    candidates.warn(report)
    ruling = gate.judged(bar, report)
    _write(report, targets)
    if "-" not in targets.values():
        from api.cli import replay_tables

        replay_tables.show_report(report)
    return gate.told(ruling)


def _outputs(pack: Path | None, store: Path | None) -> AbstractContextManager["Backend"]:
    """The backend on the outputs to compare."""
    if pack is None:
        return connect(store)
    from api.packed import packed

    return packed(pack)


def _write(report: dict[str, Any], targets: dict[str, str | None]) -> None:
    for form, target in targets.items():
        if form == "json" and target == "-":
            show.json_line(report)
        elif target:
            _put(target, _spelled(report, form))


def _spelled(report: dict[str, Any], form: str) -> bytes:
    if form == "json":
        from pydantic_core import to_json

        return to_json(report) + b"\n"
    if form == "markdown":
        from analysis import gates
        from analysis.replay_markdown import markdown

        ruling = f"\n{gates.markdown(report['gate'])}\n" if "gate" in report else ""
        # an id may hold half a surrogate pair, which no file can
        return (markdown(report) + ruling).encode("utf-8", "replace")
    from api.pages.replay_file import html

    return html(report)


def _put(target: str, data: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        Path(target).write_bytes(data)
    except OSError as fault:
        raise UsageError(f"{target}: cannot be written ({fault.strerror})") from None
