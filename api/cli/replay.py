"""`leakdown replay`: two detectors on the stored outputs."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import candidates, replay_tables, show
from api.cli.options import (
    MEGABYTES,
    SECONDS,
    MemoryLimitOption,
    StoreOption,
    TimeLimitOption,
    WhereOption,
    limits,
    output_path,
    texts,
)
from api.connect import connect, store_path
from ingest.errors import UsageError


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
    recompute: Annotated[bool, typer.Option("--recompute", help="Judge every output anew.")] = False,
    json_to: Annotated[
        str | None,
        typer.Option("--json", metavar="F", help="Write the report as JSON to this file, - for stdout."),
    ] = None,
    markdown_to: Annotated[
        str | None,
        typer.Option("--markdown", metavar="F", help="Write the report as Markdown to this file, - for stdout."),
    ] = None,
    time_limit: TimeLimitOption = SECONDS,
    memory_limit: MemoryLimitOption = MEGABYTES,
    store: StoreOption = None,
) -> None:
    """Compare two detectors on the stored outputs.

    Where they agree, where they differ, and who is right where there are labels. The store keeps the verdicts, so
    that the next replay judges only what is new.
    """
    if json_to == markdown_to == "-":
        raise UsageError("replay: only one of --json and --markdown can go to stdout")
    wanted, path = list(texts(where)), store_path(store)
    for target in (json_to, markdown_to):
        output_path(target or "-", path)
    brought = candidates.resolved((baseline, candidate), limits(time_limit, memory_limit))
    with connect(store) as backend, show.progress("texts searched") as told:
        for each in brought.values():
            backend.bring(each, recompute, told)
        first, second = (brought[spec].id if spec in brought else spec for spec in (baseline, candidate))
        report = backend.replay(first, second, wanted, recompute, told)
    candidates.warn(report)
    _write(report, json_to, markdown_to)
    if "-" not in (json_to, markdown_to):
        replay_tables.show_report(report)


def _write(report: dict[str, Any], json_to: str | None, markdown_to: str | None) -> None:
    from pydantic_core import to_json

    from analysis.replay_markdown import markdown

    if markdown_to:
        _put(markdown_to, markdown(report).encode())
    if json_to == "-":
        show.json_line(report)
    elif json_to:
        _put(json_to, to_json(report) + b"\n")


def _put(target: str, data: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        Path(target).write_bytes(data)
    except OSError as fault:
        raise UsageError(f"{target}: cannot be written ({fault.strerror})") from None
