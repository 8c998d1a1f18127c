"""One walk over a text: at each place where a family's markup may start, one reading is tried."""

import re
from collections.abc import Callable, Iterator

from analysis.reading import Reading, Scan

_TRY = 4
"""Steps that a try takes, besides what it looks at."""


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
