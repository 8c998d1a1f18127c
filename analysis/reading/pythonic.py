"""Calls in Python's syntax: `name(key="value", n=1)`, alone, in a list, or line by line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.reading import Damages, Scan, TextCall, damages, skip_blanks
from analysis.reading.json_calls import Calls
from analysis.reading.json_values import read_arguments
from analysis.reading.values import JSON_LIKE, PYTHON, Broken, Cut, Style, Values

NAME = r"[^\W\d][\w.:/-]{0,127}+"
_HEAD = re.compile(
    r"(?:default_api[.:]|functions\.|tools\.)?(?P<name>[^\W\d][\w:/-]{0,127}+(?:\.[\w:/-]{1,127}+){0,8}?)(?:\.call)?\("
)
_EFFORT = 8
"""Steps that any call takes, however short."""
_CLOSE = re.compile(r"\s*\)")


@dataclass(frozen=True, slots=True)
class _Inner:
    """What stands in a call's parentheses, and where they end."""

    value: Mapping[str, Any] | None
    closed: Mapping[str, Any]
    end: int
    damage: Damages


def read_call(scan: Scan, at: int) -> tuple[TextCall, Damages] | None:
    """One call from `at` on; with `cut` if the text ends inside it. None where none stands."""
    head = _HEAD.match(scan.text, at)
    if head is None or not scan.charge(head.end() - at, _EFFORT):
        return None
    inner = _inner(scan, head.end() - 1, head["name"] in scan.names)
    if inner is None:
        return None
    text = scan.text[head.end() : inner.end - 1] if inner.value is not None else None
    call = TextCall(head["name"], inner.value, at, inner.end, inner.closed, arguments_text=text)
    return call, inner.damage


def _inner(scan: Scan, at: int, offered: bool) -> _Inner | None:
    first = skip_blanks(scan.text, at + 1)
    if scan.text.startswith("{", first):
        return _object(scan, first)
    keywords = _pairs(scan, at, PYTHON, "=")
    keywords = keywords or _pairs(scan, at, JSON_LIKE, ":")
    return keywords or (_positional(scan, at) if offered else None)


def _object(scan: Scan, at: int) -> _Inner | None:
    """One JSON object in place of keywords."""
    read = read_arguments(scan, at)
    close = _CLOSE.match(scan.text, read.end) if read else None
    if read is None or (
        close is None and "cut" not in read.damage and skip_blanks(scan.text, read.end) < len(scan.text)
    ):
        return None
    missing = damages(None if close else "cut")
    return _Inner(read.value if close else None, read.closed, close.end() if close else read.end, read.damage | missing)


def _pairs(scan: Scan, at: int, style: Style, joint: str) -> _Inner | None:
    reader = Values(scan.text, at, style)
    try:
        found = reader.pairs(joint)
    except Cut:
        scan.charge(len(scan.text) - at, reader.steps)
        return _Inner(None, reader.closed, len(scan.text), damages("cut"))
    except Broken:
        scan.charge(reader.at - at, reader.steps)
        return None
    return _Inner(found, found, reader.at, frozenset()) if scan.charge(reader.at - at, reader.steps) else None


def _positional(scan: Scan, at: int) -> _Inner | None:
    """Values without keywords: whose they are is not told."""
    reader = Values(scan.text, at, PYTHON)
    try:
        reader.items()
    except (Cut, Broken):
        scan.charge(reader.at - at, reader.steps)
        return None
    return _Inner(None, {}, reader.at, damages("wrong_header"))


def builtin(scan: Scan, at: int) -> bool:
    """True if a call `NAME.call(` of Llama's built-in tools stands at `at`."""
    head = _HEAD.match(scan.text, at)
    return head is not None and head[0].endswith(".call(")


def read_list(scan: Scan, at: int) -> Calls | None:
    """`[f(a=1), g()]` from `at` on, or calls parted by commas, semicolons or line ends without brackets."""
    text = scan.text
    bracket = text.startswith("[", at)
    position = skip_blanks(text, at + 1) if bracket else at
    calls: list[TextCall] = []
    damage: Damages = frozenset()
    while (found := read_call(scan, position)) is not None:
        calls.append(found[0])
        damage |= found[1]
        after = skip_blanks(text, found[0].end)
        if "cut" in found[1] or after >= len(text):
            break
        if bracket and text[after] == "]":
            return tuple(calls), after + 1, damage
        if text[after] in ",;":
            position = skip_blanks(text, after + 1)
        elif not bracket and "\n" in text[found[0].end : after]:
            position = after
        else:
            break
    return _ended(text, calls, damage, bracket)


def _ended(text: str, calls: list[TextCall], damage: Damages, bracket: bool) -> Calls | None:
    """Calls whose closing bracket did not come: missing if the text ends there, cut behind a comma, else no list."""
    if not calls or not bracket or "cut" in damage:
        return (tuple(calls), calls[-1].end, damage) if calls else None
    rest = skip_blanks(text, calls[-1].end)
    if rest >= len(text):
        return tuple(calls), calls[-1].end, damage | {"closer_missing"}
    ended = text[rest] in ",;" and skip_blanks(text, rest + 1) >= len(text)
    return (tuple(calls), calls[-1].end, damage | {"cut"}) if ended else None
