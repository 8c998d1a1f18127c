"""JSON as models write it: read to its end, repaired where a person could read it, and told apart from a cut one."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.reading import Damages, Scan, damages
from analysis.reading.json_members import closed_pairs
from analysis.reading.values import JSON_LIKE, Broken, Cut, Values

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[{}\[\]]|```|~~~|<(?=[/|｜]?[A-Za-z/｜|])', re.DOTALL)
_WIRE_CLOSER = re.compile(
    r"\s*(?:</(?:[a-z]{1,16}[:_])?(?:tool_?calls?|function(?:_calls?)?|invoke|parameter|tools?)>|"
    r"<[|｜][\w▁ /]{1,40}[|｜]>|\[END_TOOL_REQUEST\])",
    re.IGNORECASE,
)
_OPENS = {"}": "{", "]": "["}
_CLOSES = {"{": "}", "[": "]"}
_PYTHON = re.compile(r"[\[{\s]*+'")
_NOT_JSON = object()
_DECODER = json.JSONDecoder(strict=False)
_EFFORT = 8
"""Steps that any value takes, however short."""


@dataclass(frozen=True, slots=True)
class JsonRead:
    """Where a JSON value stands, what it is (None: it cannot be told), and what was wrong."""

    start: int
    end: int
    value: Any
    damage: Damages

    @property
    def cut(self) -> bool:
        """True if the text ends inside it."""
        return "cut" in self.damage


@dataclass(frozen=True, slots=True)
class Arguments:
    """An object of arguments: all of them (None if that cannot be told), those told whole, its end and damage."""

    value: Mapping[str, Any] | None
    closed: Mapping[str, Any]
    end: int
    damage: Damages
    text: str | None


def read_arguments(scan: Scan, at: int) -> Arguments | None:
    """The object of arguments that begins at `at`; None where no object does."""
    read = read_json(scan, at)
    if read is None or scan.text[at] != "{":
        return None
    if read.cut:
        return Arguments(None, closed_members(scan, at), read.end, read.damage, None)
    value = read.value if isinstance(read.value, dict) else None
    return Arguments(value, value or {}, read.end, read.damage, scan.text[at : read.end])


def closed_members(scan: Scan, at: int) -> Mapping[str, Any]:
    """The outermost members that the object at `at` tells whole before the text ends."""
    scan.charge(len(scan.text) - at)
    return closed_pairs(scan.text, at, ":", JSON_LIKE)


def read_json(scan: Scan, at: int) -> JsonRead | None:
    """The object or list that begins at `at`; None where none does, or once the budget is spent."""
    if at >= len(scan.text) or scan.text[at] not in "{[":
        return None
    if at not in scan.memo:
        scan.memo[at] = _read(scan, at) if scan.charge(0, _EFFORT) else None
    found: JsonRead | None = scan.memo[at]
    return found


def _read(scan: Scan, at: int) -> JsonRead | None:
    if _PYTHON.match(scan.text, at):
        found = _python(scan, at)
        if found:
            return found
    extent = _extent(scan, at)
    if extent is None:
        return None
    end, still_open, ending = extent
    if ending == "cut":
        return JsonRead(at, end, None, frozenset({"cut"}))
    raw = scan.text[at:end]
    value = _loads(raw) if ending == "whole" else _NOT_JSON
    if value is not _NOT_JSON:
        return JsonRead(at, end, value, frozenset())
    closers = "".join(_CLOSES[each] for each in reversed(still_open))
    return JsonRead(at, at + len(raw.rstrip()), _repaired(scan, raw.rstrip() + closers), frozenset({"json_damage"}))


def _python(scan: Scan, at: int) -> JsonRead | None:
    """A dict or list in Python's quotation marks; None where none can be read."""
    reader = Values(scan.text, at, JSON_LIKE)
    try:
        value = reader.value()
    except Cut:
        scan.charge(len(scan.text) - at, reader.steps)
        return JsonRead(at, len(scan.text), None, frozenset({"cut"}))
    except Broken:
        scan.charge(reader.at - at, reader.steps)
        return None
    return JsonRead(at, reader.at, value, damages("json_damage")) if scan.charge(reader.at - at, reader.steps) else None


def _extent(scan: Scan, at: int) -> tuple[int, list[str], str] | None:
    """Where it ends, the brackets still open there, and how: whole, cut (the text ends), stopped (a tag or
    the end of its fence follows). None if the budget is spent on the way."""
    stack: list[str] = []
    position = at
    for token in _TOKEN.finditer(scan.text, at):
        if not scan.charge(token.end() - position):
            return None
        position, found = token.end(), token[0]
        if found[0] == '"':
            if not token[1]:
                return _unclosed(scan, token.start(), stack)
        elif found in "{[":
            stack.append(found)
        elif found in ("<", "```", "~~~"):
            return token.start(), stack, "stopped"
        elif _closed(stack, found):
            return token.end(), stack, "whole"
    return len(scan.text), stack, "cut"


def _closed(stack: list[str], bracket: str) -> bool:
    """Take what `bracket` closes from the stack; True if nothing is open any more."""
    while stack and stack[-1] != _OPENS[bracket]:
        stack.pop()
    if stack:
        stack.pop()
    return not stack


def _unclosed(scan: Scan, at: int, stack: list[str]) -> tuple[int, list[str], str]:
    """A string that never ends: the text ends in it, or it is damaged and the call's closer comes all the same."""
    closer = _WIRE_CLOSER.search(scan.text, at)
    scan.charge((closer.end() if closer else len(scan.text)) - at)
    return (closer.start(), stack, "stopped") if closer else (len(scan.text), stack, "cut")


def _loads(raw: str) -> Any:
    try:
        return _DECODER.decode(raw)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _repaired(scan: Scan, raw: str) -> Any:
    """The value by the tolerant reader; None if it cannot be told."""
    value = _loads(raw)
    if value is not _NOT_JSON:
        return value
    reader = Values(raw, 0, JSON_LIKE)
    try:
        return reader.value()
    except (Cut, Broken):
        return None
    finally:
        scan.charge(len(raw), reader.steps)
