"""Kimi K3's open and close tokens around calls and arguments, with the tokens or without."""

import re
from collections.abc import Iterator
from typing import Any

from analysis.grammars import Grammar
from analysis.reading import Damage, Damages, Reading, Scan, TextCall, damages

_START = re.compile(r'(?P<tools><\|open\|>tools<\|sep\|>\s*+|(?<!\w)tools(?=call))?(?=(?:<\|open\|>)?call tool=")')
_CALL = re.compile(
    r'\s*(?:<\|open\|>)?call tool="(?P<name>[^"\n]{1,128}+)"\s*+index="?\d{1,6}"?(?P<sep><\|sep\|>)?\s*+'
)
_ARGUMENT = re.compile(
    r'\s*(?:<\|open\|>)?argument key="(?P<key>[^"\n]{1,128}+)"(?:\s*+type="(?P<type>[a-z]{1,16}+)")?(?P<sep><\|sep\|>)?'
)
_ARGUMENT_END = re.compile(r"<\|close\|>argument(?:<\|sep\|>)?")
_BARE_END = re.compile(r"argument(?=argument key=|call)")
_CALL_END = re.compile(r"\s*(?:<\|close\|>)?call(?:<\|sep\|>)?(?!\s*tool=)")
_TOOLS_END = re.compile(r"\s*(?:<\|close\|>)?tools(?:<\|sep\|>)?")


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (start := _START.search(scan.folded, position)) is not None:
        if not scan.charge(start.end() - position):
            return
        position = start.end() + 1
        reading = _section(scan, start)
        if reading:
            yield reading
            position = max(position, reading.end)


def _section(scan: Scan, start: re.Match[str]) -> Reading | None:
    calls: list[TextCall] = []
    position = start.end()
    damage: Damages = frozenset()
    while (head := _CALL.match(scan.folded, position)) is not None and "cut" not in damage and scan.charge(64):
        call = _call(scan, head)
        calls.append(call)
        position = call.end
        damage = damages("cut" if call.arguments is None else None)
    if not calls:
        return None
    closed = None if damage else _TOOLS_END.match(scan.folded, position)
    end = closed.end() if closed else position
    frame: Damage | None = None
    whole = closed is not None and (closed[0].endswith(">") or "<|" not in scan.folded[start.start() : end])
    if "<|" not in scan.folded[start.start() : end]:
        frame = "stripped"
    elif not start["tools"]:
        frame = "opener_missing"
    elif not whole and not damage:
        frame = "closer_missing"
    return Reading("kimi_k3", start.start(), end, tuple(calls), damage | damages(frame))


def _call(scan: Scan, head: re.Match[str]) -> TextCall:
    """A call and its arguments; the text ends within if it tells no end of one."""
    found: dict[str, Any] = {}
    position = head.end()
    while (argument := _ARGUMENT.match(scan.folded, position)) is not None:
        end = (_ARGUMENT_END if argument["sep"] else _BARE_END).search(scan.folded, argument.end())
        scan.charge((end.end() if end else len(scan.text)) - position)
        if end is None:
            return TextCall(head["name"], None, head.start(), len(scan.text), found, typed=False)
        found[argument["key"]] = scan.text[argument.end() : end.start()]
        position = end.end()
    closed = _CALL_END.match(scan.folded, position)
    if closed is None:
        return TextCall(head["name"], None, head.start(), len(scan.text), found, typed=False)
    return TextCall(head["name"], found, head.start(), closed.end(), dict(found), typed=False)


KIMI_K3 = Grammar(
    families=("kimi_k3",),
    anchors=('call tool="',),
    read=_read,
    examples={
        "kimi_k3": (
            '<|open|>tools<|sep|><|open|>call tool="look" index="1"<|sep|><|open|>argument key="at" '
            'type="string"<|sep|>sky<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
        )
    },
)
