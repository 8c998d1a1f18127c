"""A look at all processes of a sandbox from outside: the kernel limits each, not what they take together.

It also bounds processes where the kernel does not: for root it counts none.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from analysis.candidates.limits import MEGABYTE, Limits

EVERY = 0.1
"""Seconds between two looks."""
_BWRAP = 2
"""Processes of the sandbox itself: whoever is held by the kernel's limit is not ended for it."""
_KIB = 1024
_OWN = ("RssAnon:", "RssShmem:")
"""Memory that is not of a file: what a process took for itself, or shares with its like."""


class Watch:
    """Looks at a process and all that came from it, not too often."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid, self._limits = pid, limits
        self._next = time.monotonic() + EVERY

    def look(self) -> str | None:
        """What they take too much of; None if nothing, or if it is too early to look again."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + EVERY
        return self._over()

    def _over(self) -> str | None:
        tasks = memory = 0
        for pid in _family(self._pid):
            status = _status(pid)
            tasks += status.get("Threads:", 0)
            memory += sum(status.get(name, 0) for name in _OWN) * _KIB
            if tasks > self._limits.processes + _BWRAP:
                return f"crash: ended with more than {self._limits.processes:,} processes"
            if memory > self._limits.memory:
                return f"crash: ended with more than {self._limits.memory // MEGABYTE:,} megabytes in all its processes"
        return None


def _family(pid: int) -> Iterator[int]:
    """A process and those that came from it, as long as they live."""
    yield pid
    try:
        for task in (Path("/proc") / str(pid) / "task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:
        return  # it has ended


def _status(pid: int) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}  # it has ended
    rows = (line.split() for line in lines)
    return {row[0]: int(row[1]) for row in rows if row[0] in ("Threads:", *_OWN)}
