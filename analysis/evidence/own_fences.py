"""Code regions of a text without the fences that calls themselves hold, which would hide what follows them."""

from collections.abc import Sequence

from analysis.markdown import Region, code_regions
from analysis.reading import Reading

_TICKS = str.maketrans("`~", "  ")


def without_own_fences(text: str, found: Sequence[Reading], code: Sequence[Region]) -> Sequence[Region]:
    """`code`, or the regions that are left where a fence begins in a call, which no region holds, and goes on behind
    it: DeepSeek writes tokens behind a closing fence, and Markdown does not take it for one."""
    owners = [each for each in found if each.calls and _runs_on(each, code)]
    if not owners:
        return code
    pieces: list[str] = []
    end = 0
    for each in owners:
        pieces += (text[end : each.start], text[each.start : each.end].translate(_TICKS))
        end = each.end
    others = code_regions("".join(pieces) + text[end:])
    own = [region for region in code if any(region.start == each.start and each.fenced for each in owners)]
    return sorted([*others, *own], key=lambda region: region.start)


def _runs_on(reading: Reading, code: Sequence[Region]) -> bool:
    if any(region.start < reading.start < region.end for region in code):
        return False
    first = reading.start if reading.fenced else reading.start + 1
    return any(first <= region.start < reading.end < region.end for region in code)
