"""Markup in a structured call: in its name, or as debris at the edge of an argument."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.output import Call

_IN_NAME = re.compile(
    r"<\|\w|\|>|</?(?:arg_|tool_call|function|parameter|invoke)|\[(?:ARGS|TOOL_CALLS)\]|functions\.[\w-]+:\d|to=functions"
)
_NO_NAME = re.compile(r"[<>{}\[\]\"\n]|\s(?:to=|json\b)")
"""What no tool's name holds; it counts only behind the name of an offered tool, since much else may stand there."""
DEBRIS = (
    r"</(?:parameter|param|function|tool_calls?|invoke|arg_value|arg_key|(?:[a-z]+:)?function_calls|(?:minimax|seed):tool_call)>|"
    r"<\|(?:tool_call_end|tool_calls?_section_end|call|end|channel|message|constrain|tool_call_argument_begin|\"\|?)\|?>|"
    r"<[|｜]tool[▁_]calls?[▁_]end[|｜]>|<tool_call\|>|<end_function_call>|</?[|｜]DSML[|｜]\w+>?|\[/?TOOL_CALLS\]|\[ARGS\]|"
    r"<arg_(?:key|value)>|<parameter=[\w-]+>|<parameter name=\"[\w-]+\">|<tool_call>|<\|tool_call>"
)
_AT_END = re.compile(rf"\s*({DEBRIS})\s*$")
_AT_START = re.compile(rf"^\s*(?:{DEBRIS})")
_MENTIONED = re.compile(r"(?:[^\W\d_]{2,}[ \t]|\n[ \t]{2,})\Z")
"""A word and a blank before a tag: the text speaks of it. So much of an indent: it is markup that is written."""
_SPOKEN_OF = re.compile(r"[ \t][^\W\d_]{2,}")
_KEY = re.compile(r"</?(?:arg_|parameter|invoke|function|tool_call)|<\|")
_BEHIND = re.compile(rf"\s*(?:{DEBRIS}|<\||(?:assistant|commentary|analysis)\s*to=)")
_TAG_FIRST = re.compile(r"\s*</?[A-Za-z]")
_SIGNS = ("<", "[TOOL_CALLS]", "[ARGS]", "to=functions")
_OPENER = {
    "</parameter>": "<parameter", "</param>": "<param", "</function>": "<function", "</tool_call>": "<tool_call",
    "</tool_calls>": "<tool_calls", "</invoke>": "<invoke", "</arg_value>": "<arg_value", "</arg_key>": "<arg_key",
    "</function_calls>": "<function_calls",
}  # fmt: skip
DEEPEST = 6
NEAR = 24
"""Characters before a tag in which a word stands that speaks of it."""


@dataclass(frozen=True, slots=True)
class Debris:
    """Markup in a structured call: in which channel, where in it, and the name that was meant."""

    channel: str
    start: int
    end: int
    text: str
    name: str


def debris(calls: tuple[Call, ...], names: frozenset[str]) -> Debris | None:
    """The first contamination among structured calls; `names` are the offered ones."""
    for call in calls:
        found = _IN_NAME.search(call.name) or _behind_a_name(call.name, names)
        if found:
            rest = call.name[found.start() :]
            return Debris("tool_name", found.start(), len(call.name), rest, call.name[: found.start()].strip())
        if not call.name.strip() and call.arguments and '"name"' in call.arguments:
            return Debris("tool_arguments", 0, len(call.arguments), call.arguments, "")
        edge = _edge(call.arguments) if call.arguments else None
        if edge:
            return Debris("tool_arguments", *edge, call.name)
    return None


def _behind_a_name(text: str, names: frozenset[str]) -> re.Match[str] | None:
    found = _NO_NAME.search(text)
    return found if found and text not in names and text[: found.start()].strip() in names else None


def _edge(arguments: str) -> tuple[int, int, str] | None:
    """Where debris stands in the raw arguments, and what it is."""
    if not any(sign in arguments for sign in _SIGNS):
        return None
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return _behind_json(arguments)
    for text, is_key in _strings(value, 0):
        part = in_key(text) if is_key else piece(text)
        if part:
            at = max(0, arguments.find(json.dumps(part, ensure_ascii=False)[1:-1]))
            return at, min(len(arguments), at + len(part)), part
    return None


def _behind_json(arguments: str) -> tuple[int, int, str] | None:
    """Arguments that are no JSON: wire text behind a JSON object, or at the end of what is none."""
    try:
        _, end = json.JSONDecoder().raw_decode(arguments.lstrip())
    except (ValueError, RecursionError):
        end = max(0, len(arguments) - 400)
    found = _BEHIND.search(arguments, end)
    return (found.start(), len(arguments), arguments[found.start() :]) if found else None


def in_key(text: str) -> str | None:
    """Markup in a key, from its first sign on."""
    found = _KEY.search(text)
    return text[found.start() :] if found else None


def piece(text: str) -> str | None:
    """Debris at the edge of a value; a value that is markup from its first character on holds it on purpose, and one
    that speaks of a tag does too."""
    tail = text[-400:]
    end = _AT_END.search(tail)
    spoken_of = end is not None and _MENTIONED.search(tail, max(0, end.start(1) - NEAR), end.start(1))
    if end and not spoken_of and not _TAG_FIRST.match(text) and not _balanced(text, end[1]):
        return end[1]
    start = _AT_START.match(text[:400])
    rest = text[start.end() :] if start else ""
    if start is None or not rest.strip() or _SPOKEN_OF.match(rest):
        return None
    return start[0].strip() if "<" not in rest or start[0].strip() in rest else None


def _balanced(text: str, closer: str) -> bool:
    """A closer whose opening stands in the same text belongs to it."""
    opener = _OPENER.get(closer)
    return opener is not None and text.count(opener) >= text.count(closer)


def _strings(value: Any, depth: int) -> Iterator[tuple[str, bool]]:
    """Keys (True) and string values (False), a few levels down."""
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key, True
            yield from _strings(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, depth + 1)
