"""How long pages and queries take over a large store, asked of the real server: `python -m tests.bench.pages`.

Each is asked a few times after a first time that is shown apart: what is remembered until a change is computed then, so
the first is what a query costs, and the others what a page does.
"""

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Iterator
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
LONG = 20_000
"""Milliseconds."""
PAGES = ("/", "/series", "/drift", "/recovery", "/replays", "/review", "/runs", "/runs/run-7", "/uploads", "/detectors",
         "/labels")  # fmt: skip
NOT_KEPT = ("/audit",)
"""Computed anew for each request."""
COMPUTED = ("/v1/drift", "/v1/recovery")
"""What the service computes once after a change, and keeps for its page."""
QUERIES = (
    "/v1/rates?by=model,engine,engine_version,template,tool_parser,client,client_version,provider",
    "/v1/rates?where=model%3Dmodel-1*",
    "/v1/rates?by=engine&since=2026-11-01",
    "/v1/trend",
    "/v1/trend/figure?where=engine%3Dvllm",
    "/v1/series?row=model&column=engine_version",
    "/v1/series?row=template&column=client&where=engine%3Dvllm&since=2026-10-01",
    "/v1/series?row=model&column=family",
    "/v1/series?row=tools_offered&column=prompt_tokens",
    "/v1/rates?where=role%3Dagent",
)


def rows(service: Service, paths: tuple[str, ...], target: int, repeats: int) -> Iterator[str]:
    """A line for each address: the first time, the median and the 95th percentile, in milliseconds."""
    for path in paths:
        first, *times = _times(service, path, repeats)
        high = sorted(times)[math.ceil(0.95 * len(times)) - 1]
        yield f"{path[:72]:<74}{first:>9,.0f}{median(times):>9,.0f}{high:>9,.0f}  ≤ {target}"


def _times(service: Service, path: str, repeats: int) -> list[float]:
    """Of the first request, and of so many more; of one more where the first took very long."""
    first = taken(partial(ask, service, path))
    return [first, *(taken(partial(ask, service, path)) for _ in range(repeats if first < LONG else 1))]


def ask(service: Service, path: str) -> None:
    """One request. RuntimeError if it fails."""
    answer = service.http.get(path, timeout=PATIENCE)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:200]}")


def taken(work: Callable[[], object]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _computed(service: Service, path: str) -> str:
    """Seconds, or why there is no answer."""
    try:
        return f"{taken(partial(ask, service, path)) / 1000:,.1f} s"
    except RuntimeError as fault:
        return f"failed: {fault}"


def rolled_up(store: Path) -> float:
    """Seconds in which all of a store is counted."""
    with Store.open(store) as opened:
        return taken(lambda: refresh(opened, current(opened))) / 1000


def table(folder: Path, generations: int, repeats: int = REPEATS, keep: Path | None = None) -> Iterator[str]:
    """The lines of the report, over a store that is made in `folder`, or kept at `keep`."""
    store = keep or folder / "large.duckdb"
    if not store.exists():
        large_store.write(store, generations, str(LAST_DAY - timedelta(days=large_store.DAYS - 1)))
    yield f"{generations:,} generations, {large_store.SERIES_COUNT} series, {large_store.DAYS} days"
    yield f"all counted for the rollups: {rolled_up(store):,.1f} s"
    with served(store) as service:
        for path in COMPUTED:
            yield f"{path} computed, which is kept until a change: {_computed(service, path)}"
        yield f"{'milliseconds':<74}{'first':>9}{'p50':>9}{'p95':>9}  target"
        yield from rows(service, PAGES, PAGE, repeats)
        yield from rows(service, QUERIES, QUERY, repeats)
        new = large_store.records(10_000)
        upload = taken(lambda: service.http.post("/v1/uploads?name=n.jsonl", content=new, timeout=PATIENCE))
        yield f"an upload of 10,000 generations, its runs counted: {upload / 1000:,.1f} s"
        yield from rows(service, NOT_KEPT, PAGE, repeats)


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
