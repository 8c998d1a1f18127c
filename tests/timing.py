"""CPU seconds of a piece of work, on a machine that may be busy with others."""

import re
from collections.abc import Callable
from time import process_time

QUIET = 0.0035
"""CPU seconds of `yardstick` on the quiet core that the bounds of the tests are meant for."""
TOKEN = re.compile(r'<(\w+)=?|("[^"]*")|[{}\[\]]')
TEXT = 'Some text {"a": [1, 2]} <function=ls> and `code` "quoted"\n' * 400


def takes_less(seconds: float, work: Callable[[], object], attempts: int = 5) -> bool:
    """True if `work` takes less than so many CPU seconds of a quiet core in one of the attempts.

    A neighbour that takes the caches, or a slower core, makes the yardstick before and after as slow as the work
    between; work that is too slow is so each time.
    """

    def attempt() -> bool:
        before, spent, after = cpu_seconds(yardstick), cpu_seconds(work), cpu_seconds(yardstick)
        return spent < seconds * max(1, (before + after) / 2 / QUIET)

    return any(attempt() for _ in range(attempts))


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    began = process_time()
    work()
    return process_time() - began


def yardstick() -> int:
    """A fixed piece of the kind of work that is measured: a pattern over text, and small numbers."""
    tokens = sum(len(found[0]) + found.start() % 7 for found in TOKEN.finditer(TEXT))
    return tokens + sum(number * number % 7 for number in range(60_000))
