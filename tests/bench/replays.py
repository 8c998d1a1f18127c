"""What a replay costs from the store's opening to the report's being ready, as a process of its own:
`python -m tests.bench.replays STORE WHAT`; prints CPU seconds, those of its helpers included, and wall seconds.

recompute BASELINE CANDIDATE: both judge all anew, what is known of triggers being kept.
candidate BASELINE CANDIDATE: the verdicts of the baseline are known.
new-trigger LITERAL: every text is searched for it.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from analysis.detectors import detector
from analysis.judging import forget
from analysis.registry import judged
from analysis.replay import replay
from analysis.trigger_index import catch_up
from analysis.triggers import Term
from ingest.store import Store


def measured(store: Path, work: Callable[[Store], object]) -> None:
    """Open `store`, do the work, and print what it took."""
    cpu, wall = _cpu(), time.perf_counter()
    with Store.open(store) as opened:
        work(opened)
        print(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    return sum(os.times()[:4])


def main(path: str, what: str, *named: str) -> None:
    """Measure `what`."""
    store = Path(path)
    if what == "new-trigger":
        measured(store, lambda opened: catch_up(opened, {Term(named[0])}))
        return
    baseline, candidate = map(detector, named)
    if what == "candidate":
        with Store.open(store) as opened:
            judged(opened, baseline)
            with opened.transaction() as writer:
                forget(writer, candidate)
    measured(store, lambda opened: replay(opened, baseline, candidate, recompute=what == "recompute"))


if __name__ == "__main__":
    main(*sys.argv[1:])
