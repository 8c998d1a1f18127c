"""Each rule: where it fires, where it does not, where too little is known, and histories that are hardly any."""

from pathlib import Path
from typing import Any

import pytest

from analysis.alerts.files import AnyRule
from tests.analysis.alerts.watched import BY, alerts, found, rule, steady, then
from tests.analysis.drift.histories import day, history
from tests.analysis.stories import Json, called, numbered, said, store_of

CHANGE, FIRST, RECOVERY = (rule(kind=kind) for kind in ("change", "first_seen", "recovery_drop"))
LIMIT = rule(kind="threshold", rate=0.2)
ONE_DAY = {"started_at": f"{day(0)}T12:00:00Z", "model": "m", "engine": "vllm"}


def rounds(days: range, recovered: int, of: int = 5) -> list[Json]:
    """Ten runs a day that leak once; of every `of` runs the first `recovered` are mended by a retry."""
    made: list[Json] = []
    for number in days:
        where = {"started_at": f"{day(number)}T12:00:00Z", "model": "m", "engine": "vllm"}
        for at in range(10):
            run = {**where, "run": f"{number}-{at}"}
            retry = called(0, 1, **run) if at % of < recovered else said("CUT", 0, 1, **run)
            made += [said("LEAK", 0, 0, **run), retry]
    return made


@pytest.mark.parametrize(
    ("asked", "records"),
    [
        pytest.param(LIMIT, steady(8), id="more than is allowed"),
        pytest.param(LIMIT, [*steady(1), *then(8)], id="more than is allowed since a while"),
        pytest.param(LIMIT, [*steady(0), *then(8, days=5)], id="since five days"),
        pytest.param(CHANGE, [*steady(1), *then(8)], id="more than in the baseline"),
        pytest.param(CHANGE, [*steady(0), *then(3)], id="more than none"),
        pytest.param(
            rule(kind="change", baseline_days=7), [*steady(1), *then(8)], id="a shorter baseline, that ended long ago"
        ),
        pytest.param(RECOVERY, [*rounds(range(28), 4), *rounds(range(28, 40), 0)], id="recovered less"),
        pytest.param(FIRST, [*steady(1), *then(1, "CUT")], id="another kind"),
    ],
)
def test_it_fires(asked: AnyRule, records: list[Json], tmp_path: Path) -> None:
    told = found(tmp_path, records, asked)
    [item] = told["items"]
    assert told["rules"] == [{"rule": asked.name, "kind": asked.kind, "lines": 1, "alarms": 1, "too_few": 0}]
    assert (item["rule"], item["kind"], item["model"], item["tools_known"]) == (asked.name, asked.kind, "m", True)
    assert item["text"].startswith("m · vllm: ")
    assert item["recent"]["leaks"] > 0


@pytest.mark.parametrize(
    ("asked", "records"),
    [
        pytest.param(LIMIT, steady(1), id="less than is allowed"),
        pytest.param(LIMIT, steady(2), id="as much as is allowed"),
        pytest.param(LIMIT, [*history(range(10), 0, runs=10), *history(range(10, 11), 10, runs=3)], id="one bad day"),
        pytest.param(CHANGE, [*steady(1), *then(1)], id="as in the baseline"),
        pytest.param(CHANGE, [*steady(3), *then(0)], id="less than in the baseline"),
        pytest.param(CHANGE, steady(5), id="nothing after the baseline"),
        pytest.param(CHANGE, [*steady(10), *then(10)], id="all leaks, as in the baseline"),
        pytest.param(CHANGE, [*steady(0), *then(0)], id="no leaks"),
        pytest.param(
            CHANGE,
            [*steady(0), *then(0), *history(range(40, 41), 10, runs=1, size=10_000, client=...)],
            id="one run of ten thousand generations that all leak",
        ),
        pytest.param(RECOVERY, [*rounds(range(28), 3), *rounds(range(28, 40), 3)], id="recovered as before"),
        pytest.param(RECOVERY, [*rounds(range(28), 0), *rounds(range(28, 40), 4)], id="recovered more"),
        pytest.param(RECOVERY, [*rounds(range(28), 0), *rounds(range(28, 40), 0)], id="never recovered"),
        pytest.param(FIRST, [*steady(1), *then(1)], id="the kind of before"),
        pytest.param(FIRST, [*steady(1, word="CUT"), *then(0)], id="a kind that is gone"),
        pytest.param(FIRST, [*steady(1), *then(10, word="PRINTED")], id="a printed call, which no rate counts"),
        pytest.param(FIRST, [*steady(1), *then(10, word="MAYBE")], id="what is only possible"),
    ],
)
def test_it_does_not_fire(asked: AnyRule, records: list[Json], tmp_path: Path) -> None:
    told = found(tmp_path, records, asked)
    assert told["items"] == []
    assert told["rules"] == [{"rule": asked.name, "kind": asked.kind, "lines": 1, "alarms": 0, "too_few": 0}]


@pytest.mark.parametrize(
    ("records", "few"),
    [
        pytest.param([said("LEAK", **ONE_DAY)], 1, id="one generation"),
        pytest.param([*history(range(1), 10, runs=1, size=10_000)], 1, id="one run of ten thousand generations"),
        pytest.param([*history(range(9), 0, runs=1), *then(10)], 1, id="nine runs before"),
        pytest.param([*history(range(10), 0, runs=1), *then(0)], 0, id="ten runs before"),
        pytest.param([said("LEAK", started_at=..., model="m", run=f"r{at}") for at in range(99)], None, id="no time"),
        pytest.param(
            [said("LEAK", started_at="2031-01-01T00:00:00Z", run=f"r{at}") for at in range(99)], None, id="the future"
        ),
    ],
)
@pytest.mark.parametrize("asked", [pytest.param(each, id=each.name) for each in (CHANGE, FIRST)])
def test_too_few_is_counted_and_says_nothing(
    asked: AnyRule, records: list[Json], few: int | None, tmp_path: Path
) -> None:
    told = found(tmp_path, records, asked)
    assert told["items"] == []
    assert [(each["lines"], each["too_few"]) for each in told["rules"]] == [(0, 0) if few is None else (1, few)]


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([said("LEAK", **ONE_DAY)], id="one generation"),
        pytest.param([*history(range(1), 10, runs=1, size=10_000)], id="one run of ten thousand generations"),
        pytest.param([], id="nothing"),
    ],
)
def test_a_threshold_takes_more_than_one_run(records: list[Json], tmp_path: Path) -> None:
    """Whatever its size: its generations share a fate."""
    assert found(tmp_path, [*records, said("hello", tools=[])], LIMIT)["items"] == []


def test_few_leaked_runs_are_too_few_for_recovery(tmp_path: Path) -> None:
    """However many runs there are."""
    records = [*steady(0), *rounds(range(3), 1)[:18], *rounds(range(28, 40), 0)]
    [counts] = found(tmp_path, records, RECOVERY)["rules"]
    assert (counts["lines"], counts["too_few"], counts["alarms"]) == (1, 1, 0)


def test_an_alarm_tells_its_evidence(tmp_path: Path) -> None:
    [item] = found(tmp_path, [*steady(1), *then(8)], CHANGE)["items"]
    assert item["since"] == str(day(28))
    assert (item["baseline"]["leaks"], item["baseline"]["n"], item["baseline"]["runs"]) == (28, 280, 280)
    assert (item["recent"]["leaks"], item["recent"]["n"], item["recent"]["runs"]) == (96, 120, 120)
    assert item["baseline"]["high"] < item["usual"] < item["recent"]["low"]
    assert item["e_value"] >= item["needed"] == 20
    assert item["text"].endswith("leaks 80.0% (96 of 120) since 2026-09-29, and 10.0% (28 of 280) in its first 28 days")


def test_what_is_first_seen_is_a_fact(tmp_path: Path) -> None:
    [item] = found(tmp_path, [*steady(1), *then(2, word="CUT")], FIRST)["items"]
    assert item["of"] == {"what": "kind", "value": "truncated_call"}
    assert (item["e_value"], item["needed"], item["usual"]) == (None, None, None)
    assert (item["baseline"]["leaks"], item["baseline"]["n"]) == (0, 280)
    assert (item["recent"]["leaks"], item["recent"]["n"]) == (24, 120)
    assert "a fact, not a test" in item["text"]


def test_many_lines_take_more_evidence(tmp_path: Path) -> None:
    quiet = [each for at in range(3) for each in (*steady(1, model=f"q{at}"), *then(1, model=f"q{at}"))]
    told = found(tmp_path, [*steady(1), *then(8), *quiet], CHANGE)
    [item] = told["items"]
    assert (item["model"], item["needed"]) == ("m", 80)
    assert [(each["lines"], each["alarms"]) for each in told["rules"]] == [(4, 1)]


@pytest.mark.parametrize(
    ("fields", "alarms"),
    [
        pytest.param({"where": ["model=m"]}, ["m"], id="one model"),
        pytest.param({"where": ["model=n", "engine=vllm"]}, [], id="the other"),
        pytest.param({"since": str(day(14))}, ["m"], id="a baseline of its own, half before and half after"),
        pytest.param({"since": str(day(28))}, [], id="nothing but the later days"),
        pytest.param({"baseline_days": 60}, [], id="all days are baseline"),
    ],
)
def test_what_a_rule_looks_at(fields: dict[str, Any], alarms: list[str], tmp_path: Path) -> None:
    records = [*steady(0), *then(9, days=30), *steady(0, model="n"), *then(0, model="n")]
    told = found(tmp_path, records, rule(kind="change", **fields))
    assert [each["model"] for each in told["items"]] == alarms


def test_filters_choose_what_is_listed_and_not_what_is_surprising(tmp_path: Path) -> None:
    records = numbered([*steady(1), *then(8), *steady(1, model="n"), *then(8, model="n")])
    with store_of(tmp_path, records, BY) as store:
        whole = alerts(store, CHANGE).as_json()
        part = alerts(store, CHANGE, where=["model=n"]).as_json()
    assert [each["model"] for each in whole["items"]] == ["m", "n"]
    assert part["items"] == whole["items"][1:]
    assert part["rules"] == whole["rules"]


def test_the_id_of_an_alert_stays_from_day_to_day(tmp_path: Path) -> None:
    """However its figures go on; and every rule, line and kind has its own."""
    records = numbered([*steady(1), *then(8, days=30), *steady(0, model="n"), *then(9, model="n", word="CUT")])
    with store_of(tmp_path, records, BY) as store:
        days = [alerts(store, today=day(number)).as_json()["items"] for number in (35, 36, 45, 58)]
    ids = [[each["id"] for each in items] for items in days]
    assert all(set(each) == set(ids[0]) for each in ids)
    assert len(set(ids[0])) == len(ids[0]) == 3
    assert len({each["recent"]["n"] for items in days for each in items if each["model"] == "m"}) > 1
