"""Log formats: one module each, chosen by content. Docs: CONTRIBUTING, "Add a log format".

A format reads decoded lines and answers each with what became of it, so that the lines of a file balance:
mapped + skipped + duplicate + quarantined = lines (duplicates are found where records are stored).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ingest.plugins import discover
from ingest.records import Record

EXCERPT = 200
"""Characters of a quarantined line that are kept."""


@dataclass(slots=True)
class Line:
    """One decoded line: its number from 1, its JSON value, its bytes. Not frozen, nor are `Mapped` and
    `Skipped`: that takes three times as long to make, and a million of these are made a second."""

    number: int
    value: Any
    raw: bytes
    mended: bool = False
    """True if lone surrogates were replaced by U+FFFD, one for one, since no database holds them."""


@dataclass(slots=True)
class Mapped:
    """The records of one line, and for each generation the hash of its request where the record lacks it."""

    line: int
    records: tuple[Record, ...]
    request: bytes | None = None


@dataclass(slots=True)
class Skipped:
    """A line that is understood and holds no record."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A line that is not understood: kept with its number, the reason and an excerpt."""

    line: int
    why: str
    excerpt: str


Item = Mapped | Skipped | Quarantined


@dataclass(frozen=True, slots=True)
class Format:
    """A log format.

    `sniff` gives the share (0 to 1) of the first decoded lines that it recognises. `read` yields one Item a line;
    for a whole document (one line that holds a run) one Item a record in it, numbered from 1. `example` is a
    small file of the format. The four texts after it are what docs/formats.md says: how it is recognised, what it
    carries, what it cannot say, and how to get a better log out of the tool. Of formats that recognise as much,
    the least `generic` is taken: 0 is a tool's own format, 1 a provider's bodies, 2 a mere list of messages. The
    members of an archive that have a `joint` format are read as one stream, since each holds what another lacks;
    with `across_files` the files of a folder are too, which makes them one upload.
    """

    name: str
    title: str
    sniff: Callable[[Sequence[Any]], float]
    read: Callable[[Iterable[Line]], Iterator[Item]]
    example: str
    recognised: str
    carries: str
    lacks: str
    better: str
    generic: int = 0
    joint: bool = False
    across_files: bool = False


def quarantined(line: Line, why: str) -> Quarantined:
    """`line` in quarantine."""
    return Quarantined(line.number, why, excerpt(line.raw))


def excerpt(raw: bytes) -> str:
    """The start of a line as text, however broken its bytes are."""
    return raw[: 4 * EXCERPT].decode("utf-8", "replace")[:EXCERPT]


def share(values: Sequence[Any], recognises: Callable[[Any], bool]) -> float:
    """The share of `values` that a format recognises; 0 for none."""
    return sum(map(recognises, values)) / len(values) if values else 0.0


@cache
def formats() -> tuple[Format, ...]:
    """All formats, by name."""
    return discover(sys.modules[__name__], Format)
