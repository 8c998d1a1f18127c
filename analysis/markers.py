"""The openings of a tool call that OpenRouter.Net looks for in a reply, outside Markdown code."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from analysis.detectors import Finding
from analysis.markdown import outside
from analysis.output import Output
from analysis.reading.starts import first_of
from ingest.records import Kind

MARKUP_LIMIT = 200
"""Code points of a finding's `markup`. The .NET library cuts at as many UTF-16 units."""

FUNCTION = "<function="


@dataclass(frozen=True, slots=True)
class Marker:
    """An opening; `closer` is None where its grammar has none, `family` where several families share it."""

    literal: str
    closer: str | None = None
    family: str | None = None


MARKERS = (
    Marker("<tool_call>", "</tool_call>"),
    Marker("<tool_calls>", "</tool_calls>"),
    Marker("<|tool_call_begin|>", "<|tool_call_end|>", "kimi_k2"),
    Marker("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "kimi_k2"),
    # DeepSeek V3 and V3.1 share their markers: only what follows the name tells them apart.
    Marker("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    Marker("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    Marker(FUNCTION, "</function>"),
    Marker("<|python_tag|>", family="llama3_json"),
    Marker("[TOOL_CALLS]"),
    Marker("<function_calls>", "</function_calls>"),
    Marker("<invoke name=", "</invoke>"),
)
LITERALS = tuple(marker.literal for marker in MARKERS)

_SIGNS = "".join(sorted({literal[0] for literal in LITERALS}))
_BY_LITERAL = {marker.literal: marker for marker in MARKERS}
_OPENING = re.compile("|".join(map(re.escape, LITERALS)))
_NAME = re.compile(r'<function=([^<>\n]++)>|<invoke name="([^"<>\n]++)"')


def marker_positions(text: str) -> Iterator[int]:
    """Where the markers stand in `text`, in code and out of it, ascending."""
    return (match.start() for match in _OPENING.finditer(text, first_of(_SIGNS, text)))


def earliest_marker(output: Output, candidates: Callable[[str], Iterable[int]]) -> Finding | None:
    """The first of the candidate positions outside Markdown code, if the gates on tools and calls pass.

    `candidates` gives ascending positions of markers in a text; where a marker starts decides if it is code.
    """
    text = output.content
    if not text or output.calls or not output.may_have_tools:
        return None
    # The Markdown scan is the costly part; most replies hold no marker.
    if not any(literal in text for literal in LITERALS):
        return None
    start = next(outside(candidates(text), output.content_code), None)
    return None if start is None else _finding(output, text, start)


def _finding(output: Output, text: str, start: int) -> Finding:
    marker = _marker_at(text, start)
    end = min(start + MARKUP_LIMIT, len(text.rstrip()))
    markup = text[start:end]
    tools = "the offered tools are unknown" if output.tools is None else "tools were offered"
    return Finding(
        kind=_kind(marker, text, start),
        family=marker.family,
        tier="certain",
        tool=_name(markup),
        channel="content",
        start=start,
        end=end,
        markup=markup,
        reason=f"{marker.literal} stands outside Markdown code, {tools} and no structured call was made",
    )


def _marker_at(text: str, start: int) -> Marker:
    found = _OPENING.match(text, start)
    if found is None:
        raise ValueError(f"no marker at {start}")
    return _BY_LITERAL[found[0]]


def _kind(marker: Marker, text: str, start: int) -> Kind:
    """The library does not classify: a call whose own closer never comes was cut, any other has leaked."""
    if marker.closer is None or text.find(marker.closer, start) >= 0:
        return "leaked_call"
    return "truncated_call"


def _name(markup: str) -> str | None:
    named = _NAME.match(markup)
    return (named[1] or named[2]) if named else None
