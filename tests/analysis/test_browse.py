"""Runs and generations by page: every row once, in order; a cursor that no page gave is refused, whatever it is."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import browse
from analysis.detectors import detector
from analysis.filters import Filters
from analysis.paging import Page
from ingest.errors import NotFound, UsageError
from ingest.store import Store
from tests.analysis.stories import Json, add, leaked, numbered, said

DETECTOR = detector("openrouter-net@1")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Seven runs, some at the same moment, some without a time; one of two rounds."""
    same = "2026-11-02T00:00:00.5Z"
    times = ["2026-11-01T00:00:00Z", same, same, None, None, "1969-07-20T00:00:00Z"]
    records: list[Json] = [
        said(f"text {number}", run=f"run {number}", started_at=time, model=None if number else "m")
        for number, time in enumerate(times)
    ]
    records += [leaked(1, 0, run="z", started_at="2026-11-03T00:00:00Z"), said("later", 0, 0, run="z")]
    with Store.open(tmp_path_factory.mktemp("browse") / "s.duckdb", create=True) as opened:
        add(opened, numbered(records), DETECTOR)
        yield opened


def walked(page: Callable[[str | None], Page]) -> list[Json]:
    found, cursor = [], None
    while True:
        seen = page(cursor)
        found += seen.items
        if (cursor := seen.next) is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 500])
def test_runs_page_by_page_are_all_once_latest_first(store: Store, limit: int) -> None:
    found = walked(lambda after: browse.runs(store, DETECTOR, Filters(), after=after, limit=limit))
    assert [row["run_id"] for row in found] == ["z", "run 2", "run 1", "run 0", "run 4", "run 3", "run 5"]


@pytest.mark.parametrize("limit", [1, 3, 8, 500])
def test_generations_page_by_page_are_all_once_as_they_came(store: Store, limit: int) -> None:
    found = walked(lambda after: browse.generations(store, DETECTOR, Filters(), after=after, limit=limit))
    assert [row["generation_id"] for row in found] == [f"g{number}" for number in range(8)]


def test_a_run_tells_the_values_it_has_and_no_others(store: Store) -> None:
    rows = {row["run_id"]: row["models"] for row in browse.runs(store, DETECTOR, Filters()).items}
    assert (rows["run 0"], rows["run 1"]) == (["m"], [])


def test_a_run_stands_in_the_order_of_its_rounds(store: Store) -> None:
    run = browse.run(store, DETECTOR, "z")
    assert [(row["round"], row["leak"]) for row in run["generations"]] == [(0, False), (1, True)]
    assert run["generations"][0]["tools"] == [{"name": "ls"}, {"name": "read"}]


def test_a_run_that_does_not_exist_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="no run 'nope'"):
        browse.run(store, DETECTOR, "nope")


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_page_has_from_1_to_500_rows(store: Store, limit: int) -> None:
    with pytest.raises(UsageError, match=f"limit {limit}"):
        browse.runs(store, DETECTOR, Filters(), limit=limit)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=4)
)


def cursor_of(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@given(cursor=st.text() | st.text("AZaz09-_=", max_size=40) | JSON.map(cursor_of))
def test_any_other_cursor_is_refused_or_a_place(store: Store, cursor: str) -> None:
    for page in (browse.runs, browse.generations):
        with suppress(UsageError):
            page(store, DETECTOR, Filters(), after=cursor)


@given(place=st.lists(st.integers(), min_size=3, max_size=3))
def test_any_place_is_taken_or_refused(store: Store, place: list[int]) -> None:
    fits = all(0 <= part < 2**63 for part in place)
    try:
        browse.generations(store, DETECTOR, Filters(), after=cursor_of(place))
    except UsageError:
        assert not fits
    else:
        assert fits
