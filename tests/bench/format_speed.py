"""How fast each log format is read: decoding and mapping, one core, on its own example again and again.

Each time it has other ids, so that nothing is a copy, and texts of a kilobyte, as real logs have.
"""

import io
import re
import time
from hashlib import md5
from statistics import median
from typing import Any

from pydantic_core import from_json, to_json

from ingest.collector import collector_at_rest
from ingest.files.contents import content
from ingest.files.framing import records
from ingest.formats import Format, Line, formats
from tests.ingest.test_otlp_protobuf import encoded, framed

TARGET = 20.0
"""Megabytes a second of every format."""
_BYTES = 4_000_000
_TEXT = ("content", "text", "value", "message", "stringValue", "result")
_FILLER = " The tests pass; what is left is in the notes of the file, step by step." * 14
_PROSE = re.compile(r"<|[A-Za-z][^<>{}:/]* ")
"""Words or markup: no name, no address, no model."""
_ID = re.compile(r"(?:^|[a-z_.])(?:id|uuid)$|ID$|Id$|^(?:id|uuid)", re.IGNORECASE)

_HEX = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
"""Digits of an id."""


def table(repeats: int) -> list[str]:
    """A line a format, slowest first."""
    read = [(each, each.name, _repeated(each)) for each in formats()]
    read += [(each, f"{name}, protobuf", _in_protobuf(data)) for each, name, data in read if name == "otlp"]
    measured = sorted((_speed(each, data, repeats), name) for each, name, data in read)
    return [
        f"{'reading a log format, one core':<58}{'MB/s':>9}  target ≥ {TARGET:.0f}",
        *(f"{name:<58}{speed:>9.0f}{'  below' if speed < TARGET else ''}" for speed, name in measured),
    ]


def _speed(of: Format, data: bytes, repeats: int) -> float:
    return median(_once(of, data) for _ in range(repeats))


def _once(of: Format, data: bytes) -> float:
    before = time.process_time()
    lines = (record for record in records(content("bench", io.BytesIO(data))) if isinstance(record, Line))
    with collector_at_rest():
        for _ in of.read(lines):
            pass
    return len(data) / 1e6 / (time.process_time() - before)


def _repeated(of: Format) -> bytes:
    """The example again and again, each time with other ids, so that nothing is a copy."""
    found = records(content("example", io.BytesIO(of.example.encode())))
    values = [record.value for record in found if isinstance(record, Line)]
    size = sum(len(to_json(value)) for value in values)
    return b"\n".join(to_json(_renamed(value, f"-{at}")) for at in range(_BYTES // size + 1) for value in values)


def _in_protobuf(lines: bytes) -> bytes:
    """Messages of OTLP/JSON as the Collector writes them in protobuf."""
    return framed(*(encoded(_with_ids(from_json(line))) for line in lines.splitlines()))


def _with_ids(value: Any) -> Any:
    """The same with ids of the length that protobuf wants."""
    match value:
        case dict():
            return {key: _hex(key, part) if key in _HEX else _with_ids(part) for key, part in value.items()}
        case list():
            return [_with_ids(part) for part in value]
        case _:
            return value


def _hex(key: str, name: str) -> str:
    return md5(name.encode(), usedforsecurity=False).hexdigest()[: _HEX[key]]


def _renamed(value: Any, suffix: str) -> Any:
    match value:
        case dict():
            return {
                key: _string(key, part, suffix) if isinstance(part, str) else _renamed(part, suffix)
                for key, part in value.items()
            }
        case list():
            return [_renamed(part, suffix) for part in value]
        case _:
            return value


def _string(key: str, text: str, suffix: str) -> str:
    """JSON in a text is a value like any other."""
    if _ID.search(key):
        return text + suffix
    if text[:1] in ("{", "[") and (inner := _json(text)):
        return to_json(_renamed(inner, suffix)).decode()
    return text + _FILLER if key in _TEXT and _PROSE.match(text) else text


def _json(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return None
