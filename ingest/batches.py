"""An input as batches of rows: mapped, hashed, in bounded memory, before any store is involved."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from ingest.batch import Batch, Entry, Judgeable
from ingest.columns import generation_row
from ingest.detection import Doubt, by_name
from ingest.facts import called_names, reply, told_names, tools_known
from ingest.files.containers import Source
from ingest.files.opening import Opened
from ingest.files.segments import Segment, segmented
from ingest.formats import Format, Item, Mapped, Quarantined, Skipped
from ingest.identity import fields_hash, verdict_key
from ingest.records import Generation, Label, LeakedToolCall, Record, Run, ToolCall
from ingest.redaction import MARK, Redactor

ROWS = 16_384
BYTES = 16 * 2**20
"""A batch ends at whichever comes first: rows, or bytes of its lines."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An input being read: its formats, what was unsure of them, its batches to come, and how far it is."""

    formats: tuple[Format, ...]
    doubt: Doubt | None
    batches: Iterator[Batch]
    position: Callable[[], int]
    size: int | None
    close: Callable[[], None]
    """Let go of the input, read or not."""

    @property
    def format(self) -> str:
        """The names of the formats."""
        return ", ".join(each.name for each in self.formats)

    @property
    def title(self) -> str:
        """The formats in words."""
        return ", ".join(each.title for each in self.formats)


def read(
    source: Source,
    *,
    format_name: str | None = None,
    settings: Mapping[str, str] | None = None,
    redactor: Redactor | None = None,
    labels: bool = True,
) -> Reading:
    """Open `source`, find its format, and read it batch by batch.

    `settings` are series fields that override what the file says; a `redactor` takes out what is secret before
    anything is hashed; without `labels` those are passed over. UnreadableInput, UnknownFormat, UsageError.
    """
    chosen = by_name(format_name) if format_name else None
    with ExitStack() as stack:
        opened = Opened(source, stack)
        segments, left_out = segmented(opened.members, source.name, chosen, redactor)
        kept = stack.pop_all()
    size = opened.size()
    named = dict.fromkeys(segment.format for segment in segments)
    doubt = next((segment.doubt for segment in segments if segment.doubt), None)
    builder = _Builder(settings or {}, redacted=any(segment.redactor for segment in segments), labels=labels)
    batches = _batches(segments, left_out, builder, kept)
    return Reading(tuple(named), doubt, batches, opened.position, size, kept.close)


def _batches(
    segments: Sequence[Segment], left_out: Sequence[str], builder: "_Builder", kept: ExitStack
) -> Iterator[Batch]:
    """Batches of at most ROWS generations and about BYTES of lines; a member that was left out is a quarantined one."""
    with kept:
        for segment in segments:
            before = segment.bytes
            for item in segment.items():
                builder.add(item)
                if builder.rows >= ROWS or segment.bytes - before >= BYTES:
                    before = segment.bytes
                    yield builder.take()
            builder.end_segment()
        for number, why in enumerate(left_out, 1):
            builder.add(Quarantined(number, why, ""))
        yield builder.take()


NO_LABELS = "a label, which whoever sent it may not give"


def _without_labels(item: Item) -> Item:
    if not isinstance(item, Mapped) or not any(isinstance(each, Label) for each in item.records):
        return item
    others = tuple(each for each in item.records if not isinstance(each, Label))
    return replace(item, records=others) if others else Skipped(item.line, NO_LABELS)


def gathered(
    items: Sequence[Item], settings: Mapping[str, str], called: dict[str, frozenset[str]], *, redacted: bool
) -> Batch:
    """One batch of items that were read already. `called` are the names that each run has called so far, to which
    those of the items are added."""
    builder = _Builder(settings, redacted=redacted, labels=False, called=called)
    for item in items:
        builder.add(item)
    return builder.take()


class _Builder:
    """Gathers items; the verdict keys wait until the batch is taken, for the names that its runs called."""

    def __init__(
        self,
        settings: Mapping[str, str],
        *,
        redacted: bool,
        labels: bool,
        called: dict[str, frozenset[str]] | None = None,
    ) -> None:
        self._settings = dict(settings)
        self._redacted = redacted
        self._labels = labels
        self._called = {} if called is None else called
        """By run; most runs call the same names, so that equal sets are one object."""
        self._name_sets: dict[frozenset[str], frozenset[str]] = {}
        self._waiting: list[Entry] = []
        self._batch = Batch()
        self._shift = self._last = self._highest = 0
        self.rows = 0

    def add(self, item: Item) -> None:
        self._batch.lines += 1
        number = self._numbered(item.line)
        match item if self._labels else _without_labels(item):
            case Mapped(_, records, request):
                for position, record in enumerate(records):
                    self._sort(number, position, record, request)
                self.rows += len(records)
            case Skipped(_, why):
                self._batch.skipped[why] += 1
            case Quarantined(_, why, excerpt):
                self._batch.quarantined.append(Quarantined(number, why, excerpt))
                self.rows += 1

    def _numbered(self, line: int) -> int:
        """The number of an item: its line; where a line is a document of many records, each has a number of its own."""
        self._shift += line == self._last
        self._last = line
        self._highest = max(self._highest, line + self._shift)
        return line + self._shift

    def end_segment(self) -> None:
        """What follows is numbered on."""
        self._shift, self._last = self._highest, 0

    def _sort(self, line: int, position: int, record: Record, request: bytes | None) -> None:
        match record:
            case Generation():
                if record.tool_calls and not tools_known(record):
                    self._note_called(record)
                self._waiting.append(self._entry(line, position, record, request))
            case LeakedToolCall():
                self._batch.events.append((line, record))
            case Run():
                self._batch.runs.append((line, record))
            case Label():
                self._batch.labels.append((line, record))

    def _note_called(self, generation: Generation) -> None:
        names = self._called.get(generation.run_id, frozenset()).union(called_names(generation))
        self._called[generation.run_id] = self._name_sets.setdefault(names, names)

    def _entry(self, line: int, position: int, generation: Generation, request: bytes | None) -> Entry:
        model = generation.model
        if self._redacted and _has_mark(generation):
            generation = generation.model_copy(update={"text_fidelity": "redacted"})
        if self._settings:
            generation = generation.model_copy(update=self._settings)
        keep = self._batch.keep
        content, reasoning = keep(generation.content), keep(generation.reasoning)
        tool_calls = keep(_calls_json(generation))
        tools = self._batch.keep_tools(generation.tools)
        hashes = (content, reasoning, tool_calls, tools, keep(generation.raw_text))
        key = _key(generation, model, request, hashes[:4])
        return Entry(
            line=line,
            key=key,
            run_id=generation.run_id,
            generation_id=generation.generation_id,
            content=content if generation.content else None,
            reasoning=reasoning if generation.reasoning else None,
            tool_calls=tool_calls if generation.tool_calls else None,
            tools=tools if generation.tools else None,
            tools_known=tools_known(generation),
            finish_reason=generation.finish_reason,
            mode=generation.effective_call_mode,
            told_names=None if tools_known(generation) else told_names(generation),
            row=generation_row(generation, key, line, position, hashes, reply(generation)),
        )

    def take(self) -> Batch:
        """The batch so far; a fresh one begins."""
        batch = self._batch
        batch.generations = [self._judgeable(entry) for entry in self._waiting]
        self._batch, self._waiting, self.rows = Batch(), [], 0
        return batch

    def _judgeable(self, entry: Entry) -> Judgeable:
        inferred: tuple[str, ...] = ()
        if not entry.tools_known:
            told = entry.told_names
            inferred = tuple(sorted(self._called.get(entry.run_id, ()))) if told is None else told
        key = verdict_key(
            content=entry.content,
            reasoning=entry.reasoning,
            tool_calls=entry.tool_calls,
            tools=entry.tools,
            tools_known=entry.tools_known,
            finish_reason=entry.finish_reason,
            mode=entry.mode,
            inferred_names=inferred,
        )
        return Judgeable(entry, inferred, key)


def _has_mark(generation: Generation) -> bool:
    """Whether something was taken out of a text that a detector looks at."""
    return any(text and MARK in text for text in (generation.content, generation.reasoning, _calls_json(generation)))


def _key(generation: Generation, model: str | None, request: bytes | None, hashes: tuple[bytes | None, ...]) -> bytes:
    """What makes a generation the same: its id, its request and its response, not when or where it was logged.

    The request names the `model` that the source tells: what a user adds or corrects later makes no other one.
    Where the request stands outside the record, its hash replaces the run, which may have been derived from
    the other lines of the file. Without an id the record's own time tells repetitions apart.
    """
    where = request or (generation.run_id, generation.turn, generation.round, generation.attempt)
    when = None if generation.generation_id else generation.started_at
    choice = repr(generation.tool_choice)
    return fields_hash(
        where, when, generation.generation_id, model, choice, generation.finish_reason, generation.status, *hashes
    )


_CALLS = TypeAdapter(list[ToolCall])


def _calls_json(generation: Generation) -> str | None:
    if not generation.tool_calls:
        return None if generation.tool_calls is None else "[]"
    return _CALLS.dump_json(generation.tool_calls, exclude_unset=True).decode()
