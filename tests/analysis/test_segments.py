"""Cells of a heat map: what counts in them, in which order they stand, and that they agree with a recount."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from analysis.filters import Filters
from analysis.segments import MOST, SEGMENTS, matrix
from analysis.statistics.intervals import clustered_rate
from ingest.errors import UsageError
from tests.analysis.stories import WORDS, Json, dice, finds, said, store_of

BY = finds("words", WORDS)
LEAK = "LEAK"


def of(folder: Path, records: Iterable[Json], row: str, column: str, *where: str) -> dict[str, Any]:
    with store_of(folder, records, BY) as store:
        return matrix(store, BY, row, column, Filters.parse(where)).as_json()


def counts(found: dict[str, Any]) -> dict[tuple[str | None, str | None], tuple[int, int]]:
    return {(each["row"], each["column"]): (each["leaks"], each["eligible"]) for each in found["cells"]}


def tools(number: int) -> list[Json]:
    return [{"name": f"tool_{at}"} for at in range(number)]


HISTORY = [
    said(LEAK, run="a", model="m", engine="vllm", tools=tools(3), usage={"input_tokens": 500}),
    said("hello", run="a", model="m", engine="vllm", tools=tools(8), usage={"input_tokens": 9_000}),
    said("CUT", run="b", model="m", engine="sglang", tools=tools(8)),
    said("hello", run="c", model="n", tools=tools(40), usage={"input_tokens": 50_000}),
    said("PRINTED", run="c", model="n", tools=tools(5)),
    said(LEAK, run="d", model="n", tools=...),
    said(LEAK, 0, 1, run="a", model="m", engine="vllm"),
]
"""Two leaks that count: a called one and a cut one. A printed call, unknown tools and a retry do not."""


@pytest.mark.parametrize(
    ("row", "column", "cells"),
    [
        pytest.param(
            "model", "engine",
            {("m", "vllm"): (1, 2), ("m", "sglang"): (1, 1), ("n", None): (0, 2)},
            id="series fields, one of them not told",
        ),
        pytest.param(
            "tools_offered", "model",
            {("1 to 5", "m"): (1, 1), ("6 to 20", "m"): (1, 2), ("more than 20", "n"): (0, 1), ("1 to 5", "n"): (0, 1)},
            id="the number of tools",
        ),
        pytest.param(
            "model", "prompt_tokens",
            {("m", "under 1,000"): (1, 1), ("m", "8,000 to 31,999"): (0, 1), ("m", None): (1, 1),
             ("n", "32,000 and more"): (0, 1), ("n", None): (0, 1)},
            id="the size of the prompt",
        ),
        pytest.param(
            "kind", "model",
            {("leaked_call", "m"): (1, 3), ("truncated_call", "m"): (1, 3)},
            id="kinds, of all that is eligible of a model",
        ),
        pytest.param(
            "kind", "channel",
            {("leaked_call", "content"): (1, 5), ("truncated_call", "content"): (1, 5)},
            id="kinds and channels, of all that is eligible",
        ),
    ],
)  # fmt: skip
def test_what_stands_in_a_cell(row: str, column: str, cells: dict[Any, Any], tmp_path: Path) -> None:
    assert counts(of(tmp_path, HISTORY, row, column)) == cells


def test_values_stand_by_size_steps_in_order_and_what_is_not_told_last(tmp_path: Path) -> None:
    found = of(tmp_path, HISTORY, "model", "prompt_tokens")
    assert found["rows"] == ["m", "n"]
    assert found["columns"] == ["under 1,000", "8,000 to 31,999", "32,000 and more", None]


def test_what_is_too_much_to_show_is_counted(tmp_path: Path) -> None:
    many = [said("hello", run=f"{at}", model=f"m{at:02}", engine="e") for at in range(MOST + 3)]
    found = of(tmp_path, many, "model", "engine")
    assert (len(found["rows"]), len(found["cells"]), found["left_out"]) == (MOST, MOST, {"rows": 3, "columns": 0})


@pytest.mark.parametrize(
    ("row", "column", "said_of_it"),
    [
        pytest.param("modle", "engine", "no segment 'modle'; there are model,", id="a segment that is none"),
        pytest.param("model", "model", "against itself", id="one segment twice"),
    ],
)
def test_what_cannot_be_asked(row: str, column: str, said_of_it: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said_of_it):
        of(tmp_path, HISTORY, row, column)


@pytest.mark.parametrize("row", SEGMENTS)
def test_every_segment_can_be_asked(row: str, tmp_path: Path) -> None:
    found = of(tmp_path, HISTORY, row, "model" if row != "model" else "kind")
    assert found["cells"]


def test_cells_agree_with_a_recount(tmp_path: Path) -> None:
    """Long runs over several cells, rates and intervals to the last digit."""
    thrown = dice(7)
    records = [
        said(LEAK if thrown.random() < 0.2 else "hello", run=f"r{thrown.randrange(30)}",
             model=thrown.choice("ab"), engine=thrown.choice("xy"))
        for _ in range(600)
    ]  # fmt: skip
    for each in of(tmp_path, records, "model", "engine")["cells"]:
        here = [one for one in records if (one["model"], one["engine"]) == (each["row"], each["column"])]
        runs = {one["run_id"]: [0, 0] for one in here}
        for one in here:
            runs[one["run_id"]][0] += one["content"] == LEAK
            runs[one["run_id"]][1] += 1
        expected = clustered_rate((leaks, n) for leaks, n in runs.values())
        assert (each["leaks"], each["eligible"], each["runs"]) == (expected.hits, expected.n, len(runs))
        assert (each["leak_low"], each["leak_high"]) == pytest.approx((expected.low, expected.high))
