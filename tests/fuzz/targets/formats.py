"""Every log format, on lines of its own shape: each line is answered once."""

import io
from collections.abc import Iterator
from functools import partial

from ingest.errors import InputError
from ingest.files.contents import content
from ingest.files.framing import records
from ingest.formats import Format, Line, Quarantined, Skipped, formats
from tests.fuzz.targets import Target, require

LIMIT = 1 << 16
"""Bytes of a line."""


def targets() -> Iterator[Target]:
    """One a format."""
    for each in formats():
        yield Target(f"format-{each.name}", partial(_read, each), (InputError,), (each.example.encode(),))


def _read(chosen: Format, data: bytes) -> None:
    lines = [each for each in records(content("fuzz", io.BytesIO(data)), LIMIT) if isinstance(each, Line)]
    require(0 <= chosen.sniff([line.value for line in lines]) <= 1, "a share is from 0 to 1")
    items = list(chosen.read(lines))
    require({item.line for item in items} == {line.number for line in lines}, "each line is answered")
    reasons = [item.why for item in items if isinstance(item, Quarantined | Skipped)]
    require(all(why and "\n" not in why for why in reasons), "a reason is one line")
