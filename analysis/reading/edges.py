"""What stands around a call and belongs to it: control tokens behind it, MiniMax M3's mark before its tags."""

import re
from dataclasses import replace

from analysis.reading import MINIMAX, Reading, Scan

_TRAILING = re.compile(
    r"(?:\s*(?:<\|(?:eot_id|im_end|end|eom_id|eot|endoftext|end_of_text|end_of_turn|return|call|user|observation|"
    r"tool_response|im_start)\|?>|</s>|<s>|<end_of_turn>|<eos>|<\|end_of_sentence\|>|<\|end of sentence\|>|"
    r"<tool_call\|>|\[/?(?:e~\[|INST\])|\[e~\[))+"
)
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
