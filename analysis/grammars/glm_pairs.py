"""Pairs or JSON behind a tool's name and its separator, without the tag that opens the call: GLM, LongCat, Hunyuan."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import Reading, Scan, damages
from analysis.reading.named_bodies import read_named

_REACH = 160
"""Characters before a key or separator in which its call's name must begin."""
_NAME_BEFORE = re.compile(r"(?<![\w.:/>-])(?P<name>[^\W\d][\w.:/-]{0,127})(?:\\n|\s){0,16}$")
_CLOSER = re.compile(r"\s*(?:</(?:longcat_)?tool_call>|<end_of_tool_call(?::\w{1,32}+)?>)")
_SIGN = re.compile(r"<(?P<longcat>longcat_)?arg_key>|<tool_sep(?::\w{1,32}+)?>")


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (found := _next(scan, position)) is not None:
        start, family = found
        named = read_named(scan, start)
        position = start + 1
        if named is None or named.kind not in ("pairs", "separated"):
            continue
        closer = _CLOSER.match(scan.folded, named.call.end)
        end = closer.end() if closer else named.call.end
        yield Reading(family, start, end, (named.call,), named.damage | damages("opener_missing"))
        position = max(position, end)


def _next(scan: Scan, position: int) -> tuple[int, str] | None:
    """Where the next name stands that a key or a separator follows, and whose it is."""
    at = position
    while (sign := _SIGN.search(scan.folded, at)) is not None and scan.charge(sign.end() - at, 2):
        name = _NAME_BEFORE.search(scan.folded, max(position, sign.start() - _REACH), sign.start())
        if name:
            family = "longcat" if sign["longcat"] else "glm_arg_kv" if "arg" in sign[0] else "hunyuan3"
            return name.start("name"), family
        position = at = sign.end()
    return None


GLM_PAIRS = Grammar(
    families=("glm_arg_kv", "longcat", "hunyuan3"), anchors=spellings("arg_key>", "<tool_sep"), read=_read
)
