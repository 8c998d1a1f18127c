"""Gemma's and Gemini's `call:NAME{…}` without its tokens."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar
from analysis.reading import Damage, Reading, Scan
from analysis.reading.bodies import read_body

_START = re.compile(r"(?<![A-Za-z0-9_:])(?:call|declaration):(?P<api>default_api:)?[^\W\d][\w.:/-]{0,127}+[{(]")
_CLOSERS = re.compile(r"\s*(?:<tool_call\|>|<end_function_call>)+")


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (start := _START.search(scan.text, position)) is not None:
        if not scan.charge(start.end() - position):
            return
        position = start.end()
        body = read_body(scan, start.start())
        if body is None or body.kind != "braces":
            continue
        closer = _CLOSERS.match(scan.text, body.end)
        end = closer.end() if closer else body.end
        damage: set[Damage] = set(body.damage)
        if not start["api"]:
            damage.add("opener_missing" if closer else "stripped")
        yield Reading("gemini_textual" if start["api"] else "gemma4", start.start(), end, body.calls, frozenset(damage))
        position = max(position, end)


BRACE_CALLS = Grammar(
    families=("gemma4", "gemini_textual", "functiongemma"),
    anchors=("call:", "declaration:"),
    read=_read,
    examples={"gemini_textual": 'call:default_api:look{at:"sky"}'},
)
