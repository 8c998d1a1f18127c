"""From a file to the store: an upload becomes visible all at once or not at all."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa
from pydantic_core import to_json

from ingest import columns
from ingest.batches import Batch, Reading, read
from ingest.collector import collector_at_rest
from ingest.errors import UnknownFormat
from ingest.files.containers import Source
from ingest.redaction import Redactor
from ingest.settling import Totals, settle
from ingest.store import Cursor, Store, atomic, insert, one, spread
from ingest.sweeping import sweep
from ingest.uploads import check_settings
from ingest.verdict_rows import Judge, keep_verdicts

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
    with store.writing() as cursor, collector_at_rest():
        upload_id = _announce(cursor, source, reading, told, origins)
        try:
            return _load(cursor, upload_id, source, reading, judge, progress)
        except BaseException:
            with atomic(cursor):
                cursor.execute("DELETE FROM uploads WHERE upload_id = $1", [upload_id])
                sweep(cursor)
            raise


def _announce(
    cursor: Cursor, source: Source, reading: Reading, settings: Mapping[str, str], origins: Mapping[str, str]
) -> int:
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
) -> UploadResult:
    shown: list[dict[str, str | None]] = []
    seen = Counter[str]()
    skipped, quarantined = Counter[str](), Counter[str]()
    _stage_tables(cursor)
    for batch in reading.batches:
        seen["kept"] += _stage(cursor, batch, judge)
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
    settled = settle(cursor, upload_id, judge.detector, totals, indexed=judge.index is not None)
    return UploadResult(
        upload_id=upload_id if settled.fresh_lines else None,
        path=source.name,
        format=reading.format,
        lines=totals.lines,
        mapped=settled.fresh_lines,
        skipped=skipped.total(),
        duplicate=settled.duplicate_lines,
        quarantined=totals.quarantined,
        generations=totals.generations,
        new_generations=settled.new_generations,
        events=totals.events,
        skipped_why=dict(skipped),
        quarantined_why=dict(quarantined),
        warning=_warning(totals.lines, totals.quarantined),
        unsure=Unsure(str(reading.doubt), shown, "--format NAME") if reading.doubt else None,
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


_STAGED = {
    "staged_generations": columns.GENERATIONS,
    "staged_events": columns.EVENTS,
    "staged_runs": columns.RUNS,
    "staged_labels": columns.LABELS,
    "staged_quarantine": columns.QUARANTINE,
}


def _stage_tables(cursor: Cursor) -> None:
    """Temporary tables: gone with the cursor, so that a crash leaves no half upload."""
    for name, kinds in _STAGED.items():
        cursor.register("shape", columns.table(kinds, []))
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM shape")
        cursor.unregister("shape")


def _stage(cursor: Cursor, batch: Batch, judge: Judge) -> int:
    """Texts and verdicts go in at once: they are addressed by content, so nobody sees them before their rows.

    The number of texts, tool lists and verdicts that were new.
    """
    with atomic(cursor):
        [before] = one(cursor, "SELECT coalesce(max(number), 0) FROM texts")
        kept = _keep_texts(cursor, batch)
        kept += _keep(cursor, "tool_lists", columns.table(columns.TEXTS, batch.tool_lists.items()))
        if kept or not _judged(cursor, batch, judge):
            if judge.index:
                judge.index(cursor, batch, before)
            kept += keep_verdicts(cursor, judge.detector, judge.verdicts(batch))
        arriving = {
            "staged_generations": [generation.row for generation in batch.generations],
            "staged_events": [columns.event_row(*event) for event in batch.events],
            "staged_runs": [columns.run_row(*run) for run in batch.runs],
            "staged_labels": [columns.label_row(*label) for label in batch.labels],
            "staged_quarantine": [columns.quarantine_row(item) for item in batch.quarantined],
        }
        for name, rows in arriving.items():
            if rows:
                insert(cursor, f"INSERT INTO {name} FROM arriving", columns.table(_STAGED[name], rows))
    return kept


_JUDGED = """
SELECT count(*) FROM arriving a SEMI JOIN (
    SELECT key, verdict_key FROM generations WHERE upload_id IN (SELECT upload_id FROM coverage WHERE detector = $1)
    AND ($2 OR upload_id IN (FROM searched_for_names))
) known ON known.key = a.key AND known.verdict_key = a.verdict_key
"""


def _judged(cursor: Cursor, batch: Batch, judge: Judge) -> bool:
    """Whether all generations of a batch are there, judged by this detector and searched: of these nothing is new."""
    keys = [(each.entry.key, each.verdict_key) for each in batch.generations]
    cursor.register("arriving", columns.table(columns.KEYS, keys))
    [known] = one(cursor, _JUDGED, [judge.detector, judge.index is None])
    cursor.unregister("arriving")
    return bool(known == len(keys))


_KEEP = {
    "texts": "INSERT INTO texts BY NAME FROM arriving a WHERE NOT EXISTS (FROM texts t WHERE t.hash = a.hash)",
    "tool_lists": "INSERT INTO tool_lists FROM arriving a WHERE NOT EXISTS (FROM tool_lists t WHERE t.hash = a.hash)",
}


_EMPTY_TEXTS = "INSERT INTO texts BY NAME SELECT NULL AS hash, NULL AS number"


def _keep_texts(cursor: Cursor, batch: Batch) -> int:
    texts = columns.texts(batch.texts, batch.column())
    kept = _keep(cursor, "texts", texts)
    if kept:
        spread(cursor, _EMPTY_TEXTS, kept, texts.nbytes)
    return kept


def _keep(cursor: Cursor, name: str, kept: pa.Table) -> int:
    return insert(cursor, _KEEP[name], kept) if len(kept) else 0
