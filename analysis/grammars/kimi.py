"""Kimi K2's section of calls, each with an id `functions.NAME:0`, whole or in parts, with its tokens or without."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import Damage, Damages, Reading, Scan, TextCall, damages, skip_blanks, union
from analysis.reading.json_values import read_arguments
from analysis.reading.starts import read_from_starts

_SECTION = r"<\|tool_calls?_section_begin\|>"
_ID = r"(?:functions\.)?(?P<name>[^\W\d][\w./-]{0,127}+)"
_CALL = re.compile(
    rf"\s*(?P<section>{_SECTION}\s*+)?(?P<call><\|tool_call_begin\|>\s*+)?(?P<id>{_ID}(?P<index>\s*+:\s*+\d{{1,6}}+)?)\s*+"
    r"(?P<wrong>[!#@=.:/-]*\d{0,6}\s*+)?(?P<argument><\|tool_call_argument_begin\|>\s*+)?"
)
_ARGUMENT = "<|tool_call_argument_begin|>"
_START = re.compile(
    rf"{_SECTION}|<\|tool_call_begin\|>|functions(?<![A-Za-z0-9_]functions)\.[^\W\d][\w./-]{{0,127}}+:\d"
)
_START_OR_ID = re.compile(rf"{_START.pattern}|(?<![\w.])[^\W\d][\w./-]{{0,127}}+:\d{{1,6}}\s*+{re.escape(_ARGUMENT)}")
"""An id begins with any letter: it is looked for only where what follows it stands in the text."""
_CALL_END = re.compile(r"\s*<\|tool_call_end\|>")
_SECTION_END = re.compile(r"\s*<\|tool_calls?_section_end\|>")
_TOKENS = re.compile(r"<\|[^|<>]{1,40}+\|>|\s")
_LINE = re.compile(r"[^\n<]{0,80}")


def _read(scan: Scan) -> Iterator[Reading]:
    return read_from_starts(scan, _START_OR_ID if _ARGUMENT in scan.folded else _START, _section)


def _section(scan: Scan, at: int) -> Reading | None:
    calls: list[TextCall] = []
    found: list[Damages] = []
    position = end = at
    marked = False
    while (head := _CALL.match(scan.folded, position)) is not None and scan.charge(64):
        marked |= bool(head["section"] or head["call"] or head["argument"])
        one = _call(scan, head, marked)
        if one is None:
            break
        calls.append(one[0])
        found.append(one[1])
        end = position = one[2]
        if "cut" in one[1]:
            break
    if not calls:
        cut = scan.folded.startswith("<|", at) and not _TOKENS.sub("", scan.folded[at : at + 400])
        return Reading("kimi_k2", at, len(scan.text), (), damages("cut")) if cut else None
    section = _SECTION_END.match(scan.folded, end)
    damage = union(found) | _frame(scan.folded[at : at + 32], marked, section is not None, "cut" in union(found))
    return Reading("kimi_k2", at, section.end() if section else end, tuple(calls), damage)


def _call(scan: Scan, head: re.Match[str], marked: bool) -> tuple[TextCall, Damages, int] | None:
    """A call, its damage, and where it ends; None where its head is none."""
    if not (
        head["section"] or head["call"] or head["argument"] or (head["id"].startswith("functions.") and head["index"])
    ):
        return None
    odd = damages(None if head["index"] and not head["wrong"] else "wrong_header")
    read = read_arguments(scan, head.end())
    if read is None:
        return _without_arguments(scan, head, odd)
    closed = _CALL_END.match(scan.folded, read.end)
    damage: set[Damage] = set(read.damage | odd)
    if marked and not closed and "cut" not in damage:
        damage.add("cut" if skip_blanks(scan.text, read.end) >= len(scan.text) else "closer_missing")
    call = TextCall(head["name"], read.value, head.start("id"), read.end, read.closed, arguments_text=read.text)
    return call, frozenset(damage), closed.end() if closed else read.end


def _without_arguments(scan: Scan, head: re.Match[str], odd: Damages) -> tuple[TextCall, Damages, int] | None:
    """The text ends behind the head, or something else than arguments stands there."""
    if skip_blanks(scan.text, head.end()) >= len(scan.text):
        return TextCall(head["name"], None, head.start("id"), len(scan.text)), damages("cut") | odd, len(scan.text)
    if not (head["call"] or head["argument"]) or not (
        head["id"].startswith("functions.") or head["name"] in scan.names
    ):
        return None
    line = _LINE.match(scan.text, head.end())
    end = line.end() if line else head.end()
    closed = _CALL_END.match(scan.folded, end)
    call = TextCall(head["name"], None, head.start("id"), end)
    return call, odd | damages("wrong_header"), closed.end() if closed else end


def _frame(head: str, marked: bool, closed: bool, cut: bool) -> Damages:
    """What is wrong with the section around the calls, by its first characters."""
    if not marked:
        return damages("stripped")
    if not head.startswith(("<|tool_calls_section", "<|tool_call_section")):
        return damages("opener_missing")
    odd: Damage | None = "look_alike" if head.startswith("<|tool_call_section") else None
    return damages(None if closed or cut else "closer_missing", odd)


KIMI = Grammar(
    families=("kimi_k2",),
    anchors=spellings("<|tool", "functions."),
    read=_read,
    examples={
        "kimi_k2": (
            '<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"at": "sky"}'
            "<|tool_call_end|><|tool_calls_section_end|>"
        )
    },
)
