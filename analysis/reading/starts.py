"""One walk over a text: at each place where a family's markup may start, one reading is tried."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.reading import Reading, Scan

_TRY = 4
"""Steps that a try takes, besides what it looks at."""


@dataclass(frozen=True, slots=True)
class Starts:
    """A pattern that is tried only where it can match: where `sign` matches, or right behind that, if it is the sign's
    group `behind` that does (of at most `longest` characters). To try it at every character takes far longer."""

    pattern: re.Pattern[str]
    sign: re.Pattern[str]
    longest: int = 0

    def search(self, text: str, position: int) -> re.Match[str] | None:
        """What `pattern.search` finds from `position` on."""
        found = self.pattern.match(text, position)
        behind = max(0, position - self.longest)
        while found is None and (sign := self.sign.search(text, behind)) is not None:
            behind = sign.end()
            at = sign.end() if sign.lastgroup else sign.start()
            found = self.pattern.match(text, at) if at >= position else None
        return found


def first_of(signs: str, text: str) -> int:
    """Where the first of `signs` stands in `text`, or its end: a pattern takes ten times as long to find that out."""
    return min((at for sign in signs if (at := text.find(sign)) >= 0), default=len(text))


def read_from_starts(
    scan: Scan, start: re.Pattern[str], read: Callable[[Scan, int], Reading | None]
) -> Iterator[Reading]:
    """What `read` makes of each match of `start` in the folded text that no earlier reading holds, until the budget
    is spent."""
    position = 0
    while (found := start.search(scan.folded, position)) is not None:
        if not scan.charge(found.end() - position, _TRY):
            return
        position = found.end()
        reading = read(scan, found.start())
        if reading:
            yield reading
            position = max(position, reading.end)
