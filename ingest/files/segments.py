"""What of an input is read as one stream: a file or member by its format; all that have a joint format together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from pydantic_core import to_json

from ingest.detection import Choice, Doubt, decide
from ingest.errors import InputError, UnknownFormat
from ingest.files.archives import Member
from ingest.files.framing import Decoded, records
from ingest.formats import Format, Item, Line, Quarantined, Skipped
from ingest.redaction import Redactor

FIRST = 50
"""Decoded records that decide the format …"""
FIRST_BYTES = 32 << 20
"""… or as many as have so many bytes."""
LOOKED_AT = 16_384
"""Records of any kind that are looked at for them."""
READABLE = (
    "leakdown reads JSON (lines, documents, event streams), plain, .gz, .zst, in .zip and .tar, and OTLP protobuf"
)
UNREADABLE_IN_A_ROW = 100_000
"""Lines that wait for the next readable one; more would not fit in memory, and no run log looks like that."""


class Feed:
    """The decoded records of one member; `peek` looks at the first, which `rest` gives again."""

    def __init__(self, member: Member) -> None:
        self._decoded = records(member.open())

    def peek(self) -> list[Decoded]:
        """The first records, until enough of them decoded or they grow too large."""
        first: list[Decoded] = []
        decoded = size = 0
        for record in self._decoded:
            first.append(record)
            if isinstance(record, Line):
                decoded += 1
                size += len(record.raw)
            if decoded == FIRST or size > FIRST_BYTES or len(first) == LOOKED_AT:
                break
        self._decoded = chain(first, self._decoded)
        return first

    def rest(self) -> Iterator[Decoded]:
        """All records."""
        return self._decoded


@dataclass(slots=True)
class Segment:
    """Members that are read as one stream by one format; `bytes` of their records have been read so far."""

    format: Format
    parts: list["Part"]
    doubt: Doubt | None = None
    redactor: Redactor | None = None
    bytes: int = 0
    _aside: list[Item] = field(default_factory=list)
    """What did not decode goes around the format."""

    def items(self) -> Iterator[Item]:
        """What became of each record."""
        for item in self.format.read(self._good()):
            if self._aside:
                yield from self._take_aside()
            yield item
        yield from self._take_aside()

    def _good(self) -> Iterator[Line]:
        base = number = 0
        for part in self.parts:
            for record in part.records():
                record = renumbered(record, base + number_of(record)) if base else record
                if isinstance(record, Line):
                    number = record.number
                    self.bytes += len(record.raw)
                    yield self.redactor.line(record) if self.redactor else record
                else:
                    number = record.line
                    self._put_aside(part.member.name, record)
            base = number

    def _put_aside(self, name: str, record: Skipped | Quarantined) -> None:
        if self.redactor and isinstance(record, Quarantined):
            record = self.redactor.quarantined(record)
        self._aside.append(record)
        if len(self._aside) > UNREADABLE_IN_A_ROW:
            raise UnknownFormat(
                f"{name}:{record.line}: {UNREADABLE_IN_A_ROW:,} lines in a row hold no JSON; nothing was kept"
            )

    def _take_aside(self) -> list[Item]:
        taken, self._aside = self._aside, []
        return taken


@dataclass(slots=True)
class Part:
    """A member, what was found of it, and its records if it is still open."""

    member: Member
    choice: Choice
    feed: Feed | None

    def records(self) -> Iterator[Decoded]:
        """The records of the member; it is opened anew unless it still is."""
        feed, self.feed = self.feed or Feed(self.member), None
        return unfolded(feed.rest(), self.choice.key) if self.choice.key else feed.rest()


def unfolded(found: Iterator[Decoded], key: str) -> Iterator[Decoded]:
    """The elements of the list under `key` in each record, numbered on."""
    number = 0
    for record in found:
        inner = record.value.get(key) if isinstance(record, Line) and isinstance(record.value, dict) else None
        if not isinstance(inner, list):
            number += 1
            yield renumbered(record, number)
            continue
        for value in inner:
            number += 1
            yield Line(number, value, to_json(value))


def number_of(record: Decoded) -> int:
    """The number of a record."""
    return record.number if isinstance(record, Line) else record.line


def renumbered(record: Decoded, number: int) -> Decoded:
    """The same record under another number."""
    return replace(record, number=number) if isinstance(record, Line) else replace(record, line=number)


def segmented(
    members: Sequence[Member], name: str, chosen: Format | None, redactor: Redactor | None = None
) -> tuple[list[Segment], list[str]]:
    """The segments of an input, in the order of their first members, and why each other member was left out.

    UnknownFormat if no member is understood.
    """
    segments: dict[Format | int, Segment] = {}
    left_out: list[str] = []
    for at, member in enumerate(members):
        try:
            part = _part(member, chosen, keep_open=len(members) == 1)
        except InputError as fault:
            if len(members) == 1:
                raise
            left_out.append(str(fault))
            continue
        found = part.choice.format
        segment = segments.setdefault(found if found.joint else at, Segment(found, [], part.choice.doubt, redactor))
        segment.parts.append(part)
    if not segments:
        raise UnknownFormat(f"{name}: none of its {len(members):,} files was understood; of the first: {left_out[0]}")
    return list(segments.values()), left_out


def _part(member: Member, chosen: Format | None, *, keep_open: bool) -> Part:
    feed = Feed(member)
    first = feed.peek()
    if not first:
        raise UnknownFormat(f"{member.name}: empty; nothing was read")
    values = [record.value for record in first if isinstance(record, Line)]
    broken = next((record for record in first if isinstance(record, Quarantined)), None)
    if not values and broken and not chosen:
        raise UnknownFormat(f"{member.name}:{broken.line}: {broken.why}; {READABLE}")
    return Part(member, decide(values, member.name, chosen), feed if keep_open else None)
