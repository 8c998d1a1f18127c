"""How long pages and queries take over a large store, asked of the real server: `python -m tests.bench.pages`.

The first time is that of a service that has answered nothing yet, the median of a few services: what is remembered
until a change is computed then. A page is asked again many times; a query costs what it costs the first time. What
takes longer than its target is marked. On a busy machine a time is mostly waiting: CPU milliseconds, of the service and
of who asks it, stand beside it, and what took no more of them than its target is not marked.
"""

import argparse
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from statistics import median

from analysis.registry import current
from analysis.rollups import refresh
from ingest.store import Store
from tests.api.service import Service, served
from tests.bench import large_store

LAST_DAY = date(2026, 11, 29)
PAGE, QUERY = 50, 250
"""Targets of the 95th percentile, in milliseconds."""
PATIENCE = 3600.0
REPEATS = 20
FRESH = 5
"""Services that are asked for the first time."""
LONG = 5_000
"""Milliseconds from which on one first time must do."""
PAGES = ("/", "/series", "/drift", "/recovery", "/audit", "/replays", "/review", "/runs",
         f"/runs/{large_store.run_id(7)}", "/uploads", "/detectors", "/labels")  # fmt: skip
COMPUTED = ("/v1/drift", "/v1/recovery", "/v1/audit")
"""What the service computes once after a change, and keeps for its page."""
BY_ALL = ("model", "engine", "engine_version", "template", "tool_parser", "client", "client_version", "provider")
QUERIES = (
    f"/v1/rates?by={','.join(BY_ALL)}",
    "/v1/rates?where=model%3Dmodel-1*",
    "/v1/rates?where=role%3Dagent",
    "/v1/rates?by=engine&since=2026-11-01",
    "/v1/trend",
    "/v1/trend/figure?where=engine%3Dvllm",
    "/v1/series?row=model&column=engine_version",
    "/v1/series?row=template&column=client&where=engine%3Dvllm&since=2026-10-01",
    "/v1/series?row=model&column=tools_offered",
    "/v1/series?row=model&column=prompt_tokens",
    "/v1/series?row=tools_offered&column=prompt_tokens&where=role%3Dagent",
    "/v1/series?row=model&column=family",
    "/v1/series?row=kind&column=channel",
    "/v1/series?row=prompt_tokens&column=tool&where=engine%3Dvllm",
)
COUNTED = (
    "/v1/rates?where=status%3Dok",
    "/v1/rates?since=2026-11-01T12:00Z",
    "/v1/series?row=model&column=kind&where=finish_reason%3Dstop",
    "/runs?where=model%3Dmodel-1&leaking=true",
)
"""Filters that the rollups do not have: what they ask for is counted when asked."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of one request, by the clock and of CPU."""

    wall: float
    cpu: float

    @property
    def least(self) -> float:
        """What it would have taken on a quiet machine, at the most: work may also be spread over cores."""
        return min(self.wall, self.cpu)


@dataclass(frozen=True, slots=True)
class Times:
    """What a page or query cost: the first times, and those that followed."""

    path: str
    target: int
    firsts: tuple[Cost, ...]
    later: tuple[Cost, ...]

    @property
    def missed(self) -> str:
        """What took longer than the target."""
        first = median(each.least for each in self.firsts) > self.target
        high = bool(self.later) and _high(each.least for each in self.later) > self.target
        return "missed" if high or (first and not self.later) else "first missed" if first else ""

    def __str__(self) -> str:
        first, cpu = median(each.wall for each in self.firsts), median(each.cpu for each in self.firsts)
        walls, cpus = [each.wall for each in self.later], [each.cpu for each in self.later]
        later = f"{median(walls):>8,.0f}{_high(walls):>8,.0f}{_high(cpus):>8,.0f}" if walls else " " * 24
        return f"{self.path[:64]:<66}{first:>8,.0f}{cpu:>8,.0f}{later}  ≤ {self.target}  {self.missed}".rstrip()


def _high(values: Iterable[float]) -> float:
    """The 95th percentile."""
    found = sorted(values)
    return found[math.ceil(0.95 * len(found)) - 1]


def measured(store: Path, repeats: int, fresh: int, pages: Sequence[str] = PAGES) -> list[Times]:
    """Every page and query: first by so many services one after the other, then the pages again by the last."""
    asked = [*((path, PAGE) for path in pages), *((path, QUERY) for path in (*QUERIES, *COUNTED))]
    firsts: dict[str, list[Cost]] = {path: [] for path, _ in asked}
    later: dict[str, list[Cost]] = {}
    for number in range(fresh):
        with served(store) as service:
            for path, _ in asked:
                if number == 0 or firsts[path][0].wall < LONG:
                    firsts[path].append(cost(partial(ask, service, path)))
            if number == fresh - 1:
                later = {path: [cost(partial(ask, service, path)) for _ in range(repeats)] for path in pages}
    return [Times(path, target, tuple(firsts[path]), tuple(later.get(path, ()))) for path, target in asked]


def ask(service: Service, path: str) -> None:
    """One request. RuntimeError if it fails."""
    answer = service.http.get(path, timeout=PATIENCE)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:200]}")


def cost(work: Callable[[], object]) -> Cost:
    """What it takes."""
    started, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost((time.perf_counter() - started) * 1000, (time.process_time() - cpu) * 1000)


def _computed(service: Service, path: str) -> str:
    """Seconds, or why there is no answer."""
    try:
        return _seconds(cost(partial(ask, service, path)))
    except RuntimeError as fault:
        return f"failed: {fault}"


def rolled_up(store: Path) -> Cost:
    """All of a store counted."""
    with Store.open(store) as opened:
        return cost(lambda: refresh(opened, current(opened)))


def table(folder: Path, generations: int, repeats: int = REPEATS, keep: Path | None = None) -> Iterator[str]:
    """The lines of the report, over a store that is made in `folder`, or kept at `keep`."""
    store = keep or folder / "large.duckdb"
    if not store.exists():
        large_store.write(store, generations, str(LAST_DAY - timedelta(days=large_store.DAYS - 1)))
    yield f"{generations:,} generations, {large_store.SERIES_COUNT} series, {large_store.DAYS} days"
    yield f"all counted for the rollups: {_seconds(rolled_up(store))}"
    with served(store) as service:
        for path in COMPUTED:
            yield f"{path} computed, which is kept until a change: {_computed(service, path)}"
    found = measured(store, repeats, FRESH)
    yield f"{'milliseconds':<66}{'first':>8}{'CPU':>8}{'p50':>8}{'p95':>8}{'CPU':>8}  target"
    yield from map(str, found)
    yield f"{sum(bool(each.missed) for each in found)} of {len(found)} missed a target; load average {_load()}"
    yield from _after_an_upload(store)


def _after_an_upload(store: Path) -> Iterator[str]:
    with served(store) as service:
        ask(service, "/")
        new = large_store.records(10_000, time.time_ns())
        upload = cost(lambda: service.http.post("/v1/uploads?name=n.jsonl", content=new, timeout=PATIENCE))
        yield f"an upload of 10,000 generations, its runs counted: {_seconds(upload)}"
        yield f"the first Overview after it: {_seconds(cost(partial(ask, service, '/')))}"


def _seconds(of: Cost) -> str:
    return f"{of.wall / 1000:,.2f} s ({of.cpu / 1000:,.2f} s of CPU)"


def _load() -> str:
    return " ".join(f"{load:.1f}" for load in os.getloadavg())


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=500_000)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="requests of each page and query")
    parser.add_argument("--keep", type=Path, help="a store to make there, or to use as it is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for line in table(Path(folder), options.generations, options.repeats, options.keep):
            print(line, flush=True)


if __name__ == "__main__":
    main()
