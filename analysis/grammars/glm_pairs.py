"""GLM's pairs behind a tool's name, without the tag that opens the call."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import Reading, Scan, damages
from analysis.reading.named_bodies import read_named

_REACH = 160
"""Characters before a key in which its call's name must begin."""
_NAME_BEFORE = re.compile(r"(?<![\w.:/>-])(?P<name>[^\W\d][\w.:/-]{0,127})(?:\\n|\s){0,16}$")
_CLOSER = re.compile(r"\s*(?:</tool_call>|<end_of_tool_call>)")


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (start := _next(scan, position)) is not None:
        found = read_named(scan, start)
        position = start + 1
        if found is None or found.kind != "pairs":
            continue
        closer = _CLOSER.match(scan.folded, found.call.end)
        end = closer.end() if closer else found.call.end
        yield Reading("glm_arg_kv", start, end, (found.call,), found.damage | damages("opener_missing"))
        position = max(position, end)


def _next(scan: Scan, position: int) -> int | None:
    """Where the next name stands that a key follows."""
    key = scan.folded.find("<arg_key>", position)
    while key >= 0 and scan.charge(key - position, 2):
        name = _NAME_BEFORE.search(scan.folded, max(position, key - _REACH), key)
        if name:
            return name.start("name")
        position, key = key + 1, scan.folded.find("<arg_key>", key + 1)
    return None


GLM_PAIRS = Grammar(families=("glm_arg_kv",), anchors=spellings("<arg_key>"), read=_read)
