"""The trend: weeks that end on the last day with data, the largest lines, version marks; and the figure of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.charts.leak_trend import figure
from analysis.charts.weekly_lines import LINES, Line, lines, rows
from analysis.detectors import detector
from analysis.filters import Filters
from ingest.store import Store
from tests.analysis.stories import Json, add, leaked, numbered, said

DETECTOR = detector("openrouter-net@1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        yield opened


def on(day: str, *, leak: bool = False, number: int = 0, **fields: Any) -> Json:
    """A generation of a day of November 2026, or of the day given in full."""
    at = f"2026-11-{day}" if len(day) == 2 else day
    where = {"run": f"run-{day}-{number}", "started_at": f"{at}T12:00:00Z", "model": "m", "engine": "vllm", **fields}
    return leaked(**where) if leak else said("All is well.", **where)


def drawn(store: Store, *records: Json, where: tuple[str, ...] = ()) -> list[Line]:
    add(store, numbered(records), DETECTOR)
    return lines(store, DETECTOR, Filters.parse(where))


def test_weeks_end_on_the_last_day_with_data(store: Store) -> None:
    [line] = drawn(store, on("01"), on("08", leak=True), on("09"), on("15", leak=True), on("15", number=1))
    told = [(str(week.first_day), str(week.last_day), week.rate.n, week.rate.hits) for week in line.weeks]
    assert told == [
        ("2026-10-26", "2026-11-01", 1, 0),
        ("2026-11-02", "2026-11-08", 1, 1),
        ("2026-11-09", "2026-11-15", 3, 1),
    ]


def test_a_day_is_utc_whatever_the_log_says(store: Store) -> None:
    late = {**on("09"), "started_at": "2026-11-08T23:30:00-02:00"}
    [line] = drawn(store, late)
    assert str(line.weeks[0].last_day) == "2026-11-09"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(said("x"), id="without a time"),
        pytest.param(on("01", tools=...), id="tools unknown"),
        pytest.param(on("01", attempt=1, round=0), id="a retry"),
        pytest.param(on("01", role="judge"), id="a judge"),
    ],
)
def test_only_eligible_generations_with_a_time_and_known_tools_count(store: Store, record: Json) -> None:
    assert drawn(store, record) == []


def test_the_first_day_of_a_further_version_is_a_change(store: Store) -> None:
    [line] = drawn(
        store,
        on("01", engine_version="1", template="a"),
        on("03", engine_version="2", template="a"),
        on("04", engine_version="1", template="b"),
        on("05", engine_version="2", template="b"),
    )
    told = [(str(change.day), change.dimension, change.version) for change in line.changes]
    assert told == [("2026-11-03", "engine_version", "2"), ("2026-11-04", "template", "b")]


def test_the_largest_lines_are_shown(store: Store) -> None:
    models = [on("01", number=number, model=f"m{number % (LINES + 2)}") for number in range(3 * LINES)]
    found = drawn(store, *models)
    assert len(found) == LINES
    sizes = [sum(week.rate.n for week in line.weeks) for line in found]
    assert sizes == sorted(sizes, reverse=True)


def test_filters_hold(store: Store) -> None:
    found = drawn(store, on("01"), on("02", engine="sglang"), where=("engine=sg*",))
    assert [line.name for line in found] == ["m on sglang"]


def test_the_rows_are_the_figures_behind_the_chart(store: Store) -> None:
    [row] = rows(drawn(store, on("01", leak=True, engine_version="1"), on("02", engine_version="2")))
    [week] = row["weeks"]
    assert (row["model"], row["engine"], week["from"], week["to"]) == ("m", "vllm", "2026-10-27", "2026-11-02")
    assert (week["eligible"], week["leaks"], week["leak_rate"], week["runs"]) == (2, 1, 0.5, 2)
    assert week["leak_low"] < 0.5 < week["leak_high"]
    assert row["changes"] == [{"day": "2026-11-02", "dimension": "engine_version", "to": "2"}]


def test_the_figure_has_a_panel_a_line_over_the_same_days(store: Store) -> None:
    found = drawn(store, on("01", leak=True), on("02", engine="sglang", engine_version="1"),
                  on("03", engine="sglang", engine_version="2"))  # fmt: skip
    chart = figure(found)
    assert [(trace["xaxis"], trace["yaxis"]) for trace in chart["data"]] == [("x", "y"), ("x2", "y2")]
    assert [trace["name"] for trace in chart["data"]] == ["m on sglang", "m on vllm"]
    assert chart["layout"]["xaxis2"]["matches"] == "x"
    assert [shape["x0"] for shape in chart["layout"]["shapes"]] == ["2026-11-03"]
    assert "1 leaks of 1 in 1 runs" in chart["data"][1]["text"][0]
    json.dumps(chart, allow_nan=False)


def test_an_error_bar_spans_the_interval(store: Store) -> None:
    found = drawn(store, on("01", leak=True), on("01", number=1))
    [trace], [week] = figure(found)["data"], found[0].weeks
    assert week.rate.high is not None
    assert week.rate.low is not None
    assert trace["y"][0] + trace["error_y"]["array"][0] == pytest.approx(week.rate.high)
    assert trace["y"][0] - trace["error_y"]["arrayminus"][0] == pytest.approx(week.rate.low)


def test_hostile_names_are_no_markup_to_plotly(store: Store) -> None:
    records = (on("01", model="<b>&", engine_version="1"), on("02", model="<b>&", engine_version="<i>"))
    chart = figure(drawn(store, *records))
    texts = [each["text"] for each in chart["layout"]["annotations"]]
    assert texts == ["<b>&lt;b&gt;&amp; on vllm</b>", "&lt;i&gt;"]


def test_nothing_is_an_empty_figure() -> None:
    assert figure([])["data"] == []
