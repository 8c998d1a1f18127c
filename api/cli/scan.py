"""`leakdown scan`: the leaks of a file, without a store."""

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli import show
from api.cli.options import FormatOption
from ingest.errors import UsageError

if TYPE_CHECKING:
    from analysis.detectors import Detector, Finding, Tier
    from ingest.batches import Entry
    from ingest.containers import Source

_NO_FINDING = dict.fromkeys(("kind", "family", "tier", "tool", "channel", "start", "end", "markup", "reason"))


def scan(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Files, folders, globs, or - for stdin.", show_default=False),
    ],
    detector_id: Annotated[
        str | None,
        typer.Option("--detector", metavar="D", help="The detector, as name@version.", show_default=False),
    ] = None,
    format_name: FormatOption = None,
    tier: Annotated[
        str,
        typer.Option(metavar="TIER", help="From which tier a finding is a leak: certain, likely, possible."),
    ] = "likely",
) -> int:
    """Print one JSON line for each generation: its leak with span and reason, or nulls."""
    from analysis.detectors import TIERS, detector
    from analysis.registry import default_detector
    from ingest.containers import expand
    from ingest.errors import InputError

    chosen = next((each for each in TIERS if each == tier), None)
    if chosen is None:
        raise UsageError(f"--tier {tier}: one of {', '.join(TIERS)}")
    by = detector(detector_id) if detector_id else default_detector()
    refused = 0
    for source in expand(paths):
        try:
            _scan(source, by, format_name, chosen)
        except InputError as fault:
            show.talk(f"leakdown: {fault}")
            refused += 1
    return 2 if refused else 0


def _scan(source: "Source", by: "Detector", format_name: str | None, tier: "Tier") -> None:
    from analysis.detectors import judge
    from analysis.judging import output_of
    from ingest.batches import read
    from ingest.errors import UnknownFormat

    reading = read(source, format_name=format_name)
    found = quarantined = 0
    for batch in reading.batches:
        for item in batch.quarantined:
            show.talk(f"leakdown: {source.name}:{item.line}: quarantined: {item.why}")
        for generation in batch.generations:
            show.json_line(_line(generation.entry, judge(by, output_of(generation, batch)), tier))
        found += len(batch.generations) + len(batch.events)
        quarantined += len(batch.quarantined)
    if not found:
        raise UnknownFormat(f"{source.name}: no generation and no event, read as {reading.format.title}")


def _line(entry: "Entry", finding: "Finding | None", tier: "Tier") -> dict[str, object]:
    ids = {
        "generation_id": entry.generation_id or f"g{entry.key.hex()}",
        "run_id": entry.run_id,
        "line": entry.line,
    }
    if finding is None:
        return {**ids, "leak": False, **_NO_FINDING, "calls": []}
    return {**ids, **finding.as_json(), "leak": finding.reaches(tier)}
