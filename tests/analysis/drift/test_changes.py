"""The days on which a line changed, what else changed then, and histories that no clock should be trusted with."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from analysis.drift import drift
from tests.analysis.drift.histories import LEAK, TODAY, day, history
from tests.analysis.stories import WORDS, Json, finds, said, store_of

BY = finds("words", WORDS)


def found(folder: Path, records: Iterable[Json]) -> dict[str, Any]:
    with store_of(folder, records, BY) as store:
        return drift(store, BY, TODAY).as_json()


def stepped(**after: Any) -> list[Json]:
    """Three leaks in fifteen a day, and eight from the thirtieth day on, which brings `after`."""
    return [*history(range(30), 3, 15, runs=15), *history(range(30, 50), 8, 15, runs=15, **after)]


def test_a_change_is_found_without_a_version(tmp_path: Path) -> None:
    [point] = found(tmp_path, stepped())["change_points"]
    assert point["earliest"] <= point["at"] == str(day(30)) <= point["latest"]
    assert (point["before"]["leaks"], point["before"]["n"]) == (90, 450)
    assert (point["after"]["leaks"], point["after"]["n"]) == (160, 300)
    assert (point["before"]["last_day"], point["after"]["first_day"]) == (str(day(29)), str(day(30)))
    assert point["p"] <= 0.01
    assert point["also"] == []


TOOLS = [{"name": f"tool_{at}"} for at in range(12)]


@pytest.mark.parametrize(
    ("after", "also"),
    [
        pytest.param({"engine_version": "2"}, [], id="what told no version before"),
        pytest.param({"tools": TOOLS}, [("tools_offered", "6 to 20", 1.0)], id="more tools"),
        pytest.param({"tags": {"team": "b"}}, [], id="a tag is no cause"),
    ],
)
def test_what_else_changed_is_said(after: Json, also: list[Any], tmp_path: Path) -> None:
    [point] = found(tmp_path, stepped(**after))["change_points"]
    assert [(each["what"], each["value"], each["after"]) for each in point["also"]] == also


def test_prompts_that_grew_are_said(tmp_path: Path) -> None:
    small, large = (Json(usage={"input_tokens": tokens}) for tokens in (500, 9_000))
    records = [*history(range(30), 3, 15, runs=15, **small), *history(range(30, 50), 8, 15, runs=15, **large)]
    [point] = found(tmp_path, records)["change_points"]
    [also] = point["also"]
    assert also["what"] == "prompt_tokens"
    assert abs(also["after"] - also["before"]) == 1.0


def test_a_version_that_came_with_it_is_said(tmp_path: Path) -> None:
    records = [*history(range(30), 3, 15, runs=15, template="a"), *history(range(30, 50), 8, 15, runs=15, template="b")]
    [point] = found(tmp_path, records)["change_points"]
    assert [each["what"] for each in point["also"]] == ["template"]


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([said(LEAK, started_at="2026-09-01T00:00:00Z")], id="one generation"),
        pytest.param([*history(range(40), 10, 10)], id="nothing but leaks"),
        pytest.param([*history(range(40), 0)], id="no leaks"),
        pytest.param([*history(range(1), 3, runs=1, size=10_000)], id="one run of ten thousand generations"),
        pytest.param([*history(range(40), 1, 3)], id="flat"),
        pytest.param(
            [*history(range(40), 0, runs=9), *history(range(20, 21), 10, runs=1, size=60, client="m")], id="one bad run"
        ),
    ],
)
def test_no_change_where_there_is_none(records: list[Json], tmp_path: Path) -> None:
    assert found(tmp_path, records)["change_points"] == []


def test_days_that_have_not_been_are_left_out_and_counted(tmp_path: Path) -> None:
    ahead = [said(LEAK, model="m", engine="vllm", run=f"f{at}", started_at="2031-01-01T00:00:00Z") for at in range(9)]
    untimed = [said("hello", model="m", engine="vllm", run=f"u{at}", started_at=...) for at in range(4)]
    told = found(tmp_path, [*stepped(), *ahead, *untimed])
    assert told["left_out"] == {"no_time": 4, "in_the_future": 9, "pruned": 0}
    assert [point["at"] for point in told["change_points"]] == [str(day(30))]


def test_a_run_counts_on_its_first_day(tmp_path: Path) -> None:
    records = stepped()
    late = [each | {"started_at": f"{day(45)}T12:00:00Z"} for each in records[:6]]
    told = found(tmp_path, [*records, *late])
    assert told["change_points"][0]["before"]["n"] == 450 + len(late)


def test_the_counts_are_what_a_gate_asks_for(tmp_path: Path) -> None:
    counts = found(
        tmp_path, [*stepped(), *(each | {"run_id": f"n{each['run_id']}", "model": "n"} for each in stepped())]
    )
    assert counts["counts"] == {
        "lines": 2, "comparisons": 0, "worse": 0, "better": 0, "no_change": 0, "too_few": 0, "worse_for_sure": 0,
        "change_points": 2, "rises": 2,
    }  # fmt: skip
