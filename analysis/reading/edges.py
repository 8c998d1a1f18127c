"""What stands at the edges of a reading: control tokens behind it, MiniMax M3's mark before its tags, a cut name."""

import re
from dataclasses import replace

from analysis.reading import MINIMAX, Reading, Scan, TextCall, damages

_TRAILING = re.compile(
    r"(?:\s*(?:<\|(?:eot_id|im_end|end|eom_id|eot|endoftext|end_of_text|end_of_turn|return|call|user|observation|"
    r"tool_response|im_start|END_OF_TURN_TOKEN)\|?>|</s>|<s>|<end_of_turn>|<eos>|"
    r"<\|end_of_sentence\|>|<\|end of sentence\|>|"
    r"<tool_call\|>|\[/?(?:e~\[|INST\])|\[e~\[))+"
)
_GLUE = re.compile(r"[.!?…。！？\u3040-\u30ff\u3400-\u9fff]")
_PAIR_END = re.compile(r"</(?:longcat_)?arg_value(?::\w{1,32})?>\s*\Z")
_PAIR_TAIL = 80
_NO_TOKENS = frozenset({"client_tag_is_tool", "ui_tars", "react_text"})
"""Families that had no token to lose."""
_MARK_BEFORE = len(MINIMAX) + 2


def with_edges(scan: Scan, reading: Reading) -> Reading:
    """`reading` with the tokens that stand right behind it (which are `noise`) and M3's mark before it."""
    start, end, damage = reading.start, reading.end, reading.damage
    if reading.calls or "orphan" in damage or "cut" in damage:
        trailing = _TRAILING.match(scan.folded, end)
        if trailing:
            end, damage = trailing.end(), damage | {"noise"}
    mark = scan.text.rfind(MINIMAX, max(0, start - _MARK_BEFORE), start) if scan.minimax else -1
    if mark >= 0 and not scan.text[mark + len(MINIMAX) : start].strip():
        start = mark
    if (start, end) == (reading.start, reading.end):
        return reading
    return replace(reading, start=start, end=end, damage=damage)


def trimmed(scan: Scan, reading: Reading) -> Reading | None:
    """`reading` without blanks at its edges; None if nothing else is in it."""
    raw = scan.text[reading.start : reading.end]
    start = reading.start + len(raw) - len(raw.lstrip())
    end = reading.end - (len(raw) - len(raw.rstrip()))
    if start >= end:
        return None
    return reading if (start, end) == (reading.start, reading.end) else replace(reading, start=start, end=end)


def whole_names(text: str, reading: Reading, names: frozenset[str]) -> tuple[TextCall, ...]:
    """The calls of `reading` without the last one if the text ends in its name, so that it may go on; one of `names`,
    the offered ones, is taken to be whole."""
    last = reading.calls[-1] if reading.calls else None
    if last is None or "cut" not in reading.damage or last.arguments is not None or last.closed:
        return reading.calls
    if not names or last.name in names or not text.rstrip().endswith(last.name):
        return reading.calls
    return reading.calls[:-1]


def may_go_on(text: str, reading: Reading, call: TextCall) -> bool:
    """True if more parameters of `call`, given as text, could have come, had the text not ended."""
    if call.typed or call is not reading.calls[-1] or not call.arguments:
        return False
    return "cut" in reading.damage or (
        reading.end <= call.end and bool(_PAIR_END.search(text[max(0, call.end - _PAIR_TAIL) : call.end]))
    )


def without_prefix(scan: Scan, reading: Reading) -> Reading:
    """`reading` without a call whose name is `functions`, if the text ends in it: a name was to follow."""
    last = reading.calls[-1] if reading.calls else None
    cut = last is not None and "cut" in reading.damage and last.name in ("function", "functions")
    if last is None or not cut or last.arguments is not None or not scan.text.endswith(last.name, 0, scan.end):
        return reading
    return replace(reading, calls=reading.calls[:-1])


def glued(scan: Scan, reading: Reading) -> Reading:
    """A shape that hangs on a sentence at the end of the text, with nothing between them: a token stood there."""
    if reading.marked or reading.start == 0 or reading.end < scan.end:
        return reading
    if not _GLUE.match(scan.text, reading.start - 1):
        return reading
    own = damages("fused" if reading.family in _NO_TOKENS else "stripped")
    return replace(reading, damage=reading.damage | own)
