"""Markdown code in a text: its fenced code blocks and code spans, as CommonMark 0.31 has them.

Whether tool-call markup stands in Markdown code decides whether it is shown to a reader or has leaked, so this
knows the containers (block quotes, list items), the blocks that end a paragraph, and what binds as tightly as a
code span (raw HTML tags, autolinks). Declared differences from CommonMark:

- indented code and HTML blocks are ordinary text: they excuse nothing and hide nothing. A line indented by four
  columns or more is paragraph text and opens no fence;
- links are not known. In CommonMark a link's destination or title, and a link reference definition, are no place
  for a code span; here a pair of backticks there is one.

Time and memory are linear in the text, whatever it holds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.markdown_blocks import Fence, leaf_blocks
from analysis.markdown_inlines import Inlines


@dataclass(frozen=True, slots=True)
class Region:
    """A fenced block or a code span: code points [start, end) of the original text, delimiters included.

    A fence starts at its opening fence characters, behind the indentation and the marks of its containers, and ends
    with its last line, the line ending left out: its closing fence, or the last line before its container ends.
    Container marks on its inner lines are covered. A span reaches from its first backtick to its last.
    """

    start: int
    end: int
    kind: Literal["fence", "span"]


def code_regions(text: str) -> tuple[Region, ...]:
    """The fenced code blocks and code spans of `text`, disjoint and in order.

    Any `str` will do, lone surrogates and NUL included. Source: CommonMark 0.31.2, sections 4.5 and 6.1; the
    declared differences stand in the module's docstring.
    """
    if "`" not in text and "~~~" not in text:
        return ()
    return tuple(_regions(text))


def outside(positions: Iterable[int], regions: Sequence[Region]) -> Iterator[int]:
    """Those of the ascending `positions` (code points) that stand in none of the `regions` of the same text."""
    cursor, count = 0, len(regions)
    for position in positions:
        while cursor < count and regions[cursor].end <= position:
            cursor += 1
        if cursor == count or position < regions[cursor].start:
            yield position


def fences(regions: Iterable[Region]) -> tuple[Region, ...]:
    """The fenced code blocks among `regions`, for readers that let only a fence excuse."""
    return tuple(region for region in regions if region.kind == "fence")


def _regions(text: str) -> Iterator[Region]:
    for block in leaf_blocks(text):
        match block:
            case Fence():
                yield Region(block.start, block.end, "fence")
            case Inlines():
                for start, end in block.code_spans(text):
                    yield Region(start, end, "span")
