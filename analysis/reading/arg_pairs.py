"""GLM's pairs: `<arg_key>k</arg_key><arg_value>v</arg_value>`, with the prefixes and suffixes of its kin."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.reading import Damage, Damages, Scan, partial

_TOKEN = re.compile(
    r"(?P<key><(?:longcat_)?arg_key(?::\w{1,32}+)?>)|(?P<key_end></(?:longcat_)?arg_key(?::\w{1,32}+)?>)|"
    r"(?P<value><(?:longcat_)?arg_value(?::\w{1,32}+)?>)|(?P<value_end></(?:longcat_)?arg_value(?::\w{1,32}+)?>)|"
    r"(?P<opens><(?:longcat_)?tool_call(?::\w{1,32}+)?>)|"
    r"(?P<closes></(?:longcat_)?tool_call(?::\w{1,32}+)?>|<end_of_tool_call(?::\w{1,32}+)?>|</user>)"
)
_BLANKS = re.compile(r"(?:\\n|\s)*+")
_EDGES = re.compile(r"^(?:\\n|\s)++|(?:\\n|\s)++$")
_KEY_LIMIT = 256


@dataclass(frozen=True, slots=True)
class Pairs:
    """All arguments (None if the text ends within one), those that were closed, the end and the damage."""

    value: Mapping[str, Any] | None
    closed: Mapping[str, Any]
    end: int
    damage: Damages


@dataclass(frozen=True, slots=True)
class _Part:
    """A key or a value and what follows it: the token, or None at the end of the text."""

    text: str
    token: re.Match[str] | None

    @property
    def kind(self) -> str:
        """The kind of the token that follows."""
        return (self.token.lastgroup or "") if self.token else ""


def read_arg_pairs(scan: Scan, at: int) -> Pairs | None:
    """The pairs from `at` on; None where none stands."""
    found: dict[str, Any] = {}
    damage: set[Damage] = set()
    end = at
    while (head := _head(scan, end, not found)) is not None:
        start, wrong = head
        damage |= wrong
        key, key_damage = _key(scan, start)
        damage |= key_damage
        if key.token is None:
            return Pairs(None, found, len(scan.text), frozenset(damage | {"cut"}))
        if key.kind != "value":
            return Pairs(found or None, found, key.token.start(), frozenset(damage | {"closer_missing"}))
        value = _value(scan, key.token.end())
        if value.token is None:
            return Pairs(None, found, len(scan.text), frozenset(damage | {"cut"}))
        closed = value.kind == "value_end"
        found[key.text] = value.text if closed else value.text.rstrip("\n")
        damage |= set() if closed else {"closer_missing"}
        end = value.token.end() if closed else value.token.start()
    if found and _cut_key(scan, end):
        return Pairs(None, found, len(scan.text), frozenset(damage | {"cut"}))
    return Pairs(found, dict(found), end, frozenset(damage)) if found else None


def _cut_key(scan: Scan, at: int) -> bool:
    """True if the text ends in the tag of another key."""
    blanks = _BLANKS.match(scan.folded, at)
    position = blanks.end() if blanks else at
    return any(partial(scan, position, token) for token in ("<arg_key", "<longcat_arg_key"))


def _head(scan: Scan, at: int, first: bool) -> tuple[int, set[Damage]] | None:
    """Behind the opening of the next key; a second `<tool_call>` may stand for the first one's."""
    blanks = _BLANKS.match(scan.folded, at)
    position = blanks.end() if blanks else at
    token = _TOKEN.match(scan.folded, position)
    if token is None or not scan.charge(64):
        return None
    escaped: set[Damage] = {"escaped"} if "\\n" in scan.folded[at:position] else set()
    if token["key"]:
        return token.end(), escaped
    after = _TOKEN.search(scan.folded, token.end(), token.end() + _KEY_LIMIT)
    if first and token["opens"] and after and after["key_end"]:
        return token.end(), escaped | {"wrong_header"}
    return None


def _next(scan: Scan, start: int, at: int) -> _Part:
    token = _TOKEN.search(scan.folded, at)
    end = token.start() if token else len(scan.text)
    scan.charge(end - at)
    return _Part(scan.text[start:end], token)


def _key(scan: Scan, at: int) -> tuple[_Part, set[Damage]]:
    """The key, and the opening of its value as the token behind it (or what stands there instead)."""
    name = _next(scan, at, at)
    text = _EDGES.sub("", name.text[: _KEY_LIMIT * 2])
    if name.token is None or name.kind != "key_end":
        return _Part(text, name.token), {"closer_missing"}
    return _Part(text, _next(scan, at, name.token.end()).token), set()


def _value(scan: Scan, at: int) -> _Part:
    """The value up to its closer. Whole calls within it are part of it; a key that opens at a line's start, or in the
    value's own line, tells that the closer is missing, as does the call's closer."""
    depth = 0
    first: _Part | None = None
    part = _next(scan, at, at)
    while part.token is not None:
        if part.kind == "value_end":
            first = first or part
            if depth == 0:
                return part
        elif part.kind == "opens":
            depth += 1
        elif part.kind == "closes" and depth:
            depth -= 1
        elif depth == 0 and (part.kind == "closes" or (part.kind == "key" and _begins_line(part.text))):
            return _closed_later(scan, part, at) if part.kind == "closes" else part
        if not scan.charge(0):
            break
        part = _next(scan, at, part.token.end())
    return first or part


def _begins_line(text: str) -> bool:
    return text.endswith("\n") or "\n" not in text


def _closed_later(scan: Scan, part: _Part, at: int) -> _Part:
    """A call's closer that the value only names: its own closer follows before anything opens."""
    after = _next(scan, at, part.token.end() if part.token else at)
    return after if after.kind == "value_end" else part
