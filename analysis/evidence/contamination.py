"""Markup in a structured call: around its name, or as debris at the edge of an argument."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.evidence.wire import CLOSER, DEBRIS, MESSAGE_END, OPENER
from analysis.output import Call

_IN_NAME = re.compile(
    r"<\|\w|[|｜]>|</?(?:arg_|tool_call|function|parameter|invoke)|\[(?:ARGS|TOOL_CALLS)\]|functions\.[\w.-]+:\d|"
    r"to=functions"
)
_BEFORE_NAME = re.compile(
    r"(?:[\s\S]*[<>{}\[\]\"=\n|｜])?\s*(?:(?:functions|default_api)[.:]|call:|function[\s:=]|to=)*\s*"
)
"""What the wire puts before a name: a prefix of its own, or anything that ends in a sign no name holds."""
_NAMESPACES = ("functions.", "default_api.")
"""What clients take off a name before they call it."""
_BEHIND_NAME = re.compile(r"(?::\d{1,3})?\s*(?:[<>{}\[\]\"(`|｜\n][\s\S]*|(?:json\b|to=)[\s\S]*)?")
_AT_END = re.compile(rf"\s*({DEBRIS}|{MESSAGE_END})\s*$")
_AT_START = re.compile(rf"^\s*(?:{DEBRIS})")
_FUSED = re.compile(rf"{CLOSER}\s*+(?:{CLOSER}\s*+)*+(?:{OPENER})|\n?</(?:parameter|param)>\s*+</(?:function|invoke)>")
_MENTIONED = re.compile(r"(?:[^\W\d_]{2,}[ \t]|\n[ \t]{2,})\Z")
"""A word and a blank before a tag: the text speaks of it. So much of an indent: it is markup that is written."""
_SPOKEN_OF = re.compile(r"[ \t][^\W\d_]{2,}")
_KEY = re.compile(r"</?(?:arg_|parameter|invoke|function|tool_call)|<\||\Aparameter=")
_BEHIND = re.compile(
    rf"[\s\]}}]*(?:{DEBRIS}|{MESSAGE_END}|<\||```|</[a-z_:]{{2,20}}\Z|functions\.[\w.-]+:\d|(?:assistant)?(?:commentary|analysis)?\s*to=functions)"
)
BEFORE_JSON = re.compile(rf"\s*(?:(?:{DEBRIS}|```(?:json)?|json\b)\s*)+(?=\{{)")
"""What stands before the object that the arguments should be."""
_TAG_FIRST = re.compile(r"\s*</?[A-Za-z]")
SIGNS = ("<", "[TOOL_CALLS]", "[ARGS]", "to=functions", "```", "parameter=", "[END_TOOL_REQUEST]", "functions.", "Obs")
_OPENER = {
    "</parameter>": "<parameter", "</param>": "<param", "</function>": "<function", "</tool_call>": "<tool_call",
    "</tool_calls>": "<tool_calls", "</invoke>": "<invoke", "</arg_value>": "<arg_value", "</arg_key>": "<arg_key",
    "</function_calls>": "<function_calls", "</s>": "<s",
}  # fmt: skip
_TEMPLATE = re.compile(r"<\||\{[{%]|<s>|<start_of_turn>")
_OBSERVED = re.compile(r"\s*\n(Observation:)\s*\Z")
_REACT = re.compile(r"\b(?:Action|Thought|Question):")
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
        found = _in_name(call.name, names)
        if found:
            return found
        if not call.name.strip() and call.arguments and '"name"' in call.arguments:
            return Debris("tool_arguments", 0, len(call.arguments), call.arguments, "")
        edge = _edge(call.arguments, call.name) if call.arguments else None
        if edge:
            return Debris("tool_arguments", *edge, call.name)
    return None


def _in_name(text: str, names: frozenset[str]) -> Debris | None:
    if text in names:
        return None
    own = name_within(text, names)
    if own:
        start = own[1] if text[own[1] :].strip() else 0
        end = len(text) if start else own[0]
        return Debris("tool_name", start, end, text[start:end], text[own[0] : own[1]])
    found = _IN_NAME.search(text)
    if found is None:
        return None
    return Debris("tool_name", found.start(), len(text), text[found.start() :], text[: found.start()].strip())


def name_within(text: str, names: frozenset[str]) -> tuple[int, int] | None:
    """Where the longest of `names` stands in `text` that has nothing but wire text around it."""
    for name in sorted((each for each in names if each and each in text), key=len, reverse=True):
        at = text.find(name)
        end = at + len(name)
        if not (text[:at] + text[end:]).strip() or re.search(r"[\w-]\Z", text[:at]) or re.match(r"[\w-]", text[end:]):
            continue
        if text[:at] in _NAMESPACES and end == len(text):
            continue
        if _BEFORE_NAME.fullmatch(text, 0, at) and _BEHIND_NAME.fullmatch(text, end):
            return at, end
    return None


def _edge(arguments: str, name: str) -> tuple[int, int, str] | None:
    """Where debris stands in the raw arguments, and what it is."""
    if not (arguments.startswith("json") or any(sign in arguments for sign in SIGNS)):
        return None
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return _around_json(arguments)
    for text, key in _strings(value, "", 0):
        part = in_key(text) if key is None else piece(text, (key, name)) or fused(text, key)
        if part:
            at = max(0, arguments.find(json.dumps(part, ensure_ascii=False)[1:-1]))
            return at, min(len(arguments), at + len(part)), part
    return None


def _around_json(arguments: str) -> tuple[int, int, str] | None:
    """Arguments that are no JSON: wire text before or behind a JSON object, or at the end of what is none."""
    before = BEFORE_JSON.match(arguments)
    if before:
        return 0, before.end(), before[0]
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(arguments.lstrip())
        end += len(arguments) - len(arguments.lstrip())
        found = _BEHIND.match(arguments, end)
    except (ValueError, RecursionError):
        found = _BEHIND.search(arguments, max(0, len(arguments) - 400))
    return (found.start(), len(arguments), arguments[found.start() :]) if found else None


def in_key(text: str) -> str | None:
    """Markup in a key, from its first sign on."""
    found = _KEY.search(text)
    return text[found.start() :] if found else None


def piece(text: str, own: tuple[str, ...] = ()) -> str | None:
    """Debris at the edge of a value; a value that is markup from its first character on holds it on purpose, and one
    that speaks of a tag does too. `own` are the names of the key and the tool, whose tags may stand there as well."""
    tail = text[-400:]
    end = _AT_END.search(tail) or _own_closer(tail, own) or _observed(text)
    if end and not _TAG_FIRST.match(text) and not _on_purpose(text, tail, end):
        return end[1]
    start = _AT_START.match(text[:400])
    rest = text[start.end() :] if start else ""
    if start is None or not rest.strip() or _SPOKEN_OF.match(rest):
        return None
    return start[0].strip() if "<" not in rest or start[0].strip() in rest else None


def own_closers(own: tuple[str, ...]) -> str:
    """The closing tags of what bears one of the names `own`."""
    return "|".join(rf"</{re.escape(each)}>" for each in own if each)


def _own_closer(tail: str, own: tuple[str, ...]) -> re.Match[str] | None:
    found = re.search(rf"\s*({own_closers(own)})\s*$", tail) if any(own) and "</" in tail else None
    return found if found and f"<{found[1][2:-1]}" not in tail else None


def _observed(text: str) -> re.Match[str] | None:
    """ReAct's stop word behind a value that is no transcript."""
    found = _OBSERVED.search(text, max(0, len(text) - 80))
    return found if found and not _REACT.search(text) else None


def _on_purpose(text: str, tail: str, end: re.Match[str]) -> bool:
    """The text speaks of what stands at its end, holds its opening too, or is nothing but it."""
    if "`<" in tail or _MENTIONED.search(tail, max(0, end.start(1) - NEAR), end.start(1)) or _balanced(text, end[1]):
        return True
    if not re.fullmatch(MESSAGE_END, end[1]):
        return False
    before = text[: len(text) - len(tail) + end.start(1)]
    return not before.strip() or bool(_TEMPLATE.search(before))


def fused(text: str, key: str) -> str | None:
    """What stands in a value from the closer of its own on, if another part or call opens behind it."""
    found = _FUSED.search(text) or (re.search(rf"</{re.escape(key)}>\s*+<[A-Za-z_]\w*+>", text) if key else None)
    if found is None or _TAG_FIRST.match(text):
        return None
    before = text[: found.start()]
    closer = found[0][: found[0].index(">") + 1].strip()
    opener = _OPENER.get(closer, "<" + closer[2:-1])
    mentioned = _MENTIONED.search(before, max(0, len(before) - NEAR))
    return (
        None
        if opener in before or mentioned or before.endswith(("'", '"', "`")) or "<" in before
        else text[found.start() :]
    )


def _balanced(text: str, closer: str) -> bool:
    """A closer whose opening stands in the same text belongs to it."""
    opener = _OPENER.get(closer)
    return opener is not None and text.count(opener) >= text.count(closer)


def _strings(value: Any, key: str, depth: int) -> Iterator[tuple[str, str | None]]:
    """Keys (with None) and string values (with their key), a few levels down."""
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield value, key
    elif isinstance(value, dict):
        for own, inner in value.items():
            yield own, None
            yield from _strings(inner, own, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key, depth + 1)
