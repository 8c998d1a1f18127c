"""Calls as a history shows them: `[Calling tool: name({…})]`, `[tool_call:name]{…}`, LM Studio's named request."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar
from analysis.reading import Reading, Scan, TextCall, damages
from analysis.reading.json_values import read_arguments

_NAME = r"[^\W\d][\w.:/-]{0,127}+"
_CALLING = re.compile(rf"\[Calling tool:\s*+(?P<name>{_NAME})\(\s*+")
_CALLING_END = re.compile(r"\s*\)\s*\]?")
_ATTRIBUTES = re.compile(
    rf'\[Calling tool="(?P<name>{_NAME})"(?P<pairs>(?:\s+[\w-]{{1,64}}+="[^"\n]*+"){{0,64}}+)\s*\]'
)
_PAIR = re.compile(r'([\w-]{1,64})="([^"\n]*)"')
_TAGGED = re.compile(r"\[[Tt]ool[_ ]?[Cc]all:\s*(?P<name>[^\W\d][\w./-]{0,127}+)(?P<bracket>\s*\])?[\s(]*+(?=\{)")
_TAGGED_END = re.compile(r"\s*\)?\s*\]")
_NAMED_REQUEST = re.compile(rf"\[(?P<name>{_NAME})\]\s*+(?=\{{)")
_REQUEST_END = re.compile(r"\s*\[END_TOOL_REQUEST\]")
_ANGLED = re.compile(rf"<<<\[TOOL_REQUEST\]>>>\s*tool_name:\s*(?:「始」|[「\"'])?(?P<name>{_NAME})[^\n]*+")
_MEMBER = re.compile(r"^[ \t]*([\w-]{1,64}):[ \t]*+(?:「始」|「)?([^\n]*?)(?:「末」|」)?,?[ \t]*\r?$", re.MULTILINE)
_ANGLED_END = re.compile(r"<<<\[END_TOOL_REQUEST\]>>>")
_BROKEN_REQUEST = re.compile(
    rf'\[TOOL_REQUEST\]\s*\[?\s*"?name"?\s*:\s*"(?P<name>{_NAME})"[^\n\[]{{0,400}}+\[END_TOOL_REQUEST\]'
)


def _read(scan: Scan) -> Iterator[Reading]:
    for pattern, one in (
        (_CALLING, _calling),
        (_ATTRIBUTES, _attributes),
        (_TAGGED, _tagged),
        (_NAMED_REQUEST, _named_request),
        (_ANGLED, _angled),
        (_BROKEN_REQUEST, _broken_request),
    ):
        position = 0
        while (head := pattern.search(scan.text, position)) is not None:
            if not scan.charge(head.end() - position):
                return
            position = head.end()
            reading = one(scan, head)
            if reading:
                yield reading
                position = max(position, reading.end)


def _calling(scan: Scan, head: re.Match[str]) -> Reading | None:
    read = read_arguments(scan, head.end())
    close = _CALLING_END.match(scan.text, read.end if read else head.end())
    if read is None:
        if close is None:
            return None
        call = TextCall(head["name"], {}, head.start(), close.end())
        return Reading("calling_tool_text", head.start(), close.end(), (call,))
    end = close.end() if close else read.end
    whole = close is not None and close[0].endswith("]")
    damage = read.damage | damages(None if whole or "cut" in read.damage else "closer_missing")
    call = TextCall(head["name"], read.value, head.start(), end, read.closed, arguments_text=read.text)
    return Reading("calling_tool_text", head.start(), end, (call,), damage)


def _attributes(_: Scan, head: re.Match[str]) -> Reading:
    arguments = dict(_PAIR.findall(head["pairs"]))
    call = TextCall(head["name"], arguments, head.start(), head.end(), arguments, typed=False)
    return Reading("calling_tool_text", head.start(), head.end(), (call,), damages("wrong_header"))


def _tagged(scan: Scan, head: re.Match[str]) -> Reading | None:
    """`[tool_call:NAME]{…}` and `[Tool call: NAME({…})]`."""
    read = read_arguments(scan, head.end())
    if read is None:
        return None
    close = None if head["bracket"] else _TAGGED_END.match(scan.text, read.end)
    end = close.end() if close else read.end
    missing = damages("wrong_header", None if head["bracket"] or close or "cut" in read.damage else "closer_missing")
    call = TextCall(head["name"], read.value, head.start(), end, read.closed, arguments_text=read.text)
    return Reading("calling_tool_text", head.start(), end, (call,), read.damage | missing)


def _named_request(scan: Scan, head: re.Match[str]) -> Reading | None:
    read = read_arguments(scan, head.end())
    close = _REQUEST_END.match(scan.text, read.end) if read else None
    if read is None or (close is None and head["name"] not in scan.names):
        return None
    end = close.end() if close else read.end
    call = TextCall(head["name"], read.value, head.start(), end, read.closed, arguments_text=read.text)
    damage = read.damage | damages("wrong_header", None if close else "closer_missing")
    return Reading("lmstudio_tool_request", head.start(), end, (call,), damage, marked=close is not None)


def _angled(scan: Scan, head: re.Match[str]) -> Reading:
    close = _ANGLED_END.search(scan.text, head.end())
    end = close.end() if close else len(scan.text)
    scan.charge(end - head.end())
    members = dict(_MEMBER.findall(scan.text[head.end() : close.start()])) if close else {}
    call = TextCall(head["name"], members if close else None, head.start(), end, members, typed=False)
    return Reading(
        "lmstudio_tool_request", head.start(), end, (call,), damages("wrong_header", None if close else "cut")
    )


def _broken_request(_: Scan, head: re.Match[str]) -> Reading:
    call = TextCall(head["name"], None, head.start(), head.end())
    return Reading("lmstudio_tool_request", head.start(), head.end(), (call,), damages("json_damage"))


HISTORY_TEXT = Grammar(
    families=("calling_tool_text", "lmstudio_tool_request"),
    anchors=(
        "[Calling tool", "[tool_call:", "[tool_Call:", "[Tool_call:", "[Tool_Call:", "[tool call:", "[tool Call:",
        "[Tool call:", "[Tool Call:", "[toolcall:", "[toolCall:", "[Toolcall:", "[ToolCall:", "TOOL_REQUEST]",
    ),
    read=_read,
    by_name=True,
    examples={"calling_tool_text": '[Calling tool: look({"at": "sky"})]'},
)  # fmt: skip
