"""JSON values that are spread over lines: one document, several back to back, or the elements of one array.

A value is found with the standard library's scanner, which tells where it ends, and decoded like a line. Only one
value is in memory at a time.
"""

import codecs
import json
import re
from collections.abc import Iterator

from pydantic_core import from_json, to_json

from ingest.files.containers import LINE_LIMIT, RawLine, size
from ingest.files.contents import Content
from ingest.files.jsonlines import DEEPEST, decode
from ingest.formats import Line, Quarantined, Skipped, excerpt

_PIECE = 1 << 20
_NEAR = 16
"""Characters before the end of what has been read within which a fault may only mean that more is to come."""
_RESTART = re.compile(r"\n(?=[{\[])")
"""Where reading goes on after a fault: a value at the start of a line."""
_SPACE = re.compile(r"[ \t\r\n]*")
_scan = json.JSONDecoder(parse_int=len, parse_float=len).raw_decode
"""Tells where a value ends; numbers are not made, since their digits may be many."""


def values(found: Content, limit: int = LINE_LIMIT) -> Iterator[Line | Skipped | Quarantined]:
    """The values of a content, decoded and numbered from 1; the elements where the text is an array.

    A value that is no JSON is quarantined, and reading goes on at the next that begins a line. Of a document that
    was cut, what can be read comes first, then a fault.
    """
    return _Values(found, limit).records()


class _Values:
    """A text being read: the characters at hand, and the place in them."""

    def __init__(self, found: Content, limit: int) -> None:
        self._found, self._limit = found, limit
        self._text, self._at = "", 0
        self._ended = False
        self._number = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._in_array = False

    def records(self) -> Iterator[Line | Skipped | Quarantined]:
        """Every value, and every fault."""
        while self._next_value():
            end = self._end_of_value()
            if isinstance(end, str):
                yield from self._faulty(end)
            else:
                raw = self._text[self._at : end].encode("utf-8", "surrogateescape")
                self._at = end
                self._number += 1
                yield from decode([RawLine(self._number, raw)])
        if fault := self._found.broken():
            self._number += 1
            yield Quarantined(self._number, fault, "")

    def _more(self) -> bool:
        """Read on; False at the end."""
        if self._ended:
            return False
        piece = self._found.stream.read(max(_PIECE, len(self._text) - self._at))
        self._ended = not piece
        self._text = self._text[self._at :] + self._decoder.decode(piece, final=not piece)
        self._at = 0
        return bool(piece)

    def _next_value(self) -> bool:
        """Go to the start of the next value, through the brackets and commas of an array; False at the end."""
        first = self._number == 0
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            char = self._text[self._at : self._at + 1]
            if not char:
                if not self._more():
                    return False
            elif char == "[" and not self._in_array and first:
                self._in_array, first = True, False
                self._at += 1
            elif char in ",]" and self._in_array:
                self._in_array = char == ","
                self._at += 1
            else:
                return True

    def _end_of_value(self) -> int | str:
        """Where the value at hand ends, or why it is none."""
        while True:
            try:
                value, end = _scan(self._text, self._at)
                if end < len(self._text) or isinstance(value, dict | list | str) or not self._more():
                    return end
            except RecursionError:
                return f"nested deeper than {DEEPEST} levels"
            except json.JSONDecodeError as fault:
                if fault.pos < len(self._text) - _NEAR and not fault.msg.startswith("Unterminated string"):
                    return f"not JSON: {fault.msg[0].lower()}{fault.msg[1:]} (character {fault.pos - self._at + 1})"
                if len(self._text) - self._at > self._limit:
                    return f"longer than {size(self._limit)}"
                if not self._more():
                    return "ends in the middle of a JSON value (a cut copy?)"

    def _faulty(self, why: str) -> Iterator[Line | Skipped | Quarantined]:
        rest = self._text[self._at : self._at + self._limit].encode("utf-8", "surrogateescape")
        if why.startswith("ends in the middle") and not self._in_array and (value := _partial(rest)):
            self._number += 1
            yield Line(self._number, value, to_json(value))
        self._number += 1
        yield Quarantined(self._number, why, excerpt(rest))
        self._skip()

    def _skip(self) -> None:
        """Go to the next value that begins a line, or to the end."""
        self._at += 1
        while not (match := _RESTART.search(self._text, self._at)):
            self._at = max(self._at, len(self._text) - 1)
            if not self._more():
                self._at = len(self._text)
                return
        self._at = match.end()
        self._in_array = False


def _partial(text: bytes) -> dict[str, object] | None:
    """What a document holds up to where it was cut; None if that is nothing."""
    try:
        value = from_json(text, allow_inf_nan=False, allow_partial=True)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None
