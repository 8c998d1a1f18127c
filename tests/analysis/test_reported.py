"""What clients reported against what is found."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import detector
from analysis.reported import Reported, reported
from ingest.store import Store
from tests.analysis.stories import LEAK, Json, add, leaked, numbered, said

DETECTOR = detector("openrouter-net@1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        yield opened


def event(generation_id: str, markup: str = LEAK, **fields: Any) -> Json:
    told = {"type": "leaked_tool_call", "markup": markup, "leak": 1, "retried": False}
    return {**told, "generation_id": generation_id, "run_id": "r", **fields}


def counted(store: Store, *records: Json) -> Reported:
    add(store, numbered(records), DETECTOR)
    return reported(store, DETECTOR)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([leaked(client="a"), event("g0")], (1, 0, 0, 0, 1), id="reported and found"),
        pytest.param([said("fine", client="a"), event("g0")], (0, 1, 0, 0, 1), id="reported, not found"),
        pytest.param(
            [leaked(client="a"), said("fine", client="a"), event("g1")], (0, 1, 1, 0, 1), id="found, not reported"
        ),
        pytest.param([leaked(client="a")], (0, 0, 0, 0, 0), id="found, but the client reports nothing at all"),
        pytest.param(
            [leaked(client="b"), said(f"x {LEAK}", client="a"), event("g1")],
            (1, 0, 0, 0, 1),
            id="found in a client that reports nothing",
        ),
        pytest.param(
            [leaked(client="a", client_version="1"), said(f"x {LEAK}", client="a"), event("g1")],
            (1, 0, 0, 0, 1),
            id="found in a version that reports nothing",
        ),
        pytest.param([event("elsewhere")], (0, 0, 0, 1, 1), id="an event without its generation"),
        pytest.param([leaked(), event("g0"), event("g0", "again")], (1, 0, 0, 0, 2), id="two events of one output"),
        pytest.param([], (0, 0, 0, 0, 0), id="nothing"),
    ],
)
def test_events_are_counted_against_findings(store: Store, records: list[Json], expected: tuple[int, ...]) -> None:
    told = counted(store, *records) if records else reported(store, DETECTOR)
    assert (told.both, told.reported_only, told.found_only, told.unjoined, told.events) == expected


def test_the_differences_are_named_latest_first(store: Store) -> None:
    told = counted(
        store,
        leaked(client="a", started_at="2026-11-01T00:00:00Z"),
        said("fine", client="a", started_at="2026-11-02T00:00:00Z"),
        event("g1", "<odd>"),
    )
    assert [(each["generation_id"], each["reported"]) for each in told.differences] == [("g1", True), ("g0", False)]
    assert told.differences[0]["markup"] == "<odd>"
    assert told.differences[1]["reason"]


def test_only_so_many_differences_are_named(store: Store) -> None:
    add(store, numbered([said(f"fine {n}") for n in range(5)] + [event(f"g{n}") for n in range(5)]), DETECTOR)
    told = reported(store, DETECTOR, limit=2)
    assert (told.reported_only, len(told.differences)) == (5, 2)
