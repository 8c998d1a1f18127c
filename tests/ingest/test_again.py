"""The same file again, and exports that overlap: what is there already is kept once, and costs less."""

import time
from pathlib import Path

import pytest

from analysis.detectors import detector
from analysis.judging import judge_for
from ingest.pipeline import UploadResult, ingest
from ingest.store import ROW_BYTES, Store
from ingest.sweeping import sweep
from tests.ingest.loading import MARK, Row, everything, generation, load, rows, written

WORDS = "The file was read, and then a test failed since its path is missing. " * 14


def numbered(first: int, last: int) -> list[Row]:
    """Generations of a kilobyte each, every hundredth of them with a leak."""
    leak = f"{MARK}ls</tool_call>"
    return [
        generation(generation_id=f"g{at}", run_id=f"r{at // 8}", content=f"{WORDS}{at}{'' if at % 100 else leak}")
        for at in range(first, last)
    ]


def brought(store: Store, first: int, last: int) -> UploadResult:
    """What became of a file of those generations, judged and searched as the command line has it."""
    source = written(store.path.parent / f"{first}-{last}.jsonl", numbered(first, last))
    return ingest(store, source, judge_for(detector("openrouter-net@1")))


def test_the_same_again_adds_nothing(tmp_path: Path) -> None:
    _, sizes, results = brought_twice(tmp_path / "s.duckdb")
    assert [(each.generations, each.new_generations, each.duplicate) for each in results] == [
        (20_000, 20_000, 0),
        (20_000, 0, 20_000),
    ]
    assert sizes[1] <= sizes[0]


def test_the_same_again_costs_less(tmp_path: Path) -> None:
    """In one of three attempts: a neighbour may slow either half."""

    def less(attempt: int) -> bool:
        (first, again), _, _ = brought_twice(tmp_path / f"{attempt}.duckdb")
        return again < first

    assert any(less(attempt) for attempt in range(3))


def brought_twice(path: Path) -> tuple[list[float], list[int], list[UploadResult]]:
    """CPU seconds, the store's size and the results of a file of 20,000 generations, uploaded twice."""
    spent, sizes, results = [], [], []
    for _ in range(2):
        with Store.open(path, create=True) as store:
            before = time.process_time()
            results.append(brought(store, 0, 20_000))
            spent.append(time.process_time() - before)
        sizes.append(path.stat().st_size)
    return spent, sizes, results


def test_overlapping_exports_merge_without_doubles(store: Store) -> None:
    results = [brought(store, 0, 400), brought(store, 200, 600)]
    assert [(each.new_generations, each.duplicate) for each in results] == [(400, 0), (200, 200)]
    counts = "SELECT count(*), count(DISTINCT generation_id), count(DISTINCT content) FROM generations"
    assert rows(store, counts) == [(600, 600, 600)]
    assert rows(store, "SELECT count(*), count(DISTINCT verdict_key) FROM verdicts") == [(6, 6)]
    assert rows(store, "SELECT upload_id, count(*) FROM sightings GROUP BY ALL") == [(2, 200)]


def test_what_another_detector_judged_is_judged_again(store: Store) -> None:
    """A repeated record without an id is another generation, of an output that only the first detector saw."""
    leak = generation(content=f"{MARK}ls</tool_call>")
    load(store, leak)
    source = written(store.path.parent / "twice.jsonl", [leak, leak])
    assert ingest(store, source, judge_for(detector("openrouter-net@1"))).new_generations == 1
    assert rows(store, "SELECT detector FROM verdicts ORDER BY ALL") == [("mark@1",), ("openrouter-net@1",)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(["short", "texts"], 0, id="short texts stand side by side"),
        pytest.param(["x" * 10 * ROW_BYTES, "y" * 10 * ROW_BYTES], 18, id="a row for every 32 KiB"),
        pytest.param(["x" * 10 * ROW_BYTES, *map(str, range(9))], 0, id="others may be those rows"),
    ],
)
def test_long_texts_have_empty_rows_between_them(store: Store, texts: list[str], expected: int) -> None:
    empty = "SELECT count(*) FROM texts WHERE hash IS NULL AND text IS NULL AND number IS NULL"
    log = [generation(content=text, tools=[{"name": "ls"}]) for text in texts]
    load(store, *log)
    after = everything(store)
    load(store, *log)
    with store.transaction() as cursor:
        sweep(cursor)
    assert everything(store) == after
    assert rows(store, empty) == [(expected,)]


def test_candidates_that_are_long_have_empty_rows_too(store: Store) -> None:
    source = written(store.path.parent / "long.jsonl", [generation(content=MARK + "x" * 10 * ROW_BYTES)])
    ingest(store, source, judge_for(detector("openrouter-net@1")))
    kept = "SELECT count(verdict_key), count(*) FROM candidate_outputs"
    assert rows(store, kept) == [(1, 10)]
