"""Calls in JSON, one or several, whole, damaged or cut."""

import re
from collections.abc import Mapping
from typing import Any

from analysis.reading import Damages, Scan, TextCall, damages, skip_blanks, union
from analysis.reading.json_names import ARGUMENT_KEYS, NAME_KEYS, named, plain
from analysis.reading.json_values import JsonRead, read_arguments, read_json
from analysis.reading.values import JSON_LIKE, Broken, Cut, Values

Calls = tuple[tuple[TextCall, ...], int, Damages]
"""Calls, where they end, and what is wrong."""

_ARGUMENTS = "|".join(ARGUMENT_KEYS)
_LOST_HEAD = re.compile(rf'([\w.:/-]{{1,128}}+)"\s*,\s*"(?:{_ARGUMENTS})"\s*:\s*(?=\{{)')
_NAME_FIRST = re.compile(r'\{\s*"([\w.:/-]{1,128}+)"\s*(?=,\s*"(?:[^"\\]|\\.){1,64}+"\s*:)')
_HEAD = re.compile(
    r'\{\s*(?:"(?:type|id|tool_call_id|index)"\s*:\s*(?:"[^"]*+"|\d++)\s*,\s*)*+'
    rf'["\'](?:{"|".join(NAME_KEYS[:-1])})["\']\s*:\s*["\']?(?!\s)([^"\'\\,{{}}\n]{{1,128}}+)(["\']?)'
)
_HEAD_ARGUMENTS = re.compile(rf'\s*,\s*["\'](?:{_ARGUMENTS})["\']\s*:\s*(?=\{{)')
_CUT_HEAD = re.compile(r'[\[{\s]*+(?:"(?:[^"\\]{0,16}+"?(?:\s*:\s*"?)?)?)?$')


def read_json_calls(scan: Scan, at: int) -> Calls | None:
    """The calls of one or several JSON values from `at` on (parted by blanks, commas or semicolons); None where no
    call stands. A cut value gives the calls before it and `cut`, with its name if it shows."""
    calls: list[TextCall] = []
    damage: list[Damages] = []
    end = position = at
    while (read := read_json(scan, position)) is not None:
        found = _calls_of(scan, read)
        if found is None:
            break
        calls += found[0]
        damage.append(found[1])
        end = read.end
        position = _past_separator(scan.text, end)
        if read.cut:
            break
    if not damage:
        return None
    after = _past_extra_brackets(scan.text, end)
    return tuple(calls), after, union(damage) | damages("json_damage" if after > end else None)


def _past_separator(text: str, at: int) -> int:
    at = skip_blanks(text, at)
    return skip_blanks(text, at + 1) if at < len(text) and text[at] in ",;" else at


def _past_extra_brackets(text: str, at: int) -> int:
    """Closing brackets that nothing opened belong to the damage."""
    while at < len(text) and text[at] in "}]":
        at += 1
    return at


def _calls_of(scan: Scan, read: JsonRead) -> tuple[list[TextCall], Damages] | None:
    if read.cut:
        return _cut_calls(scan, read)
    found = None if read.value is None else named(read.value, scan.names)
    if found is None:
        return _unreadable(scan, read) if read.value is None else None
    text = scan.text[read.start : read.end] if len(found) == 1 else None
    calls = [
        TextCall(each.name, each.arguments, read.start, read.end, each.arguments or {}, arguments_text=text)
        for each in found
    ]
    return calls, read.damage | union(each.damage for each in found)


def _cut_calls(scan: Scan, read: JsonRead) -> tuple[list[TextCall], Damages] | None:
    """What a cut JSON value tells: the names in it, and the arguments that closed. A head cut before any name tells
    `cut` alone."""
    raw = scan.text[read.start : read.end]
    if not scan.charge(len(raw)):
        return None
    heads = [head for head in _HEAD.finditer(raw) if head[2]]
    if not heads and not (_HEAD.match(raw.lstrip("[ \r\n\t")) or _CUT_HEAD.match(raw)):
        return None
    calls = [_from_head(scan, read, head) for head in heads]
    whole = bool(calls) and calls[-1].arguments is not None and calls[-1].end >= scan.end
    return calls, damages("closer_missing" if whole else "cut")


def _from_head(scan: Scan, read: JsonRead, head: re.Match[str]) -> TextCall:
    """A call by the head of its JSON: whole if its own object closes. Else its arguments are told if their object
    closes; then the call ends with it if nothing else does."""
    start = read.start + head.start()
    own = read_json(scan, start) if start > read.start else None
    one = named(own.value, scan.names) if own and not own.cut else None
    if own and one:
        return TextCall(one[0].name, one[0].arguments, start, own.end, one[0].arguments or {})
    body = _HEAD_ARGUMENTS.match(scan.text, read.start + head.end())
    found = read_arguments(scan, body.end()) if body and read.cut else None
    whole = found.value if found and "cut" not in found.damage else None
    end = found.end if found and whole is not None else read.end
    return TextCall(plain(head[1]), whole, start, end, found.closed if found else {})


def _unreadable(scan: Scan, read: JsonRead) -> tuple[list[TextCall], Damages] | None:
    """JSON past repair: the name as a bare first string, or the name alone that its head shows."""
    first = _NAME_FIRST.match(scan.text, read.start)
    if first and (not scan.names or first[1] in scan.names):
        arguments = _members(scan, first.end(), read.end)
        if arguments is not None:
            return [TextCall(first[1], arguments, read.start, read.end, arguments)], damages("json_damage")
    raw = scan.text[read.start : read.end]
    heads = [each for each in _HEAD.finditer(raw) if each[2] and _HEAD_ARGUMENTS.match(raw, each.end())]
    scan.charge(len(raw))
    return ([_from_head(scan, read, each) for each in heads], damages("json_damage")) if heads else None


def _members(scan: Scan, start: int, end: int) -> Mapping[str, Any] | None:
    reader = Values("{" + scan.text[start:end].lstrip(" ,\r\n"), 0, JSON_LIKE)
    try:
        return reader.pairs(":")
    except (Cut, Broken):
        return None


def read_lost_head(scan: Scan, at: int) -> tuple[TextCall, int, Damages] | None:
    """`NAME", "arguments": {…}}`: a JSON call whose head is gone."""
    head = _LOST_HEAD.match(scan.text, at)
    body = read_arguments(scan, head.end()) if head else None
    if head is None or body is None:
        return None
    end = _past_extra_brackets(scan.text, body.end)
    return TextCall(head[1], body.value, at, end, body.closed), end, body.damage | {"json_damage"}
