"""The syntax of gates: an expression over figures, parsed by hand, since it may come from a pull request and nothing
of it may ever be evaluated as code.

    gate       = and-part { "or" and-part }
    and-part   = part { "and" part }
    part       = "not" part | "(" gate ")" | value OPERATOR value
    value      = number | figure          at least one of the two is a figure
    figure     = a dotted path into the report's JSON; a number in it counts from 0 in a list
    OPERATOR   = "<" "<=" ">" ">=" "==" "!="
"""

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from ingest.errors import UsageError

DEEPEST = 50
"""Levels of brackets and of `not`."""

Number = int | float
COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_TOKEN = re.compile(
    r"""(?P<figure>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)
      | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z0-9_.]))
      | (?P<operator><=|>=|==|!=|<|>)
      | (?P<bracket>[()])
      | (?P<wrong>&&?|\|\|?|=|!|[^\s])""",
    re.VERBOSE | re.ASCII,
)
_WORDS = ("and", "or", "not")
_INSTEAD = {
    "&": "and", "&&": "and", "|": "or", "||": "or", "!": "not", "=": "==", "%": "a fraction, 0.9 for 90 %",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """A dotted path into the report, and the column (from 1) where the expression names it."""

    path: str
    column: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values compared."""

    left: Figure | Number
    compare: str
    right: Figure | Number


@dataclass(frozen=True, slots=True)
class Not:
    """The contrary of a part."""

    part: "Part"


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts of which all (`and`) or any (`or`) must be true."""

    word: str
    parts: tuple["Part", ...]


Part = Comparison | Not | Joined


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


class Parser:
    """Recursive descent, one token of look-ahead."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = list(self._read())
        self._at = self._depth = 0

    def whole(self) -> Part:
        """The whole expression; UsageError."""
        part = self._joined("or")
        if self._next.kind != "end":
            self._wrong("and, or, or the end")
        return part

    def _read(self) -> Iterator[_Token]:
        for found in _TOKEN.finditer(self._expression):
            word = found[0] in _WORDS
            yield _Token("word" if word else str(found.lastgroup), found[0], found.start() + 1)
        yield _Token("end", "the end", len(self._expression) + 1)

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _took(self, *texts: str) -> str | None:
        """The next token, passed over if it is one of `texts`."""
        text = self._next.text
        if self._next.kind == "end" or text not in texts:
            return None
        self._at += 1
        return text

    def _joined(self, word: str) -> Part:
        parts = [self._one(word)]
        while self._took(word):
            parts.append(self._one(word))
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _one(self, word: str) -> Part:
        return self._joined("and") if word == "or" else self._part()

    def _part(self) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            self._wrong(f"at most {DEEPEST} levels")
        if self._took("not"):
            part: Part = Not(self._part())
        elif self._took("("):
            part = self._joined("or")
            if not self._took(")"):
                self._wrong("and, or, or )")
        else:
            part = self._comparison()
        self._depth -= 1
        return part

    def _comparison(self) -> Comparison:
        start = self._next
        left = self._value()
        compare = self._took(*COMPARE) or self._wrong("one of " + " ".join(COMPARE))
        right = self._value()
        if not isinstance(left, Figure) and not isinstance(right, Figure):
            self._refuse(start.column, "two numbers are compared; name a figure, such as labelled.new_fp")
        return Comparison(left, compare, right)

    def _value(self) -> Figure | Number:
        token = self._next
        if token.kind not in ("figure", "number"):
            self._wrong("a figure, such as labelled.new_fp, or a number")
        self._at += 1
        if token.kind == "figure":
            return Figure(token.text, token.column)
        value = float(token.text)
        if math.isinf(value):
            self._refuse(token.column, "a number too large to compare with")
        return int(value) if value.is_integer() else value

    def _wrong(self, expected: str) -> NoReturn:
        token = self._next
        instead = _INSTEAD.get(token.text)
        found = token.text if token.kind == "end" else repr(token.text)
        self._refuse(
            token.column, f"write {instead}, not {found}" if instead else f"expected {expected}, found {found}"
        )

    def _refuse(self, column: int, why: str) -> NoReturn:
        marked = f"{self._expression[: column - 1]}^{self._expression[column - 1 :]}"
        raise UsageError(f"--fail-on, column {column} (at the ^): {why}: {marked}")
