"""Where a reading stands in its text: as a call would, or quoted, explained, escaped, reviewed."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.evidence.about import at_work, goes_on_about, introduces, waits
from analysis.evidence.runs import Run, runs
from analysis.markdown import Region
from analysis.reading import Reading

CUE = 160
"""Characters before a reading in which an announcement of an example is looked for."""

LINE = 1_000
"""Characters of its line that are looked at on each side of a reading."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」", "„": "“", "(": ")"}
_EXAMPLE = re.compile(
    r"(?:\b(?:for (?:example|instance)|e\.g\.|examples?\b|such as|looks? like|like this|like so|of the form|"
    r"in the form|(?:formats?|templates?|schemas?)\b(?![^\n]*[.。!]$)|syntax|"
    r"literal|the (?:marker|token|tag|string|text|model|server|parser) |"
    r"would (?:be|emit|write|print|look)|emits?|expects?|accepts?|writes|prints|means|called|named|regex|patterns?\b|"
    r"documentation|quot\w{1,6}|zum beispiel|beispiel|par exemple|exemple|por ejemplo|ejemplo)|"
    r"例如|例えば|比如|示例)[^\n]{0,60}$",
    re.IGNORECASE,
)
"""A third person writes and prints examples; a first person who will write or print is at work, as is one who speaks
of a format or a schema in a sentence that ends."""
_SHOWING = re.compile(
    r"\b(?:for instance|e\.g\.|(?:for )?examples?|such as|looks? like|like this|like so|of the form|in the form|"
    r"would (?:be|emit|write|print|look)|beispiel|exemple|ejemplo)\b|例",
    re.IGNORECASE,
)
"""What announces an example, whoever speaks."""
_THOUGHT = "</think>"
"""What stands behind it begins a line of its own."""
_SHOWN = re.compile(r"[ \t]*(?:\|[^|\n]*\||<!--|\d{1,6}[ \t]*[:|→\t])")
"""A cell of a table, a comment, the number of a line."""
_ENTITY = re.compile(r"&(?:lt|gt|#0*6[02]);")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEADS_UP = re.compile(r"[\w,:;][ \t]$")


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a reading stands. Each question is answered when somebody asks: most readings need few.

    `code` holds the last region that begins no later than the reading; `prose` is where the last stretch of the text
    begins that is prose; `bounds` are those of what is not blank in it.
    """

    text: str
    reading: Reading
    code: Sequence[Region]
    prose: int
    bounds: tuple[int, int]
    run: Run

    @cached_property
    def coded(self) -> bool:
        """In Markdown code."""
        start = self.reading.start
        within = any(start < each.end or each.start == start for each in self.code if each.start <= start)
        return within and not _own(self.reading, self.code)

    @cached_property
    def quoted(self) -> bool:
        """Between quotation marks, in a block quote, a diff or an escape."""
        return _quoted(self.text, self.reading.start, self.reading.end, self._prefix)

    @cached_property
    def inline(self) -> bool:
        """Prose on both sides on its line."""
        suffix = self.text[self.reading.end : self.reading.end + LINE].partition("\n")[0]
        return bool(_WORD.search(self._prefix)) and bool(_WORD.search(suffix))

    @cached_property
    def line_start(self) -> bool:
        """Nothing but blanks before it on its line."""
        line = self._line
        return not self._prefix.strip() and (line == 0 or self.text[line - 1] in "\n>")

    @property
    def before(self) -> bool:
        """There is prose before it in the text."""
        return self.bounds[0] < self.reading.start

    @property
    def after(self) -> bool:
        """There is prose behind it in the text."""
        return self.prose >= self.reading.end

    @cached_property
    def announced(self) -> bool:
        """What stands before it announces an example."""
        return _announced(_lead(self.text, self.reading.start))

    @cached_property
    def trailing(self) -> bool:
        """Nothing at all follows it, and it hangs on what is before it: no word and blank lead up to it."""
        start = self.reading.start
        return self.bounds[1] <= self.reading.end and not _LEADS_UP.search(self.text[max(0, start - 2) : start])

    @property
    def led(self) -> bool:
        """The line before it speaks about calls."""
        return self.run.led

    @cached_property
    def colon(self) -> bool:
        """The line before it ends in a colon, and nobody is at work in it."""
        return introduces(self.run.line)

    @cached_property
    def discussed(self) -> bool:
        """There is prose behind it, and the words on one of its sides speak about calls."""
        return self.after and (self.run.led or goes_on_about(self.text, self.run.end, self.run.ceiling))

    @cached_property
    def waiting(self) -> bool:
        """What follows it, to the end of the text, waits for a call."""
        return self.after and waits(self.text, self.run.end, self.run.ceiling)

    @cached_property
    def working(self) -> bool:
        """In the line before it a first person is at work."""
        return at_work(self.run.line)

    @property
    def introduced(self) -> bool:
        """A line that speaks about calls, or announces an example, ends in a colon before it."""
        return self.colon and (self.led or self.announced)

    @property
    def whole(self) -> bool:
        """The reading is all of the text."""
        return not self.before and not self.after

    @cached_property
    def _line(self) -> int:
        """Where its line begins."""
        start = self.reading.start
        nearest = max(0, start - LINE)
        line = self.text.rfind("\n", nearest, start) + 1 or nearest
        thought = self.text.rfind(_THOUGHT, line, start)
        return line if thought < 0 else thought + len(_THOUGHT)

    @property
    def _prefix(self) -> str:
        return self.text[self._line : self.reading.start]


def standing(text: str, reading: Reading, code: Sequence[Region], others: Sequence[Reading] = ()) -> Standing:
    """Where `reading` stands in `text`, whose code regions are `code`; `others` read there are no prose."""
    return standings(text, (reading, *others), code)[0]


def standings(text: str, found: Sequence[Reading], code: Sequence[Region]) -> list[Standing]:
    """Where each of the readings `found` in `text`, which do not overlap, stands; none of them is prose to another.

    Time grows with the text and the number of readings, and not with their product.
    """
    prose = _last_prose(text, found)
    bounds = len(text) - len(text.lstrip()), len(text.rstrip())
    starts = [region.start for region in code]
    last = [bisect_right(starts, reading.start) for reading in found]
    return [
        Standing(text, reading, code[max(0, at - 1) : at], prose, bounds, run)
        for reading, at, run in zip(found, last, runs(text, found), strict=True)
    ]


def _last_prose(text: str, found: Sequence[Reading]) -> int:
    """Where the last stretch between readings begins that holds a word; -1 if none does."""
    stop = len(text)
    for reading in sorted(found, key=lambda each: each.end, reverse=True):
        if _WORD.search(text, reading.end, stop):
            return reading.end
        stop = min(stop, reading.start)
    return -1


def _own(reading: Reading, code: Sequence[Region]) -> bool:
    """True if the fence at the reading's start is the reading's own."""
    return reading.fenced and any(region.kind == "fence" and region.start == reading.start for region in code)


def _announced(line: str) -> bool:
    """The line announces an example. A first person at work speaks of a format or a schema, too; if the sentence has
    ended, of an example that was looked for."""
    if not _EXAMPLE.search(line):
        return False
    return not at_work(line) or (bool(_SHOWING.search(line)) and not line.endswith((".", "!", "。", "！")))


def _lead(text: str, start: int) -> str:
    """The line before the reading, or the part of its own line."""
    return text[max(0, start - CUE) : start].rstrip().rsplit("\n", 1)[-1].rstrip(" :`*_—–-")


def _quoted(text: str, start: int, end: int, prefix: str) -> bool:
    lead = prefix.lstrip()
    if lead.startswith(">") and not lead.startswith(">>>"):
        return True
    if _ENTITY.search(text, max(0, start - 8), end + 8):
        return True
    if prefix in ("+", "-", "+ ", "- ") or prefix.endswith("\\") or _SHOWN.match(prefix):
        return True
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return before in _QUOTES and before != "" and after == _QUOTES[before]
