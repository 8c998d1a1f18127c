"""Patterns in RE2's syntax: one search of a text is linear in it, whatever the pattern and the text.

To keep that, a rule asks for its first match alone. What would turn a match down stands in the pattern itself: code
is covered up in the text beforehand, the position is an anchor, and `{tool}` is an alternation of the offered names.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import re2

NAMES = "{tool}"
MEMORY = 4 * 2**20
"""Bytes for a compiled pattern and its states."""
INSTRUCTIONS = 1_000
"""Of a compiled pattern: the worst that a text can cost is its length times this, two thirds of a second a megabyte."""
_POSITIONS = {
    "anywhere": "({})",
    "line": r"(?m:^)[ \t]*({})",
    "start": r"\A[ \t\r\n]*({})",
    "whole": r"\A[ \t\r\n]*({})[ \t\r\n]*\z",
}


def check(pattern: str) -> None:
    """ValueError for what is no pattern, too large a one, or one that matches nothing at all."""
    names = _names_at(pattern)
    if len(names) > 1:
        raise ValueError(f"{NAMES} may stand once; it stands {len(names)} times")
    compiled = _compiled(_with_names(pattern, frozenset({"tool"})))
    if compiled.programsize > INSTRUCTIONS:
        raise ValueError(f"too large: {compiled.programsize:,} instructions, {INSTRUCTIONS:,} are allowed")
    if compiled.search(""):
        raise ValueError("it matches an empty text; it must match something")


def literals(of: Iterable[str]) -> str:
    """The pattern of any of these literals: the longest that stands at a place."""
    return "|".join(re2.escape(each) for each in sorted(of, key=len, reverse=True))


@lru_cache(maxsize=1024)
def compiled(pattern: str, position: str, names: frozenset[str]) -> Any:
    """The pattern at this position with the offered names in it; None where no name is offered and one is needed.

    Group 1 is the whole match without the blanks around it. ValueError where the names make it too large.
    """
    if _names_at(pattern) and not names - {""}:
        return None
    return _compiled(_POSITIONS[position].format(_with_names(pattern, names)))


def needs_names(pattern: str) -> bool:
    """Whether the offered names stand in the pattern."""
    return bool(_names_at(pattern))


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as fault:
        told = fault.args[0].decode("utf-8", "replace") if isinstance(fault.args[0], bytes) else str(fault)
        raise ValueError(f"no pattern of RE2: {told}") from None
    except UnicodeEncodeError:
        raise ValueError("half a surrogate pair is no text") from None


def _with_names(pattern: str, names: frozenset[str]) -> str:
    at = next(iter(_names_at(pattern)), None)
    if at is None:
        return pattern
    offered = "|".join(re2.escape(_text(name)) for name in sorted(names - {""}, key=lambda name: (-len(name), name)))
    return f"{pattern[:at]}(?P<tool>{offered}){pattern[at + len(NAMES) :]}"


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _names_at(pattern: str) -> list[int]:
    """Where `{tool}` stands without a backslash before it."""
    found, at = [], pattern.find(NAMES)
    while at >= 0:
        before = pattern[:at]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            found.append(at)
        at = pattern.find(NAMES, at + 1)
    return found
