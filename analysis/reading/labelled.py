"""Calls as labelled lines: `tool: NAME` and its arguments below, as YAML, as JSON or in a fence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.reading import Damages, Scan, TextCall, damages
from analysis.reading.json_values import read_arguments
from analysis.reading.values import JSON_LIKE, Broken, Cut, Values

_MARK = r"[*_]{0,2}"
_HEAD = re.compile(
    rf"[ \t]*(?:-[ \t]+)?{_MARK}(?:(?:tool|function)(?:[ _-]?(?:name|call))?|action|name|call)[ \t]*{_MARK}:"
    rf"{_MARK}[ \t]*(?P<quote>[\"'`]?)(?P<name>[^\W\d][\w.:/-]{{0,127}}+)(?P=quote)[ \t]*(?:\r?\n|\Z)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"[ \t]*{_MARK}(?:(?:tool|action|function)[ _-]?)?(?:arguments?|args|parameters?|params|inputs?)[ \t]*"
    rf"{_MARK}:{_MARK}[ \t]*",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\r?\n\s*")
_FENCE_END = re.compile(r"\s*```")
_BLANKS = re.compile(r"\s*")
_MEMBER = re.compile(
    r"(?P<indent>[ \t]*)(?P<quote>[\"']?)(?P<key>[\w.-]{1,64}+)(?P=quote):[ \t]+(?P<value>[^\r\n]++)(?:\r?\n|\Z)"
)
MOST = 32
"""Members that are read."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The call, and whether its arguments stand below a label."""

    call: TextCall
    labelled: bool
    damage: Damages


def read_labelled(scan: Scan, at: int) -> Labelled | None:
    """The labelled lines that begin at `at`; None where none do."""
    head = _HEAD.match(scan.text, at)
    if head is None or not scan.charge(head.end() - at):
        return None
    label = _LABEL.match(scan.text, head.end())
    read = _json(scan, head, label.end()) if label else None
    if read:
        return read
    members, end = _members(scan, label, head.end())
    if not members:
        return None
    call = TextCall(head["name"], members, at, end, members, typed=False)
    return Labelled(call, label is not None, damages("wrong_header"))


def _json(scan: Scan, head: re.Match[str], at: int) -> Labelled | None:
    fence = _FENCE.match(scan.text, at)
    blanks = _BLANKS.match(scan.text, at)
    body = read_arguments(scan, fence.end() if fence else blanks.end() if blanks else at)
    if body is None:
        return None
    close = _FENCE_END.match(scan.text, body.end) if fence else None
    end = close.end() if close else body.end
    call = TextCall(head["name"], body.value, head.start(), end, body.closed)
    return Labelled(call, True, body.damage | {"wrong_header"})


def _members(scan: Scan, label: re.Match[str] | None, at: int) -> tuple[Mapping[str, Any], int]:
    """Lines of `key: value`: those below the label, indented, or those right below the head."""
    found: dict[str, Any] = {}
    position = end = scan.text.find("\n", label.end() - 1) + 1 if label else at
    if label and (not end or scan.text[label.end() : end].strip()):
        return {}, at
    indent: str | None = None
    while len(found) < MOST and (line := _MEMBER.match(scan.text, position)) is not None:
        if not scan.charge(line.end() - position) or (label and not line["indent"]):
            break
        indent = line["indent"] if indent is None else indent
        if line["indent"] != indent:
            break
        found[line["key"]] = _value(line["value"].strip())
        end = line.end() - (len(line[0]) - len(line[0].rstrip()))
        position = line.end()
    return found, end


def _value(text: str) -> Any:
    """A quoted value, or a list or an object, by what it is; anything else is text for the schema to type."""
    if text[0] not in "\"'[{":
        return text
    reader = Values(text, 0, JSON_LIKE)
    try:
        value = reader.value()
    except (Cut, Broken):
        return text
    return value if reader.at >= len(text) else text
