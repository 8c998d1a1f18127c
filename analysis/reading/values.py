"""Values as models write them: JSON and Python literals, mixed, and Gemma's pairs, read from a position on.

`{"a": 1}`, `{'a': True}`, `{a: "b" c: 2}`, `key="value", n=1`, `{city:<|"|>Oslo<|"|>,days:3}`. Nothing is evaluated.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from analysis.reading import Damage, skip_blanks

DEEPEST = 100
"""Brackets within brackets; deeper text is no value."""


class Cut(Exception):
    """The text ends inside the value."""


class Broken(Exception):
    """No value stands here."""


@dataclass(frozen=True, slots=True)
class Style:
    """What is allowed: quotation marks, words without any (`bare`), members without a comma between (`lenient`)."""

    quotes: tuple[str, ...]
    bare: re.Pattern[str] | None
    lenient: bool


_PLAIN_QUOTES = ('"""', "'''", '"', "'")
JSON_LIKE = Style(_PLAIN_QUOTES, re.compile(r"[^\W\d][\w./-]*+"), lenient=True)
PYTHON = Style(_PLAIN_QUOTES, None, lenient=False)
GEMMA = Style(('<|"|>', '<｜"｜>', "<escape>", '"', "'"), re.compile(r"[^,{}\[\]<()]*+"), lenient=True)

_LONGEST_QUOTE = max(map(len, GEMMA.quotes)) + 2

_KEY = re.compile(r"[\w.-]{1,128}+")
_NUMBER = re.compile(r"-?\d[\d_]*+(?:\.\d*+)?(?:[eE][+-]?\d++)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z]++")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_BODIES = {'"': re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL), "'": re.compile(r"(?:[^'\\]|\\.)*+", re.DOTALL)}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", '"': '"', "'": "'", "/": "/", "\n": ""}
_WIRE_END = re.compile(r"<(?:tool_call\||end_function_call|\|tool_response)")
_ENDS = "\"'>}])"
"""What a value that closes by itself ends with; a number or a word may go on."""
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


class Values:
    """A reader at a position of a text. `closed` holds the outermost pairs that were read whole, even if the text
    ends later; `steps` counts what was looked at."""

    def __init__(self, text: str, at: int, style: Style) -> None:
        self.text, self.at, self.style = text, at, style
        self.closed: dict[str, Any] = {}
        self.damage: set[Damage] = set()
        self.steps = 0

    def pairs(self, joint: str, depth: int = 0) -> dict[str, Any]:
        """Pairs with `joint` between key and value, from the opening bracket to behind the closing one."""
        closer = self._open(depth)
        found: dict[str, Any] = {} if depth else self.closed
        while (first := self._next()) != closer:
            if first == "<" and self._wire_end():
                return found
            key = self._key(joint)
            value = self.value(depth + 1)
            if not isinstance(value, int | float | None) and self.text[self.at - 1] in _ENDS:
                found[key] = value  # it closed, whatever the text still shows
            self._separator(closer)
            found[key] = value
        self.at += 1
        return found

    def value(self, depth: int = 0) -> Any:
        """One value of any kind."""
        first = self._next()
        quote = next((each for each in self.style.quotes if self.text.startswith(each, self.at)), None)
        if quote:
            return self._string(quote)
        if first == "{":
            return self.pairs(":", depth)
        if first in "[(":
            return self.items(depth)
        return self._scalar()

    def items(self, depth: int = 0) -> list[Any]:
        """Values in brackets, from the opening one to behind the closing one."""
        closer = self._open(depth)
        found: list[Any] = []
        while self._next() != closer:
            before = self.at
            found.append(self.value(depth + 1))
            self._separator(closer)
            if self.at == before:
                raise Broken
        self.at += 1
        return found

    def _open(self, depth: int) -> str:
        if depth > DEEPEST:
            raise Broken
        closer = _CLOSERS[self.text[self.at]]
        self.at += 1
        return closer

    def _next(self) -> str:
        """The next character that is no blank."""
        self.steps += 1
        self.at = skip_blanks(self.text, self.at)
        if self.at >= len(self.text):
            raise Cut
        return self.text[self.at]

    def _separator(self, closer: str) -> None:
        mark = self._next()
        if mark == ",":
            self.at += 1
        elif mark != closer and not self.style.lenient:
            raise Broken

    def _wire_end(self) -> bool:
        """True at a token that ends the call, with the bracket still open."""
        if self.style is not GEMMA or not _WIRE_END.match(self.text, self.at):
            return False
        self.damage.add("json_damage")
        return True

    def _key(self, joint: str) -> str:
        quote = next((each for each in self.style.quotes if self.text.startswith(each, self.at)), None)
        if quote:
            key = self._string(quote)
        else:
            bare = _KEY.match(self.text, self.at)
            if bare is None:
                raise Broken
            key, self.at = bare[0], bare.end()
        if self._next() != joint:
            raise Broken
        self.at += 1
        return key

    def _scalar(self) -> Any:
        number = _NUMBER.match(self.text, self.at)
        if number and self._ends_at(number.end()):
            self.at = number.end()
            return _number(number[0])
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS and self._ends_at(word.end()):
            self.at = word.end()
            return _WORDS[word[0]]
        if self.text[self.at] == "<" and self._cut_quote():
            raise Cut
        bare = self.style.bare.match(self.text, self.at) if self.style.bare else None
        if bare is None or (self.style is not GEMMA and not bare[0]):
            if word and word.end() >= len(self.text):
                raise Cut
            raise Broken
        self.at = bare.end()
        return bare[0].strip()

    def _cut_quote(self) -> bool:
        """True if the text ends within a quotation mark at `at`."""
        rest = self.text[self.at : self.at + _LONGEST_QUOTE].rstrip()
        ended = not self.text[self.at + len(rest) : self.at + _LONGEST_QUOTE + 1].strip()
        return ended and any(each.startswith(rest) for each in self.style.quotes)

    def _ends_at(self, end: int) -> bool:
        after = skip_blanks(self.text, end)
        return after >= len(self.text) or self.text[after] in ",)]}<\"'" or self.style is JSON_LIKE

    def _string(self, quote: str) -> str:
        start = self.at + len(quote)
        body = _BODIES.get(quote)
        inner = body.match(self.text, start) if body else None
        end = inner.end() if inner else self._find(quote, start)
        if end < 0:
            return self.text[start : self.at]
        if end >= len(self.text):
            raise Cut
        self.at = end + len(quote)
        raw = self.text[start:end]
        return _ESCAPE.sub(_unescaped, raw) if body and "\\" in raw else raw

    def _find(self, quote: str, start: int) -> int:
        """Where `quote` comes again. -1, with `at` on the last brace, if a wire token ends the call before."""
        end = self.text.find(quote, start)
        stop = _WIRE_END.search(self.text, start, end if end >= 0 else len(self.text)) if self.style is GEMMA else None
        closing = self.text.rfind("}", start, stop.start()) if stop else -1
        if closing >= 0:
            self.damage.add("json_damage")
            self.at = closing
            return -1
        return end if end >= 0 else len(self.text)


def _number(raw: str) -> Any:
    try:
        return json.loads(raw.replace("_", ""))
    except ValueError:
        return raw


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, found[0])
