"""Sections of special tokens around each call: DeepSeek V3 (JSON in a fence), V3.1 (bare JSON) and Step3 (elements)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.grammars import Grammar, spellings
from analysis.reading import Damage, Damages, Reading, Scan, TextCall, damages, skip_blanks
from analysis.reading.elements import read_invoke
from analysis.reading.json_values import read_arguments
from analysis.reading.starts import read_from_starts

_GAP = r"(?:[_ ]|\\_)"
_HEAD = re.compile(
    rf"\s*(?P<section><\|tool{_GAP}calls{_GAP}?(?:begin)?\|>\s*+)?(?P<call><\|tool{_GAP}call{_GAP}begin\|>\s*+)?"
    rf"(?:function)?\s*+(?P<sep><\|tool{_GAP}sep\|>)?"
)
_START = re.compile(
    rf"<\|tool{_GAP}(?:calls(?:{_GAP}begin)?|call{_GAP}begin)\|>|function(?<![^\W_]function)(?=<\|tool{_GAP}sep\|>)"
)
_SEP = re.compile(rf"\s*<\|tool{_GAP}sep\|>\s*")
_CALL_END = re.compile(rf"\s*<\|tool{_GAP}call{_GAP}end\|>")
_SECTION_END = re.compile(rf"\s*<\|tool{_GAP}calls{_GAP}end\|>")
_NAME = re.compile(r"\s*([^\W\d][\w.:/-]{0,127}+)")
_FENCE = re.compile(r"\s*```(?:json)?\s*")
_FENCE_END = re.compile(r"\s*```")
_TOKENS = re.compile(r"<\|[^|<>]{1,40}+\|>|function|\s")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _One:
    """A call of a section: None where the text ends before its name."""

    call: TextCall | None
    damage: Damages
    family: str


def _read(scan: Scan) -> Iterator[Reading]:
    return read_from_starts(scan, _START, _section)


def _section(scan: Scan, at: int) -> Reading | None:
    text = scan.folded
    opened = _HEAD.match(text, at)
    found, end, damage = _calls(scan, at)
    if not found:
        return None if _goes_on(text, at) else Reading("deepseek_v3", at, len(text), (), damages("cut"))
    section = _SECTION_END.match(text, end)
    frame: set[Damage] = set(damage)
    if not (opened and opened["section"]):
        frame.add("opener_missing")
    elif section is None and "cut" not in damage:
        frame.add("closer_missing")
    families = sorted({each.family for each in found})
    calls = tuple(each.call for each in found if each.call)
    last = section.end() if section else end
    return Reading(families[0], at, last, calls, frozenset(frame) | _spelling(scan, at, last, families[0]),
                   fenced="deepseek_v3" in families)  # fmt: skip


def _spelling(scan: Scan, at: int, end: int, family: str) -> Damages:
    head = scan.text[at : at + 24]
    if "\\_" in scan.text[at:end]:
        return damages("escaped")
    own = head.startswith("<｜tool_calls_begin｜>") if family == "step3" else head.startswith("<｜tool▁")
    return damages(None if own and not head.startswith("<｜tool▁calls｜") else "look_alike")


def _calls(scan: Scan, at: int) -> tuple[list[_One], int, Damages]:
    """The calls of the section that begins at `at`, where they end, and what is wrong with them."""
    found: list[_One] = []
    damage: Damages = frozenset()
    position = end = at
    while (head := _HEAD.match(scan.folded, position)) is not None and (
        head["section"] or head["call"] or head["sep"] or found
    ):
        one = _call(scan, head) if head["call"] or head["sep"] or head["section"] else None
        if one is None or not scan.charge(head.end() - position):
            break
        found.append(one)
        end = one.call.end if one.call else len(scan.text)
        closed = _CALL_END.match(scan.folded, end)
        end = position = closed.end() if closed else end
        damage |= one.damage | damages(None if head["call"] else "opener_missing")
        if not closed:
            damage |= {"cut" if skip_blanks(scan.folded, end) >= len(scan.text) else "closer_missing"}
            break
    return found, end, damage


def _goes_on(text: str, at: int) -> bool:
    """True if something other than wire tokens follows: then it is no cut call."""
    return bool(_WORD.search(_TOKENS.sub("", text[at : at + 400])))


def _call(scan: Scan, head: re.Match[str]) -> _One | None:
    at = head.end()
    if scan.folded.startswith("<steptml:invoke", at):
        element = read_invoke(scan, at)
        return _One(element.call, element.damage, "step3") if element else _One(None, damages("cut"), "step3")
    name = _NAME.match(scan.folded, at)
    if name is None:
        return None
    family = "deepseek_v3" if head["sep"] else "deepseek_v31"
    sep = _SEP.match(scan.folded, name.end())
    body = sep.end() if sep else name.end()
    fence = _FENCE.match(scan.folded, body)
    body = skip_blanks(scan.folded, fence.end() if fence else body)
    read = read_arguments(scan, body)
    if read is None:
        cut = TextCall(name[1], None, name.start(1), len(scan.text))
        return _One(cut, damages("cut"), family) if body >= len(scan.text) else None
    closing = _FENCE_END.match(scan.folded, read.end) if fence else None
    end = closing.end() if closing else read.end
    return _One(
        TextCall(name[1], read.value, name.start(1), end, read.closed, arguments_text=read.text), read.damage, family
    )


DEEPSEEK = Grammar(
    families=("deepseek_v3", "deepseek_v31", "step3"),
    anchors=spellings("<|tool"),
    read=_read,
    examples={
        "deepseek_v3": (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n"
            '```json\n{"at": "sky"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        "deepseek_v31": (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>"
            '{"at": "sky"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        "step3": (
            '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="look">'
            '<steptml:parameter name="at">sky</steptml:parameter></steptml:invoke>'
            "<｜tool_call_end｜><｜tool_calls_end｜>"
        ),
    },
)
