"""The inline text of one paragraph or heading, and the code spans in it.

Raw HTML and autolinks bind as tightly as code spans do: the leftmost wins.
Source: CommonMark 0.31.2, sections 2.4, 6.1, 6.5 and 6.6. Repetitions are possessive, so that no match backtracks.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

_SPACE = r"[ \t\r\n]"
_VALUE = r"""(?:[^ \t\r\n"'=<>`]++|'[^']*+'|"[^"]*+")"""
_ATTRIBUTE = rf"{_SPACE}++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:{_SPACE}*+={_SPACE}*+{_VALUE})?+"
_LABEL = r"(?>[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)"
_ANGLE_BRACKETED = (
    rf"[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+{_SPACE}*+/?+>"  # an opening tag
    rf"|/[A-Za-z][A-Za-z0-9-]*+{_SPACE}*+>"  # a closing tag
    r"|[A-Za-z][A-Za-z0-9.+-]{1,31}+:[^\x00-\x20\x7f<>]*+>"  # an address with a scheme
    rf"|[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]++@{_LABEL}(?:\.{_LABEL})*+>"  # an e-mail address
    r"|!--(?:-?>)"  # an empty comment
)
_TOKEN = re.compile(rf"\\[\\`<]|<(?:{_ANGLE_BRACKETED})|(?P<run>`++)|<(?P<opener>!--|\?|!\[CDATA\[|![A-Za-z])")
_RUN = re.compile("`++")
_CLOSERS = {"!--": "-->", "?": "?>", "![CDATA[": "]]>"}


@dataclass(slots=True)
class Inlines:
    """The inline text of a paragraph or heading: the slices of the text that hold it, container marks left out."""

    starts: list[int]
    ends: list[int]

    def code_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The code spans in these slices of the original `text`, as code points [start, end) of it, in order."""
        slices = list(zip(self.starts, self.ends, strict=True))
        offsets = list(accumulate((end - start for start, end in slices), initial=0))

        def original(offset: int) -> int:
            index = bisect_right(offsets, offset) - 1
            return self.starts[index] + offset - offsets[index]

        for start, end in code_spans("".join(text[start:end] for start, end in slices)):
            yield original(start), original(end - 1) + 1


def code_spans(content: str) -> Iterator[tuple[int, int]]:
    """The code spans of `content`, one whole inline text: [start, end) with both backtick runs, in order."""
    closing_runs = _ClosingRuns(content)
    absent: set[str] = set()
    position, last = 0, content.rfind("`")
    while position <= last and (token := _TOKEN.search(content, position)):
        position = token.end()
        if run := token["run"]:
            closer = closing_runs.first(len(run), position)
            if closer is not None:
                position = closer + len(run)
                yield token.start(), position
        elif opener := token["opener"]:
            position = _end_of_html(content, token.start(), opener, absent)


class _ClosingRuns:
    """The backtick runs of an inline text by length; asked for ascending positions only."""

    def __init__(self, content: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in _RUN.finditer(content):
            self._starts.setdefault(run.end() - run.start(), []).append(run.start())
        for starts in self._starts.values():
            starts.reverse()

    def first(self, length: int, position: int) -> int | None:
        """Where the first run of exactly `length` from `position` on starts; None without one."""
        starts = self._starts.get(length, [])
        while starts and starts[-1] < position:
            starts.pop()
        return starts[-1] if starts else None


def _end_of_html(content: str, start: int, opener: str, absent: set[str]) -> int:
    """Behind the comment, instruction, declaration or CDATA section at `start`; behind its `<` if it is none.

    A closer once not found goes into `absent` and is not searched again: this keeps false starts linear.
    """
    closer = _CLOSERS.get(opener, ">")
    if closer not in absent:
        found = content.find(closer, start + 1 + len(opener))
        if found >= 0:
            return found + len(closer)
        absent.add(closer)
    return start + 1
