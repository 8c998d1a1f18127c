"""CPU seconds of a piece of work, on a machine that may be busy with others."""

from collections.abc import Callable
from time import process_time


def takes_less(seconds: float, work: Callable[[], object], attempts: int = 5) -> bool:
    """True if `work` takes less than so many CPU seconds in one of the attempts: a neighbour that takes the caches
    makes single runs slow, work that is too slow is so each time."""
    return any(cpu_seconds(work) < seconds for _ in range(attempts))


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    began = process_time()
    work()
    return process_time() - began
