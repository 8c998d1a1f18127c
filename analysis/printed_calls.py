"""Calls that a model printed instead of making them: the reply ends in a JSON object or a line that is one.

Only the last block of a reply is looked at, which may be all of it: a fenced block whose body is one JSON object, an
object that begins at the start of a line, or the last line. What stands in the middle of a reply is talk about a call.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.json_values import UnreadableJson, bounded_json
from analysis.markdown import Region, fences, outside
from analysis.output import Call, Output

NAME_KEYS = frozenset(("name", "tool", "tool_name", "function", "function_name"))
ARGUMENT_KEYS = frozenset(("arguments", "parameters", "args", "input", "tool_input"))
WRAPPERS = frozenset(("function", "tool_call", "tool_calls", "function_call"))
BESIDE = frozenset(("id", "type", "index", "call_id", "tool_call_id"))
"""Members that may stand beside a name and its arguments, or beside a wrapper. With any other the object is no call."""

_MARKS = re.compile(r"`{3,}+|~{3,}+")
# What may follow "(": JSON, a quoted or numeric first argument, or a keyword argument.
_FIRST_ARGUMENT = re.compile(r"[\"'{\[]|-?[0-9]|[\w-]++[ \t]*+=")


@dataclass(frozen=True, slots=True)
class PrintedCall:
    """Code points [start, end) of a text, what stands there, and the calls that it prints: at least one."""

    start: int
    end: int
    form: str
    calls: tuple[Call, ...]


def printed_call(output: Output) -> PrintedCall | None:
    """What the last block of the content prints, if it is a call of an offered tool and no code around it says more."""
    text, names = output.content or "", output.offered_names
    end = len(text.rstrip())
    if not end or not names:
        return None
    if text[end - 1] in "`~}" and (fence := _last_fence(output, end)):
        return _fenced(text, fence, end, names)
    found = _bare_object(text, end, names) or _line(text, end, names)
    if found and next(outside([found.start], output.content_code), None) is None:
        return None
    return found


def calls_in(value: Any, names: Collection[str]) -> tuple[Call, ...]:
    """The calls that a JSON value is, if it is nothing else and every one is of an offered tool; else none."""
    if not isinstance(value, dict):
        return ()
    members = [key for key in value if key not in BESIDE]
    if len(members) == 2:
        return _call(value, members, names)
    if len(members) != 1 or members[0] not in WRAPPERS:
        return ()
    inner = value[members[0]]
    each = [calls_in(item, names) for item in (inner if isinstance(inner, list) else [inner])]
    return tuple(call for calls in each for call in calls) if all(each) else ()


def _call(value: Mapping[str, Any], members: Sequence[str], names: Collection[str]) -> tuple[Call, ...]:
    name_key, *others = sorted(members, key=lambda key: key not in NAME_KEYS)
    name = value[name_key]
    if name_key not in NAME_KEYS or others[0] not in ARGUMENT_KEYS or not isinstance(name, str) or name not in names:
        return ()
    arguments = _arguments(value[others[0]])
    return () if arguments is None else (Call(name, arguments),)


def _arguments(value: Any) -> str | None:
    """Arguments as text: an object, or a string that holds one. A tool's schema is its definition, not a call."""
    inner = _object(value) if isinstance(value, str) else value
    if not isinstance(inner, dict) or (inner.get("type") == "object" and isinstance(inner.get("properties"), dict)):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = bounded_json(text)
    except UnreadableJson:
        return None
    return value if isinstance(value, dict) else None


def _last_fence(output: Output, end: int) -> Region | None:
    """The fence that is the last block, closed or not."""
    fence = next(reversed(fences(output.content_code)), None)
    return fence if fence and fence.end >= end else None


def _fenced(text: str, fence: Region, end: int, names: Collection[str]) -> PrintedCall | None:
    head, _, body = text[fence.start : end].partition("\n")
    mark = _MARKS.match(head)
    before, _, last = body.rpartition("\n")
    if mark and last.strip().startswith(mark[0]):
        body = before
    calls = calls_in(_object(body), names)
    return PrintedCall(fence.start, end, "a fenced JSON object", calls) if calls else None


def _bare_object(text: str, end: int, names: Collection[str]) -> PrintedCall | None:
    """An object that is the whole reply or begins a line; also a tool's name with its arguments on the line below."""
    whole, last = len(text) - len(text.lstrip()), text.rfind("\n{", 0, end) + 1
    for start in sorted({whole, last}):
        value = _object(text[start:end]) if text[start] == "{" and text[end - 1] == "}" else None
        if calls := calls_in(value, names):
            return PrintedCall(start, end, "a JSON object", calls)
        above = _line_before(text, start)
        name = text[above:start].strip()
        if value is not None and name and name in names:
            call = Call(name, text[start:end])
            return PrintedCall(above, end, "a line that is a tool's name, with its arguments below", (call,))
    return None


def _line(text: str, end: int, names: Collection[str]) -> PrintedCall | None:
    start = text.rfind("\n", 0, end) + 1
    start += len(text[start:end]) - len(text[start:end].lstrip())
    line = text[start:end]
    if line in names:
        # One name below the other is a list of tools.
        listed = text[_line_before(text, start) : start].strip() in names
        return None if listed else PrintedCall(start, end, "a line that is a tool's name", (Call(line),))
    call = _line_with_arguments(line, names)
    return PrintedCall(start, end, "a line that is a tool's name with arguments", (call,)) if call else None


def _line_with_arguments(line: str, names: Collection[str]) -> Call | None:
    opening = re.search(r"[({]", line)
    if opening is None:
        return None
    name, rest = line[: opening.start()].rstrip(" \t:"), line[opening.start() :]
    if not name or name not in names:
        return None
    if rest[0] == "{":
        return Call(name, rest) if _object(rest) is not None else None
    inner = rest[1:-1].strip()
    fits = rest.endswith(")") and (not inner or _FIRST_ARGUMENT.match(inner))
    return Call(name, inner or None) if fits else None


def _line_before(text: str, start: int) -> int:
    """Where the line above the line of `start` begins; the line of `start` itself if it is the first."""
    line = text.rfind("\n", 0, start) + 1
    return text.rfind("\n", 0, max(line - 1, 0)) + 1 if line else 0
