"""Where a reading stands in its text: as a call would, or quoted, explained, escaped, reviewed."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.evidence.about import at_work, goes_on_about, introduces, lead, leads_about, waits
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


@dataclass(frozen=True, slots=True)
class Standing:
    """`coded`: in Markdown code; `quoted`: between quotation marks, in a block quote, a diff or an escape;
    `inline`: prose on both sides on its line; `before`, `after`: is there prose before and after it in the text;
    `announced`: what stands before it announces an example."""

    coded: bool
    quoted: bool
    inline: bool
    line_start: bool
    before: bool
    after: bool
    announced: bool
    trailing: bool
    """Nothing at all follows it, and it hangs on what is before it: no word and blank lead up to it."""

    led: bool
    """The line before it speaks about calls."""
    colon: bool
    """The line before it ends in a colon, and nobody is at work in it."""
    discussed: bool
    """There is prose behind it, and the words on one of its sides speak about calls."""
    waiting: bool
    """What follows it, to the end of the text, waits for a call."""
    working: bool
    """In the line before it a first person is at work."""

    @property
    def introduced(self) -> bool:
        """A line that speaks about calls, or announces an example, ends in a colon before it."""
        return self.colon and (self.led or self.announced)

    @property
    def whole(self) -> bool:
        """The reading is all of the text."""
        return not self.before and not self.after


def standing(text: str, reading: Reading, code: Sequence[Region], others: Sequence[Reading] = ()) -> Standing:
    """Where `reading` stands in `text`, whose code regions are `code`; `others` read there are no prose."""
    return standings(text, (reading, *others), code)[0]


def standings(text: str, found: Sequence[Reading], code: Sequence[Region]) -> list[Standing]:
    """Where each of the readings `found` in `text`, which do not overlap, stands; none of them is prose to another.

    Time grows with the text and the number of readings, and not with their product.
    """
    prose = _last_prose(text, found)
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    starts = [region.start for region in code]
    return [
        _one(text, reading, code[max(0, at - 1) : at], prose, (first, last), run)
        for reading, at, run in zip(
            found, (bisect_right(starts, reading.start) for reading in found), _runs(text, found), strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Run:
    """What is said around readings with blanks between: the line before speaks about calls, it ends in a colon, the
    words behind speak about calls."""

    led: bool
    colon: bool
    about: bool
    waiting: bool
    working: bool


def _runs(text: str, found: Sequence[Reading]) -> list[_Run]:
    """The run of each reading."""
    groups = _groups(text, found)
    starts = [found[group[0]].start for group in groups]
    ends = [found[group[-1]].end for group in groups]
    around = zip(groups, starts, ends, [0, *ends], [*starts[1:], len(text)], strict=False)
    runs: dict[int, _Run] = {}
    for group, start, end, floor, ceiling in around:
        line = lead(text, start, floor)
        run = _Run(
            leads_about(line),
            introduces(line),
            goes_on_about(text, end, ceiling),
            waits(text, end, ceiling),
            at_work(line),
        )
        runs |= dict.fromkeys(group, run)
    return [runs[at] for at in range(len(found))]


def _groups(text: str, found: Sequence[Reading]) -> list[list[int]]:
    """The positions in `found`, in order of the text, those together that only blanks part."""
    groups: list[list[int]] = []
    for at in sorted(range(len(found)), key=lambda at: found[at].start):
        last = found[groups[-1][-1]].end if groups else -1
        if groups and not text[last : found[at].start].strip():
            groups[-1].append(at)
        else:
            groups.append([at])
    return groups


def _one(
    text: str, reading: Reading, code: Sequence[Region], prose: int, bounds: tuple[int, int], run: _Run
) -> Standing:
    """`code`: the last region that begins no later than the reading; `bounds`: of what is not blank in the text."""
    start, end = reading.start, reading.end
    nearest = max(0, start - LINE)
    line = text.rfind("\n", nearest, start) + 1 or nearest
    line = text.rfind(_THOUGHT, line, start) + len(_THOUGHT) if _THOUGHT in text[line:start] else line
    prefix, suffix = text[line:start], text[end : end + LINE].partition("\n")[0]
    after = prose >= end
    return Standing(
        coded=any(start < region.end or region.start == start for region in code if region.start <= start)
        and not _own(reading, code),
        quoted=_quoted(text, start, end, prefix),
        inline=bool(_WORD.search(prefix)) and bool(_WORD.search(suffix)),
        line_start=not prefix.strip() and (line == 0 or text[line - 1] in "\n>"),
        before=bounds[0] < start,
        after=after,
        announced=_announced(_lead(text, start)),
        working=run.working,
        led=run.led,
        colon=run.colon,
        discussed=after and (run.led or run.about),
        waiting=after and run.waiting,
        trailing=bounds[1] <= end and not re.search(r"[\w,:;][ \t]$", text[max(0, start - 2) : start]),
    )


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
