"""Readings with nothing but blanks between them: what is said around one of them is said around all."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.evidence.about import lead, leads_about
from analysis.reading import Reading


@dataclass(frozen=True, eq=False)
class Run:
    """What is said around readings with blanks between, from `start` to `end`: between `floor` and `ceiling`, where
    other readings stand."""

    text: str
    start: int
    end: int
    floor: int
    ceiling: int

    @cached_property
    def line(self) -> str:
        """The line before."""
        return lead(self.text, self.start, self.floor)

    @cached_property
    def led(self) -> bool:
        """The line before speaks about calls."""
        return leads_about(self.line)


def runs(text: str, found: Sequence[Reading]) -> list[Run]:
    """The run of each reading."""
    groups = _groups(text, found)
    starts = [found[group[0]].start for group in groups]
    ends = [found[group[-1]].end for group in groups]
    around = zip(groups, starts, ends, [0, *ends], [*starts[1:], len(text)], strict=False)
    of: dict[int, Run] = {}
    for group, start, end, floor, ceiling in around:
        of |= dict.fromkeys(group, Run(text, start, end, floor, ceiling))
    return [of[at] for at in range(len(found))]


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
