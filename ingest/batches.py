"""A file as batches of rows: decoded, mapped, hashed, in bounded memory, before any store is involved."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from ingest.columns import generation_row
from ingest.containers import Source, read_lines
from ingest.detection import by_name, choose
from ingest.errors import UnknownFormat
from ingest.facts import called_names, reply, tools_known
from ingest.formats import Format, Item, Line, Mapped, Quarantined, Skipped
from ingest.identity import fields_hash, text_hash, verdict_key
from ingest.jsonlines import decode
from ingest.records import CallMode, Generation, Label, LeakedToolCall, Record, Run, Tool, ToolCall

FIRST = 50
"""Decoded lines that decide the format."""
ROWS = 16_384
BYTES = 32 * 2**20
"""A batch ends at whichever comes first: rows, or bytes of its lines."""
UNREADABLE_IN_A_ROW = 100_000
"""Lines that wait for the next readable one; more would not fit in memory, and no run log looks like that."""

Decoded = Line | Skipped | Quarantined


class Entry(NamedTuple):
    """A generation, hashed: what identifies it, what a detector may look at, and its row for the store.

    It holds no record: a batch of thousands keeps few objects alive, or garbage collection would cost more than
    reading. The texts stand in the batch.
    """

    line: int
    key: bytes
    run_id: str
    generation_id: str | None
    content: bytes | None
    reasoning: bytes | None
    tool_calls: bytes | None
    tools: bytes | None
    tools_known: bool
    finish_reason: str | None
    mode: CallMode
    row: tuple[Any, ...]
    """The values of `columns.GENERATIONS` but for the verdict key and the inferred names."""


class Judgeable(NamedTuple):
    """An entry with what the rest of its batch tells: `inferred_names` are empty where the tools are known."""

    entry: Entry
    inferred_names: tuple[str, ...]
    verdict_key: bytes

    @property
    def row(self) -> tuple[Any, ...]:
        """The values of `columns.GENERATIONS`."""
        return (*self.entry.row, self.verdict_key, self.inferred_names or None)


@dataclass(slots=True)
class Batch:
    """What a stretch of lines brought. `texts` and `tool_lists` are by hash."""

    lines: int = 0
    generations: list[Judgeable] = field(default_factory=list)
    events: list[tuple[int, LeakedToolCall]] = field(default_factory=list)
    runs: list[tuple[int, Run]] = field(default_factory=list)
    labels: list[tuple[int, Label]] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    texts: dict[bytes, str] = field(default_factory=dict)
    tool_lists: dict[bytes, str] = field(default_factory=dict)

    def keep(self, text: str | None) -> bytes | None:
        """Keep `text` and give its hash; None for None."""
        return None if text is None else _keep(self.texts, text)

    def keep_tools(self, tools: str | None) -> bytes | None:
        """Keep a tool list (its JSON) and give its hash; None for None."""
        return None if tools is None else _keep(self.tool_lists, tools)


def _keep(kept: dict[bytes, str], text: str) -> bytes:
    key = text_hash(text)
    kept[key] = text
    return key


@dataclass(frozen=True, slots=True)
class Reading:
    """A file being read: its format, and its batches to come."""

    format: Format
    batches: Iterator[Batch]


def read(source: Source, *, format_name: str | None = None, settings: Mapping[str, str] | None = None) -> Reading:
    """Open `source`, find its format, and read it batch by batch.

    `settings` are series fields that override what the file says. UnreadableInput, UnknownFormat, UsageError.
    """
    feed = _Feed(decode(read_lines(source)), source.name)
    first = feed.peek()
    if not first:
        raise UnknownFormat(f"{source.name}: empty; nothing was read")
    chosen = by_name(format_name) if format_name else _choose(first, source)
    return Reading(chosen, _batches(feed, chosen, settings or {}))


def _choose(first: list[Decoded], source: Source) -> Format:
    values = [line.value for line in first if isinstance(line, Line)]
    broken = next((line for line in first if isinstance(line, Quarantined)), None)
    if not values and broken:
        raise UnknownFormat(
            f"{source.name}:{broken.line}: {broken.why}; "
            "leakdown reads JSON Lines (one JSON object a line), plain, .gz or .zst"
        )
    return choose(values, source.name)


class _Feed:
    """Decoded lines on their way through a format; those that did not decode go around it."""

    def __init__(self, decoded: Iterator[Decoded], name: str) -> None:
        self._name = name
        self.bytes = 0
        self._decoded = decoded
        self._aside: list[Item] = []

    def peek(self) -> list[Decoded]:
        """The first lines, until enough of them decoded or they grow too large; read again by `items`."""
        first: list[Decoded] = []
        decoded = size = 0
        for line in self._decoded:
            first.append(line)
            if isinstance(line, Line):
                decoded += 1
                size += len(line.raw)
            if decoded == FIRST or size > BYTES or len(first) == ROWS:
                break
        self._decoded = chain(first, self._decoded)
        return first

    def items(self, chosen: Format) -> Iterator[Item]:
        """What became of each line."""
        for item in chosen.read(self._good()):
            if self._aside:
                yield from self._take_aside()
            yield item
        yield from self._take_aside()

    def _good(self) -> Iterator[Line]:
        for line in self._decoded:
            if isinstance(line, Line):
                self.bytes += len(line.raw)
                yield line
            else:
                self._aside.append(line)
                if len(self._aside) > UNREADABLE_IN_A_ROW:
                    raise UnknownFormat(
                        f"{self._name}:{line.line}: {UNREADABLE_IN_A_ROW:,} lines in a row hold no JSON; "
                        "nothing was kept"
                    )

    def _take_aside(self) -> list[Item]:
        taken, self._aside = self._aside, []
        return taken


def _batches(feed: _Feed, chosen: Format, settings: Mapping[str, str]) -> Iterator[Batch]:
    """Batches of at most ROWS generations and about BYTES of lines."""
    builder = _Builder(settings)
    before = feed.bytes
    for item in feed.items(chosen):
        builder.add(item)
        if builder.rows >= ROWS or feed.bytes - before >= BYTES:
            before = feed.bytes
            yield builder.take()
    yield builder.take()


class _Builder:
    """Gathers items; the verdict keys wait until the batch is taken, for the names that its runs called."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = dict(settings)
        self._called: dict[str, frozenset[str]] = {}
        """By run; most runs call the same names, so that equal sets are one object."""
        self._name_sets: dict[frozenset[str], frozenset[str]] = {}
        self._waiting: list[Entry] = []
        self._batch = Batch()
        self.rows = 0

    def add(self, item: Item) -> None:
        self._batch.lines += 1
        match item:
            case Mapped(line, records, request):
                for position, record in enumerate(records):
                    self._sort(line, position, record, request)
                self.rows += len(records)
            case Skipped(_, why):
                self._batch.skipped[why] += 1
            case Quarantined():
                self._batch.quarantined.append(item)
                self.rows += 1

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
        if self._settings:
            generation = generation.model_copy(update=self._settings)
        keep = self._batch.keep
        content, reasoning = keep(generation.content), keep(generation.reasoning)
        tool_calls = keep(_calls_json(generation))
        tools = self._batch.keep_tools(_tools_json(generation))
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
            row=generation_row(generation, key, line, position, hashes, reply(generation)),
        )

    def take(self) -> Batch:
        """The batch so far; a fresh one begins."""
        batch = self._batch
        batch.generations = [self._judgeable(entry) for entry in self._waiting]
        self._batch, self._waiting, self.rows = Batch(), [], 0
        return batch

    def _judgeable(self, entry: Entry) -> Judgeable:
        inferred = () if entry.tools_known else tuple(sorted(self._called.get(entry.run_id, ())))
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


_TOOLS = TypeAdapter(list[Tool])
_CALLS = TypeAdapter(list[ToolCall])


def _tools_json(generation: Generation) -> str | None:
    if generation.tools is None:
        return None
    return _TOOLS.dump_json(generation.tools, exclude_unset=True).decode()


def _calls_json(generation: Generation) -> str | None:
    if generation.tool_calls is None:
        return None
    return _CALLS.dump_json(generation.tool_calls, exclude_unset=True).decode()
