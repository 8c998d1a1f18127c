"""From a file to the store: an upload becomes visible all at once or not at all."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic_core import to_json

from ingest.batch import Batch
from ingest.batches import Reading, read
from ingest.collector import collector_at_rest
from ingest.errors import StoreError, UnknownFormat
from ingest.files.containers import Source
from ingest.redaction import Redactor
from ingest.settling import Settled, Totals, settle
from ingest.staging import stage, stage_tables
from ingest.store import Cursor, Store, atomic, one
from ingest.sweeping import sweep_unfinished
from ingest.uploads import check_settings, is_done
from ingest.verdict_rows import Judge

NOT_UNDERSTOOD = 0.05
"""Share of quarantined lines above which a warning stands in the result."""

EXAMPLES = 3
EXAMPLE_LENGTH = 200
"""Generations, and characters of each of their texts, that are shown where a format is a guess."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an input has been read: lines, and bytes of so many; `total` is None where nothing tells."""

    lines: int
    bytes: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Unsure:
    """A format that is a guess: why, what was decoded of the first generations, and how to say better."""

    why: str
    examples: list[dict[str, str | None]]
    override: str


@dataclass(frozen=True, slots=True)
class UploadResult:
    """What became of a file. `upload_id` is None if it brought nothing new: then the store is unchanged."""

    upload_id: int | None
    path: str
    format: str
    lines: int
    mapped: int
    skipped: int
    duplicate: int
    quarantined: int
    generations: int
    new_generations: int
    events: int
    skipped_why: dict[str, int]
    quarantined_why: dict[str, int]
    warning: str | None
    unsure: Unsure | None = None

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return asdict(self)


def ingest(
    store: Store,
    source: Source,
    judge: Judge,
    *,
    format_name: str | None = None,
    settings: Mapping[str, str] | None = None,
    sidecar: Mapping[str, str] | None = None,
    redactor: Redactor | None = None,
    labels: bool = True,
    progress: Callable[[Progress], object] = lambda _: None,
) -> UploadResult:
    """Read `source` into `store`, judged by `judge`; `progress` is told how far it has come after each batch.

    `settings` are series fields that a person gave, over those of a `sidecar`, over what the file says. A
    `redactor` takes out what is secret before anything is hashed or stored. Without `labels` those are skipped.

    UnreadableInput; UnknownFormat, with nothing kept, where no line holds a record.
    """
    told = {**(sidecar or {}), **(settings or {})}
    check_settings(told)
    origins = {name: "given" if name in (settings or {}) else "sidecar" for name in told}
    reading = read(source, format_name=format_name, settings=told, redactor=redactor, labels=labels)
    if redactor:
        source = replace(source, name=redactor.value(source.name))  # a name may tell whose folder it was
    results: list[UploadResult] = []
    try:
        with closing(reading), store.writing() as cursor, collector_at_rest():
            upload_id = _announce(cursor, source, reading, told, origins)
            _load(cursor, upload_id, source, reading, judge, progress, results)
    except StoreError:
        # a commit that fails on a full disk may have been kept all the same: the store, opened anew, tells
        if not results or not is_done(store, results[0].upload_id):
            _sweep(store)
            raise
    except BaseException:
        _sweep(store)
        raise
    return results[0]


def _sweep(store: Store) -> None:
    """Clear what an upload that failed has left; where its disk does not let it, the next upload does."""
    with suppress(StoreError), store.transaction() as cursor:
        sweep_unfinished(cursor)


def _announce(
    cursor: Cursor, source: Source, reading: Reading, settings: Mapping[str, str], origins: Mapping[str, str]
) -> int:
    with atomic(cursor):
        sweep_unfinished(cursor)
    [upload_id] = one(
        cursor,
        """
        INSERT INTO uploads BY NAME
        SELECT nextval('upload_ids')::INTEGER AS upload_id, $path AS path, $format AS format, 'loading' AS state,
            make_timestamp(epoch_us(now())) AS created_at, $settings AS settings, $origins AS origins
        RETURNING upload_id
        """,
        {
            "path": source.name,
            "format": reading.format,
            "settings": to_json(settings).decode(),
            "origins": to_json(origins).decode(),
        },
    )
    return int(upload_id)


def _load(
    cursor: Cursor,
    upload_id: int,
    source: Source,
    reading: Reading,
    judge: Judge,
    progress: Callable[[Progress], object],
    results: list[UploadResult],
) -> None:
    """Read and commit an upload; its result stands in `results` as soon as the commit begins."""
    shown: list[dict[str, str | None]] = []
    seen = Counter[str]()
    skipped, quarantined = Counter[str](), Counter[str]()
    stage_tables(cursor)
    for batch in reading.batches:
        with atomic(cursor):
            seen["kept"] += stage(cursor, batch, judge)
        seen.update(_counts(batch))
        skipped += batch.skipped
        quarantined.update(item.why for item in batch.quarantined)
        shown += _decoded(batch, EXAMPLES - len(shown)) if reading.doubt else []
        progress(Progress(seen["lines"], reading.position(), reading.size))
        del batch  # or its texts would stay while the next one is read
    if not seen["records"]:
        raise UnknownFormat(_nothing_found(source, reading, seen["lines"], quarantined + skipped))
    totals = Totals(
        lines=seen["lines"],
        quarantined=quarantined.total(),
        generations=seen["generations"],
        events=seen["events"],
        kept=seen["kept"],
        skipped=skipped,
    )
    doubt = Unsure(str(reading.doubt), shown, "--format NAME") if reading.doubt else None
    with atomic(cursor):
        settled = settle(cursor, upload_id, judge.detector, totals, indexed=judge.index is not None)
        results.append(_result(upload_id, source.name, reading.format, totals, settled, quarantined, doubt))


def _result(
    upload_id: int,
    path: str,
    format_name: str,
    totals: Totals,
    settled: Settled,
    quarantined: Counter[str],
    doubt: Unsure | None,
) -> UploadResult:
    return UploadResult(
        upload_id=upload_id if settled.fresh_lines else None,
        path=path,
        format=format_name,
        lines=totals.lines,
        mapped=settled.fresh_lines,
        skipped=totals.skipped.total(),
        duplicate=settled.duplicate_lines,
        quarantined=totals.quarantined,
        generations=totals.generations,
        new_generations=settled.new_generations,
        events=totals.events,
        skipped_why=dict(totals.skipped),
        quarantined_why=dict(quarantined),
        warning=_warning(totals.lines, totals.quarantined),
        unsure=doubt,
    )


def _decoded(batch: Batch, most: int) -> list[dict[str, str | None]]:
    """What was understood of the first generations of a batch, for a person to check."""
    channels = ("content", "reasoning", "tool_calls")
    return [
        {name: batch.texts[key][:EXAMPLE_LENGTH] if (key := getattr(each.entry, name)) else None for name in channels}
        for each in batch.generations[:most]
    ]


def _counts(batch: Batch) -> dict[str, int]:
    generations, events = len(batch.generations), len(batch.events)
    records = generations + events + len(batch.runs) + len(batch.labels)
    return {"lines": batch.lines, "generations": generations, "events": events, "records": records}


def _nothing_found(source: Source, reading: Reading, lines: int, reasons: Counter[str]) -> str:
    why = f" ({reasons.most_common(1)[0][0]})" if reasons else ""
    return (
        f"{source.name}: no record in {lines:,} lines read as {reading.title}{why}; nothing was kept. "
        "Name another format with --format"
    )


def _warning(lines: int, quarantined: int) -> str | None:
    if quarantined <= NOT_UNDERSTOOD * lines:
        return None
    return f"{quarantined:,} of {lines:,} lines were not understood: the rates speak only of the rest"
