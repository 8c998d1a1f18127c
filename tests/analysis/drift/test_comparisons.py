"""Versions along a line: which are compared, on what counts, and what can be said of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from analysis.drift import drift
from analysis.filters import Filters
from tests.analysis.drift.histories import LEAK, TODAY, day, history
from tests.analysis.stories import WORDS, Json, finds, said, store_of

BY = finds("words", WORDS)


def compared(folder: Path, records: Iterable[Json], *where: str) -> list[dict[str, Any]]:
    with store_of(folder, records, BY) as store:
        found = drift(store, BY, TODAY, Filters.parse(where)).as_json()
    rows: list[dict[str, Any]] = found["comparisons"]
    assert sum(found["counts"][name] for name in ("worse", "better", "no_change", "too_few")) == len(rows)
    return rows


def upgraded(before: int, after: int, **fields: Any) -> list[Json]:
    """Thirty days of each version; so many of ten generations leak."""
    old = history(range(30), before, runs=10, engine_version="0.9", **fields)
    return [*old, *history(range(30, 60), after, runs=10, engine_version="0.10", **fields)]


@pytest.mark.parametrize(
    ("records", "verdicts"),
    [
        pytest.param(upgraded(1, 4), ["worse"], id="an upgrade that leaks more"),
        pytest.param(upgraded(4, 1), ["better"], id="one that leaks less"),
        pytest.param(upgraded(2, 2), ["too_few"], id="one with 600 outputs that leaks alike: within 13 points"),
        pytest.param(upgraded(0, 0), ["no_change"], id="no leaks"),
        pytest.param(upgraded(10, 10), ["no_change"], id="nothing but leaks"),
        pytest.param([said(LEAK, model="m", engine_version="1")], [], id="one generation, one version"),
        pytest.param(
            [said(LEAK, model="m", engine_version=version, run=version) for version in ("1", "2")],
            ["too_few"],
            id="one generation each",
        ),
        pytest.param(
            [*history(range(1), 0, runs=1, size=300, engine_version="1"),
             *history(range(1, 2), 9, runs=1, size=300, engine_version="2")],
            ["too_few"],
            id="one long run each: nobody knows how runs differ",
        ),
        pytest.param(
            [*upgraded(1, 4), *upgraded(1, 4, model="n"), *upgraded(2, 2, model="o")],
            ["worse", "worse", "too_few"],
            id="lines are compared with themselves, the clearest first",
        ),
        pytest.param(upgraded(1, 4, tools=...), ["worse"], id="tools unknown"),
    ],
)  # fmt: skip
def test_what_can_be_said(records: list[Json], verdicts: list[str], tmp_path: Path) -> None:
    assert [row["verdict"] for row in compared(tmp_path, records)] == verdicts


def test_versions_stand_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    steps = [("0.9", 0), ("0.10", 20), ("0.9.1", 40)]
    records = [
        each for version, first in steps for each in history(range(first, first + 20), 1, engine_version=version)
    ]
    rows = compared(tmp_path, records)
    assert {(row["from"], row["to"]) for row in rows} == {("0.9", "0.10"), ("0.10", "0.9.1")}
    assert all(row["dimension"] == "engine_version" and not row["overlap"] for row in rows)


def test_without_times_versions_stand_by_number(tmp_path: Path) -> None:
    records = [said("hello", model="m", run=f"{at}", engine_version=at, started_at=...) for at in ("0.10", "0.9")]
    assert [(row["from"], row["to"]) for row in compared(tmp_path, records)] == [("0.9", "0.10")]


def test_versions_that_go_back_and_forth_are_compared_once_and_marked(tmp_path: Path) -> None:
    records = [each for at in range(30) for each in history(range(at, at + 1), 2, engine_version=f"{at % 2}")]
    [row] = compared(tmp_path, records)
    assert (row["from"], row["to"], row["overlap"]) == ("0", "1", True)
    assert (row["before"]["n"], row["after"]["n"]) == (45, 45)


def test_what_tells_no_version_is_no_version(tmp_path: Path) -> None:
    records = [*upgraded(1, 4), *history(range(20, 40), 9, model="m", runs=7)]
    [row] = compared(tmp_path, records)
    assert (row["before"]["n"], row["after"]["n"]) == (300, 300)


def test_what_changed_with_it_is_named(tmp_path: Path) -> None:
    old = history(range(20), 1, engine_version="1", template="a", client_version="x")
    records = [*old, *history(range(20, 40), 1, engine_version="2", template="b", client_version="x")]
    assert {row["dimension"]: row["also"] for row in compared(tmp_path, records)} == {
        "engine_version": ["template"],
        "template": ["engine_version"],
    }


def test_counts_are_those_of_rates(tmp_path: Path) -> None:
    """Retries, printed calls and what is not eligible are no leaks; a filter and the days are kept."""
    extra = [
        said(LEAK, 0, 1, model="m", engine="vllm", run="m-0-0", engine_version="1", started_at="2026-09-01T13:00:00Z"),
        said("PRINTED", model="m", engine="vllm", run="p", engine_version="1", started_at="2026-09-02T00:00:00Z"),
        said(LEAK, model="m", engine="vllm", run="j", role="judge", engine_version="1"),
    ]
    old = history(range(20), 1, engine_version="1")
    records = [*old, *extra, *history(range(20, 40), 3, engine_version="2"), *upgraded(1, 4, model="n")]
    [row] = compared(tmp_path, records, "model=m")
    before, after = row["before"], row["after"]
    assert (before["leaks"], before["n"], before["runs"]) == (20, 61, 61)
    assert (before["first_day"], before["last_day"]) == ("2026-09-01", "2026-09-20")
    assert (after["leaks"], after["n"], after["first_day"]) == (60, 60, str(day(20)))
    assert row["difference"] == pytest.approx(after["rate"] - before["rate"])
    assert row["low"] < row["difference"] < row["high"]
    assert row["p"] <= row["q"] <= row["p_holm"]
