"""A tag that is an offered tool, `<read_file><path>a.txt</path></read_file>`: prompts of Cline, Roo and Kilo."""

import re
from collections.abc import Iterator
from dataclasses import replace

from analysis.grammars import Grammar
from analysis.reading import Damages, Reading, Scan, TextCall, damages, skip_blanks
from analysis.reading.json_values import Arguments, read_arguments
from analysis.reading.parameters import Parameters, read_parameters
from analysis.reading.wrappers import FOREIGN

_NAME = r"[^\W\d][\w.:-]{0,127}+"
_TAG = re.compile(
    rf"<(?P<name>{_NAME})(?P<attributes>(?:\s+[\w.-]{{1,64}}+\s*=\s*\"[^\"<>]{{0,400}}+\"){{0,16}}+)[ \t]*(?P<self>/)?>"
)
_ATTRIBUTE = re.compile(r"([\w.-]{1,64})\s*=\s*\"([^\"<>]*)\"")
_GENERIC = frozenset({"tool", "call", "action", "tool_call", "function_call", "use_tool", "tool_use", "toolcall", "fn"})
"""Tags whose attribute is the tool."""
_NAMED = re.compile(rf"<(?P<tag>function|tool|tool_name|function_name|name)>\s*(?P<name>{_NAME})\s*</(?P=tag)>\s*")
_LIST = re.compile(r"<(?P<tag>parameters|arguments|args|input|params)>\s*")
_MEMBER = re.compile(r"\s*<(?P<tag>[a-z_]{1,32}+)\s+(?:name|key)=\"(?P<key>[\w.-]{1,64}+)\"\s*>")
_CLOSED = re.compile(rf"(?:</[\w.-]{{1,64}}+>\s*)*</(?P<name>{_NAME})>\s*\Z")
_LAST = 400
_FENCE = re.compile(r"(?:\A|\n)(?P<ticks>`{3,}|~{3,})[ \t]*(?:xml|html|tool(?:_call)?)?[ \t]*\r?\n\s*\Z")
_FENCE_LIMIT = 40

HABITS = frozenset(
    {
        *("write_to_file", "replace_in_file", "search_files", "list_files", "list_code_definition_names"),
        *("execute_command", "apply_diff", "browser_action", "use_mcp_tool", "access_mcp_resource"),
        *("ask_followup_question", "attempt_completion"),
    }
)
"""The tags of those prompts. Models that learnt them write them for other clients too."""


def _read(scan: Scan) -> Iterator[Reading]:
    if "<" not in scan.text:
        return
    position = 0
    while (head := _TAG.search(scan.text, position)) is not None:
        if not scan.charge(head.end() - position):
            return
        position = head.end()
        known = head["name"] in scan.names or (head["name"] in HABITS and not head["attributes"])
        reading = _tag(scan, head) if known else _generic(scan, head) if head["name"] in _GENERIC else None
        if reading:
            yield _fenced(scan, reading)
            position = max(position, reading.end)
    yield from _named(scan)
    yield from _closed(scan)


def _generic(scan: Scan, head: re.Match[str]) -> Reading | None:
    """`<tool name="NAME">` with JSON or parameters in it."""
    attributes = dict(_ATTRIBUTE.findall(head["attributes"]))
    name = attributes.pop("name", None) or attributes.pop("tool", None)
    if name is None or name not in scan.names:
        return None
    if head["self"]:
        call = TextCall(name, attributes, head.start(), head.end(), attributes, typed=False)
        return Reading("client_tag_is_tool", call.start, call.end, (call,), damages("wrong_header"), marked=False)
    return _body(scan, name, head.start(), head.end(), f"</{head['name']}>", damages("wrong_header"))


def _named(scan: Scan) -> Iterator[Reading]:
    """`<function>NAME</function>` and the arguments in an element behind it."""
    position = 0
    while (head := _NAMED.search(scan.text, position)) is not None:
        if not scan.charge(head.end() - position):
            return
        position = head.end()
        inner = _LIST.match(scan.text, head.end()) if head["name"] in scan.names else None
        if inner is None:
            continue
        reading = _body(scan, head["name"], head.start(), inner.end(), f"</{inner['tag']}>", damages("wrong_header"))
        if reading:
            yield reading
            position = max(position, reading.end)


def _body(scan: Scan, name: str, start: int, at: int, closer: str, damage: Damages) -> Reading | None:
    """JSON, `<arg name="k">` or `<k>` up to `closer`."""
    found = read_arguments(scan, skip_blanks(scan.text, at)) or _members(scan, at)
    if found is None:
        read = read_parameters(scan, at, (closer,))
        found = Arguments(read.value, read.closed, read.end, read.damage, None) if read.style != "none" else None
        typed = False
    else:
        typed = found.text is not None
    position = skip_blanks(scan.text, found.end) if found else 0
    if found is None or "cut" in found.damage or not scan.text.startswith(closer, position):
        return None
    end = position + len(closer)
    call = TextCall(name, found.value, start, end, found.closed, typed=typed)
    return Reading("client_tag_is_tool", start, end, (call,), damage | found.damage, marked=False)


def _members(scan: Scan, at: int) -> Arguments | None:
    """Elements that all name their parameter in an attribute."""
    found: dict[str, str] = {}
    end = at
    while (head := _MEMBER.match(scan.text, end)) is not None:
        closer = f"</{head['tag']}>"
        stop = scan.text.find(closer, head.end())
        if stop < 0 or not scan.charge(stop - end):
            return None
        found[head["key"]] = scan.text[head.end() : stop].strip()
        end = stop + len(closer)
    return Arguments(found, found, end, frozenset(), None) if found else None


def _closed(scan: Scan) -> Iterator[Reading]:
    """The closing tag of a tool at the end of a text that never opens it."""
    first = max(0, scan.end - _LAST)
    found = _CLOSED.search(scan.text, first, scan.end) if scan.text.endswith(">", 0, scan.end) else None
    if found and found["name"] in scan.names and f"<{found['name']}" not in scan.text:
        yield Reading("client_tag_is_tool", found.start(), scan.end, (), damages("orphan"))


def _fenced(scan: Scan, reading: Reading) -> Reading:
    """A call that is all of a fence at the end of the text, with the fence."""
    first = max(0, reading.start - _FENCE_LIMIT)
    fence = _FENCE.search(scan.text[first : reading.start])
    close = skip_blanks(scan.text, reading.end)
    offered = all(call.name in scan.names for call in reading.calls)
    if fence is None or not offered or not scan.text.startswith(fence["ticks"], close) or "cut" in reading.damage:
        return reading
    end = close + len(fence["ticks"])
    if end < scan.end:
        return reading
    return replace(reading, start=first + fence.start("ticks"), end=end, fenced=True)


def _tag(scan: Scan, head: re.Match[str]) -> Reading | None:
    if head["self"]:
        attributes = dict(_ATTRIBUTE.findall(head["attributes"]))
        call = TextCall(head["name"], attributes, head.start(), head.end(), attributes, typed=False)
        return Reading("client_tag_is_tool", call.start, call.end, (call,), marked=False)
    if head["attributes"]:
        return _attributes(scan, head)
    closer = f"</{head['name']}>"
    read = read_parameters(scan, head.end(), (closer,))
    call = TextCall(head["name"], read.value, head.start(), read.end, read.closed, typed=False)
    position = skip_blanks(scan.text, read.end)
    if scan.text.startswith(closer, position) and "cut" not in read.damage:
        end = position + len(closer)
        return Reading("client_tag_is_tool", call.start, end, (replace(call, end=end),), read.damage, marked=False)
    foreign = FOREIGN.match(scan.text, read.end) if read.closed else None
    if foreign and "cut" not in read.damage:
        whole = replace(call, end=foreign.end())
        return Reading(
            "client_tag_is_tool", call.start, whole.end, (whole,), read.damage | {"wrong_closer"}, marked=False
        )
    if position >= len(scan.text) or "cut" in read.damage:
        return _cut(scan, call, read)
    told = _body(scan, head["name"], head.start(), head.end(), closer, damages("wrong_header"))
    return told or _raw(scan, call, head.end(), closer)


def _attributes(scan: Scan, head: re.Match[str]) -> Reading | None:
    """`<NAME key="value"></NAME>`."""
    closer = f"</{head['name']}>"
    at = skip_blanks(scan.text, head.end())
    if not scan.text.startswith(closer, at):
        return None
    values = dict(_ATTRIBUTE.findall(head["attributes"]))
    call = TextCall(head["name"], values, head.start(), at + len(closer), values, typed=False)
    return Reading("client_tag_is_tool", call.start, call.end, (call,), damages("wrong_header"), marked=False)


def _cut(scan: Scan, call: TextCall, read: Parameters) -> Reading | None:
    """The text ends within; a tag alone says nothing."""
    if read.style == "none" and "cut" not in read.damage:
        return None
    end = scan.end
    return Reading(
        "client_tag_is_tool", call.start, end, (replace(call, end=end),), read.damage | {"cut"}, marked=False
    )


def _raw(scan: Scan, call: TextCall, body: int, closer: str) -> Reading | None:
    """Text where the parameters should be: the call is there, its arguments are not told."""
    end = scan.text.find(closer, body)
    scan.charge((end if end >= 0 else len(scan.text)) - body)
    if end < 0:
        return None
    whole = replace(call, arguments=None, closed={}, end=end + len(closer))
    return Reading("client_tag_is_tool", call.start, whole.end, (whole,), damages("wrong_header"), marked=False)


CLIENT_TAGS = Grammar(
    families=("client_tag_is_tool",),
    anchors=(
        "_file>",
        "_files>",
        "definition_names>",
        "execute_command>",
        "apply_diff>",
        "browser_action>",
        "_mcp_",
        "followup_question>",
        "attempt_completion>",
    ),
    read=_read,
    by_name=True,
    examples={"client_tag_is_tool": "<look>\n<at>sky</at>\n</look>"},
)
