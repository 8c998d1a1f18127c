"""`leakdown scan`: the leaks of a file, without a store."""

import sys
from collections import Counter
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli import candidates, inputs, show
from api.cli.options import (
    MEGABYTES,
    SECONDS,
    FormatOption,
    IsolationOption,
    MemoryLimitOption,
    PathsArgument,
    ReadableOption,
    TimeLimitOption,
    limits,
    wanted,
)
from ingest.errors import UsageError

if TYPE_CHECKING:
    from analysis.detectors import Detector, Tier, Verdict
    from ingest.batch import Batch, Entry
    from ingest.batches import Reading
    from ingest.files.containers import Source

_NO_FINDING = dict.fromkeys(("kind", "family", "tier", "tool", "channel", "start", "end", "markup", "reason"))


def scan(
    paths: PathsArgument,
    detector_id: Annotated[
        str | None,
        typer.Option(
            "--detector",
            metavar="D",
            help="The detector: name@version, a rule file (rules.toml), code (path.py:attribute, module:attribute), or "
            "exec:COMMAND.",
            show_default=False,
        ),
    ] = None,
    format_name: FormatOption = None,
    tier: Annotated[
        str,
        typer.Option(metavar="TIER", help="From which tier a finding is a leak: certain, likely, possible."),
    ] = "likely",
    time_limit: TimeLimitOption = SECONDS,
    memory_limit: MemoryLimitOption = MEGABYTES,
    isolation: IsolationOption = "auto",
    readable: ReadableOption = None,
) -> int:
    """Print one JSON line for each generation.

    It tells the leak with its span, its kind and the reason, or null in their places. No store is needed.
    """
    from analysis.detectors import TIERS
    from analysis.registry import default_detector

    chosen = next((each for each in TIERS if each == tier), None)
    if chosen is None:
        raise UsageError(f"--tier {tier}: one of {', '.join(TIERS)}")
    held, box = limits(time_limit, memory_limit), wanted(isolation, readable)
    by = candidates.resolved_one(detector_id, held, box) if detector_id else default_detector()
    inputs.check_format(format_name)
    sources, complete = inputs.sources(paths)
    for source in sources:
        complete &= inputs.accepted(partial(_scan, by=by, format_name=format_name, tier=chosen), source)
    return 0 if complete else 2


def _scan(source: "Source", *, by: "Detector", format_name: str | None, tier: "Tier") -> None:
    from ingest.batches import read

    reading = read(source, format_name=format_name)
    seen = Counter[str]()
    for batch in reading.batches:
        untold = max(0, show.QUARANTINE_SHOWN - seen["quarantined"])
        for item in islice(batch.quarantined, untold):
            show.talk(f"leakdown: {source.name}:{item.line}: quarantined: {item.why}")
        seen += _print(batch, by, tier)
        seen["lines"] += batch.lines
        seen["quarantined"] += len(batch.quarantined)
        seen["generations"] += len(batch.generations)
        seen["events"] += len(batch.events)
    _say(source.name, by, reading, seen)


def _print(batch: "Batch", by: "Detector", tier: "Tier") -> Counter[str]:
    """Print the lines of a batch; how many leaks and failures are among them."""
    from analysis.detectors import Failure, judge_all
    from analysis.judging import output_of

    seen = Counter[str]()
    verdicts = judge_all(by, [output_of(generation, batch) for generation in batch.generations])
    for generation, said in zip(batch.generations, verdicts, strict=True):
        line = _line(generation.entry, said, tier)
        seen["leaks"] += line["leak"] is True
        seen["failures"] += isinstance(said, Failure)
        show.json_line(line)
    sys.stdout.flush()
    return seen


def _line(entry: "Entry", said: "Verdict", tier: "Tier") -> dict[str, object]:
    from analysis.detectors import Failure

    ids = {
        "generation_id": entry.generation_id or f"g{entry.key.hex()}",
        "run_id": entry.run_id,
        "line": entry.line,
    }
    if isinstance(said, Failure):
        return {**ids, "leak": None, **_NO_FINDING, "calls": [], "error": said.why}
    if said is None:
        return {**ids, "leak": False, **_NO_FINDING, "calls": []}
    return {**ids, **said.as_json(), "leak": said.reaches(tier)}


def _say(name: str, by: "Detector", reading: "Reading", seen: Counter[str]) -> None:
    """What was seen, on stderr; UnknownFormat if that is nothing, for then nothing is known of leaks."""
    from ingest.errors import UnknownFormat
    from ingest.pipeline import NOT_UNDERSTOOD

    if seen["quarantined"] > show.QUARANTINE_SHOWN:
        show.talk(f"leakdown: {name}: {seen['quarantined'] - show.QUARANTINE_SHOWN:,} more quarantined")
    if not seen["generations"] + seen["events"]:
        raise UnknownFormat(f"{name}: no generation and no event in {seen['lines']:,} lines of {reading.title}")
    if seen["quarantined"] > NOT_UNDERSTOOD * seen["lines"]:
        show.talk(
            f"leakdown: {name}: warning: {seen['quarantined']:,} of {seen['lines']:,} lines were not understood: "
            "nothing is known of leaks in them"
        )
    show.talk(
        f"{name} ({reading.format}): {seen['generations']:,} generations, {seen['leaks']:,} leaks by {by.id}"
        + (f"; it failed on {seen['failures']:,}" if seen["failures"] else "")
        + (f"; {seen['events']:,} events of a client, which are not scanned" if seen["events"] else "")
    )
