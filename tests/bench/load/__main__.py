"""`python -m tests.bench.load`: a real service with everyone on it at once; latencies, and its memory over time.

8 uploaders, 32 readers, 2 reviewers, a replay and a promotion at a time. Exits with 1 if any answer was wrong.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.api.service import Process, process
from tests.bench.load.ledger import Ledger
from tests.bench.load.roles import Load

COUNTS = {"uploaders": 8, "readers": 32, "reviewers": 2, "replays": 1, "promotions": 1}
UNBOUNDED = 10**9
"""Requests of each: the time is what ends it."""


def resident(pid: int) -> int:
    """The memory of a process, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu(pid: int) -> float:
    """The seconds that a process has computed."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def watched(service: Process, load: Load, seconds: float, every: float) -> Iterator[tuple[float, float, int, int]]:
    """Runs the load; seconds, seconds computed, resident bytes and acknowledged uploads, every so many seconds until
    all have ended."""
    begun = time.monotonic()
    threads = load.threads(COUNTS, dict.fromkeys(COUNTS, UNBOUNDED))
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        pid = service.popen.pid
        yield time.monotonic() - begun, cpu(pid), resident(pid), load.ledger.acknowledged
        if time.monotonic() - begun > 2 * seconds + 120:
            alive = [thread.name for thread in threads if thread.is_alive()]
            load.ledger.wrong(f"not over after {time.monotonic() - begun:.0f} s: {alive}")
            return
        time.sleep(every)


def latencies(seconds: dict[str, list[float]]) -> Iterator[str]:
    """A line for each kind of request."""
    yield f"{'request':<28}{'n':>8}{'p50 ms':>10}{'p95 ms':>10}{'p99 ms':>10}{'most ms':>10}"
    for kind, taken in sorted(seconds.items()):
        ranked = [1000 * each for each in sorted(taken)]
        high, higher = (ranked[min(len(ranked) - 1, int(share * len(ranked)))] for share in (0.95, 0.99))
        yield f"{kind:<28}{len(taken):>8,}{median(ranked):>10,.0f}{high:>10,.0f}{higher:>10,.0f}{ranked[-1]:>10,.0f}"


def main() -> int:
    """Print the tables; 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--every", type=float, default=5, help="seconds between two looks at the memory")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two requests of a reader")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leakdown-load-") as folder, process(Path(folder, "s.duckdb")) as service:
        load = Load(service.url, Ledger(time.monotonic() + asked.seconds), pause=asked.pause)
        load.calibrate()
        print(f"{'seconds':>8}{'computed s':>12}{'resident MB':>14}{'uploads':>10}")
        for at, computed, size, uploads in watched(service, load, asked.seconds, asked.every):
            print(f"{at:>8.0f}{computed:>12.0f}{size / 1e6:>14,.0f}{uploads:>10,}", flush=True)
        faults = [*load.ledger.faults, *load.settled()]
    print("", *latencies(load.ledger.seconds), "", sep="\n")
    print(f"{load.ledger.acknowledged:,} uploads, {load.ledger.labels:,} labels, {load.ledger.waited:,} told to wait")
    print(f"{len(faults):,} wrong", *faults[:20], sep="\n  ")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
