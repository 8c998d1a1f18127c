"""From leak to outcome: which leaked rounds were retried, how each part ended, with n and interval; and its chart."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from analysis.charts.recovery_funnel import figure
from analysis.detectors import detector
from analysis.filters import Filters
from analysis.recovery.funnel import ENDS, Funnel, Row
from analysis.recovery.policies import chosen
from analysis.recovery.policy_replay import replay_policies
from tests.analysis.stories import Json, called, leaked, said, store_of

OPENROUTER = detector("openrouter-net@1")


def funnel_of(folder: Path, records: list[Json], filters: Filters | None = None) -> dict[str, Any]:
    with store_of(folder, records, OPENROUTER) as store:
        report = replay_policies(store, OPENROUTER, chosen(["report-only"]), filters).as_json()
    assert report["funnel"]["rounds"] == report["rounds"]
    return dict(report["funnel"])


def of_rounds(rows: list[Row]) -> Funnel:
    found = Funnel()
    found.take(rows)
    return found


def ended(part: list[dict[str, Any]]) -> dict[str, int]:
    """The ends that there are, by name; each end is of all rounds of its part."""
    assert [each["end"] for each in part] == list(ENDS)
    assert all(each["n"] == sum(each["hits"] for each in part) for each in part)
    return {each["end"]: each["hits"] for each in part if each["hits"]}


FAILED = {"status": "failed"}
ROUNDS: list[tuple[list[Json], dict[str, int], dict[str, int], str]] = [
    ([leaked(0, 0), called(0, 1)], {"structured": 1}, {}, "recovered"),
    ([leaked(0, 0), leaked(0, 1), called(0, 2)], {"structured": 1}, {}, "recovered by the second retry"),
    ([leaked(0, 0), said("Done.", 0, 1)], {"answered": 1}, {}, "answered"),
    ([leaked(0, 0), leaked(0, 1)], {"passed_off": 1}, {}, "passed off after a retry"),
    ([leaked(0, 0), leaked(0, 1), called(1, 0)], {"leaked_again": 1}, {}, "leaked again, and the turn went on"),
    ([leaked(0, 0), leaked(0, 1, **FAILED)], {"leaked_again": 1}, {}, "leaked again, and failed"),
    ([leaked(0, 0), said(None, 0, 1, status="error")], {"errored": 1}, {}, "the retry failed"),
    ([leaked(0, 0), said(None, 0, 1, status="cancelled")], {"cancelled": 1}, {}, "cancelled"),
    ([leaked(0, 0), said("Do", 0, 1, status="cut")], {"unknown": 1}, {}, "cut off"),
    ([leaked(0, 0)], {}, {"passed_off": 1}, "passed off at once"),
    ([leaked(0, 0), called(1, 0)], {}, {"structured": 1}, "the next round made a call"),
    ([leaked(0, 0, **FAILED)], {}, {"errored": 1}, "the turn ended with an error"),
    ([leaked()], {}, {"unknown": 1}, "no round is told"),
    ([said("Well.", 0, 0), leaked(0, 1)], {}, {}, "a round that does not begin with a leak"),
    ([leaked(0, 0), leaked(0, 0), called(0, 1)], {"structured": 1}, {}, "two first attempts are one round"),
    ([leaked(0, 0, role="judge")], {}, {}, "a judge has no rounds"),
    ([leaked(0, 0), called(0, 1), leaked(0, 0, role="subagent")], {"structured": 1}, {"passed_off": 1},
     "a subagent's round is another one"),
]  # fmt: skip


@pytest.mark.parametrize(("records", "after", "without"), [pytest.param(*row[:3], id=row[3]) for row in ROUNDS])
def test_how_a_leaked_round_ended(
    records: list[Json], after: dict[str, int], without: dict[str, int], tmp_path: Path
) -> None:
    found = funnel_of(tmp_path, records)
    assert (ended(found["after_retry"]), ended(found["without_retry"])) == (after, without)
    assert found["retried"]["hits"] == sum(after.values())


def test_a_filter_asks_for_rounds_by_their_leaks(tmp_path: Path) -> None:
    records = [leaked(0, 0, model="m"), called(0, 1, model="other"), leaked(0, 0, run="s", model="n")]
    found = funnel_of(tmp_path, records, Filters.parse(["model=m"]))
    assert (found["rounds"], ended(found["after_retry"])) == (1, {"structured": 1})


def test_shares_have_their_interval_and_undefined_is_null() -> None:
    found = of_rounds([("r", True, "structured", 8), ("r", True, "answered", 2)]).as_json()
    assert (found["retried"]["rate"], found["retried"]["high"]) == (1.0, 1.0)
    recovered, nothing = found["after_retry"][0], found["without_retry"][0]
    assert 0.4 < recovered["low"] < recovered["rate"] == 0.8 < recovered["high"] < 1
    assert (nothing["n"], nothing["rate"], nothing["low"]) == (0, None, None)


def test_rounds_that_come_bunched_in_runs_make_the_interval_wider() -> None:
    apart = of_rounds([(f"r{n}", n % 2 == 0, "answered", 1) for n in range(80)]).as_json()["retried"]
    bunched = of_rounds([(f"r{n // 4}", n // 4 % 2 == 0, "answered", 1) for n in range(80)]).as_json()["retried"]
    assert apart["rate"] == bunched["rate"] == 0.5
    assert bunched["high"] - bunched["low"] > 1.5 * (apart["high"] - apart["low"])


def test_the_chart_has_a_panel_for_each_part_and_a_bar_for_each_end() -> None:
    rows = [("r", False, "passed_off", 4), ("r", True, "structured", 2), ("s", True, "leaked_again", 4)]
    chart = figure(of_rounds(rows).as_json())
    assert [trace["y"] for trace in chart["data"]] == [["retried"], ["recovered", "leaked again"], ["passed off"]]
    assert chart["data"][1]["x"] == pytest.approx([1 / 3, 2 / 3])
    titles = [each["text"] for each in chart["layout"]["annotations"]]
    assert titles == ["<b>10 leaked rounds</b>", "<b>6 retried</b>", "<b>4 not retried</b>"]
    for trace in chart["data"]:
        error = trace["error_x"]
        ends = list(zip(trace["x"], error["array"], error["arrayminus"], strict=True))
        assert all(0 <= x - minus <= x <= x + plus <= 1 for x, plus, minus in ends)
    domains = [chart["layout"][name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert all(upper[0] > lower[1] for upper, lower in pairwise(domains))


@pytest.mark.parametrize(
    ("rows", "panels"),
    [
        pytest.param([], 0, id="no round"),
        pytest.param([("r", True, "structured", 1)], 2, id="all were retried"),
        pytest.param([("r", False, "passed_off", 1)], 2, id="none was retried"),
    ],
)
def test_an_empty_part_has_no_panel(rows: list[tuple[str, bool, str, int]], panels: int) -> None:
    assert len(figure(of_rounds(rows).as_json())["data"]) == panels
