"""JSON Lines: each line is one JSON value (RFC 8259), or it is told why not.

The parser nests 201 levels deep at most, keeps integers exact up to 4,300 digits, and lets the last of
equal keys win.
"""

import re
from collections.abc import Iterable, Iterator

from pydantic_core import from_json

from ingest.files.containers import RawLine
from ingest.formats import Line, Quarantined, Skipped, excerpt

DEEPEST = 200
"""Levels that any line may nest; the parser itself refuses the second one beyond."""

_ESCAPE = re.compile(
    rb"""\\(?: u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2}   # a pair: a character
           | (?P<lone> u[dD][89a-fA-F][0-9a-fA-F]{2} )
           | . )""",
    re.VERBOSE | re.DOTALL,
)
_PLACE = re.compile(r" at line 1 column (\d+)$")
_CONSTANT = re.compile(rb"NaN|Infinity")


def decode(lines: Iterable[RawLine]) -> Iterator[Line | Skipped | Quarantined]:
    """One answer a line, in order.

    A `\\u` escape of half a surrogate pair is valid JSON but no text: it becomes U+FFFD, and the line
    is marked as mended.
    """
    for line in lines:
        if line.fault is not None:
            yield Quarantined(line.number, line.fault, excerpt(line.data))
            continue
        try:
            value = from_json(line.data, allow_inf_nan=False)
        except ValueError as fault:
            yield _without_value(line, str(fault))
        else:
            yield Line(line.number, value, line.data)


def _without_value(line: RawLine, message: str) -> Line | Skipped | Quarantined:
    if not line.data.strip():
        return Skipped(line.number, "blank line")
    if "hex escape" in message and (mended := _mended(line.data)) != line.data:
        try:
            return Line(line.number, from_json(mended, allow_inf_nan=False), line.data, mended=True)
        except ValueError as fault:
            return Quarantined(line.number, _reason(mended, str(fault)), excerpt(line.data))
    return Quarantined(line.number, _reason(line.data, message), excerpt(line.data))


def _mended(data: bytes) -> bytes:
    """`data` with each lone surrogate escape as the escape of U+FFFD, which is as long."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match["lone"] else match[0], data)


def _reason(data: bytes, message: str) -> str:
    """Why `data` is no JSON value, given what the parser said; one line for a person."""
    if (position := _not_utf8(data)) is not None:
        return f"invalid UTF-8 at byte {position + 1}"
    if "EOF while parsing" in message:
        return "ends in the middle of a JSON value (a cut copy?)"
    if "recursion limit" in message:
        return f"nested deeper than {DEEPEST} levels"
    if "number out of range" in message:
        return "a number of more than 4,300 digits"
    if constant := _constant(data, message):
        return f"{constant} is not JSON"
    return "not JSON: " + _PLACE.sub(r" at byte \1", message)


def _not_utf8(data: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8; None if there is none, or only a cut last character."""
    try:
        data.decode()
    except UnicodeDecodeError as fault:
        return None if fault.reason == "unexpected end of data" else fault.start
    return None


def _constant(data: bytes, message: str) -> str | None:
    """The constant of JavaScript, not of JSON, at which the parser stopped."""
    place = _PLACE.search(message)
    found = _CONSTANT.match(data, int(place[1]) - 1) if place else None
    return found[0].decode() if found else None
