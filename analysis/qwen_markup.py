"""Qwen's function markup with a tool-call envelope, written into a reply as text, as GOAT recognises it.

Only Markdown fences protect: inline code does not. The text is never turned into a call.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.detectors import Finding
from analysis.markdown import Region, fences, outside
from analysis.markers import FUNCTION, MARKUP_LIMIT
from analysis.output import Output
from ingest.records import Kind

OPENER = "<tool_call>"
CLOSER = "</tool_call>"
FUNCTION_CLOSER = "</function>"

_FUNCTION = re.compile(r"<function=([^<>\n]++)>")
_TAG = re.compile(f"{OPENER}|{CLOSER}|{FUNCTION}|{FUNCTION_CLOSER}")


@dataclass(frozen=True, slots=True)
class _Call:
    """The extent of the first call of an offered tool, and what of its frame is there."""

    name: str
    start: int
    end: int
    opened: bool
    function_closed: bool
    envelope_closed: bool

    @property
    def kind(self) -> Kind:
        if not self.function_closed:
            return "truncated_call"
        return "leaked_call" if self.opened and self.envelope_closed else "malformed_call"


def function_leak(output: Output, envelopes: Sequence[str]) -> Finding | None:
    """The first function markup that names an offered tool, if one of `envelopes` stands in the content too.

    The span is the first call's, whole; `markup` is its first 200 code points.
    """
    text = output.content
    if not text or output.calls or FUNCTION not in text:
        return None
    fenced = fences(output.content_code)
    envelope = next((each for each in envelopes if _stands(text, each, fenced)), None)
    call = _first_call(text, output.offered_names, fenced)
    return None if envelope is None or call is None else _finding(output, text, call, envelope)


def _finding(output: Output, text: str, call: _Call, envelope: str) -> Finding:
    tool = "a tool that the run has called" if output.tools is None else "an offered tool"
    return Finding(
        kind=call.kind,
        family="qwen3_coder_xml",
        tier="certain",
        tool=call.name,
        channel="content",
        start=call.start,
        end=call.end,
        markup=text[call.start : call.end][:MARKUP_LIMIT],
        reason=f"<function={call.name}> names {tool}, {envelope} stands outside fences too "
        "and no structured call was made",
    )


def _stands(text: str, literal: str, fenced: Sequence[Region]) -> bool:
    positions = (match.start() for match in re.finditer(literal, text))
    return next(outside(positions, fenced), None) is not None


def _first_call(text: str, names: frozenset[str], fenced: Sequence[Region]) -> _Call | None:
    offered = (match.start() for match in _FUNCTION.finditer(text) if match[1] in names)
    at = next(outside(offered, fenced), None)
    head = None if at is None else _FUNCTION.match(text, at)
    if head is None:
        return None
    opener = _opener_before(text, head.start(), fenced)
    start = head.start() if opener is None else opener
    end, function_closed, envelope_closed = _close(text, head.end(), fenced)
    return _Call(head[1], start, end, opener is not None, function_closed, envelope_closed)


def _opener_before(text: str, at: int, fenced: Sequence[Region]) -> int | None:
    """The opening envelope with nothing but blanks between it and `at`."""
    opener = text.rfind(OPENER, 0, at)
    if opener < 0 or text[opener + len(OPENER) : at].strip():
        return None
    return next(outside([opener], fenced), None)


def _close(text: str, after: int, fenced: Sequence[Region]) -> tuple[int, bool, bool]:
    """The end of the call's last closer; is its function closed; is its envelope closed after that.

    An opening after a closer begins the next call; one before any closer stands in a value. Without a closer
    the call runs to the end of the text.
    """
    end, function_closed, envelope_closed = -1, False, False
    for tag, tag_end in _tags(text, after, fenced):
        if tag in (FUNCTION_CLOSER, CLOSER):
            end = tag_end
            envelope_closed |= function_closed and tag == CLOSER
            function_closed |= tag == FUNCTION_CLOSER
        elif end >= 0:
            break
    return (end if end >= 0 else len(text.rstrip())), function_closed, envelope_closed


def _tags(text: str, after: int, fenced: Sequence[Region]) -> Iterator[tuple[str, int]]:
    for at in outside((match.start() for match in _TAG.finditer(text, after)), fenced):
        if tag := _TAG.match(text, at):
            yield tag[0], tag.end()
