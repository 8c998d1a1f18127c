"""Policies over a stored history: observed and estimated apart, each with what it is counted of."""

from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import detector
from analysis.filters import Filters
from analysis.recovery.policies import chosen
from analysis.recovery.policy_replay import replay_policies
from tests.analysis.stories import Json, called, label, leaked, said, store_of

OPENROUTER = detector("openrouter-net@1")
OBSERVED = ("n", "extra_rounds", "recovered", "answered", "errored", "passed_off")


def replayed(folder: Path, records: list[Json], *specs: str, filters: Filters | None = None) -> dict[str, Any]:
    with store_of(folder, records, OPENROUTER) as store:
        return replay_policies(store, OPENROUTER, chosen(specs), filters).as_json()


def one(folder: Path, records: list[Json], spec: str) -> dict[str, Any]:
    [found] = replayed(folder, records, spec)["policies"]
    return dict(found)


Figures = tuple[int, int, int, int, int, int]
ROWS: list[tuple[str, list[Json], Figures, str]] = [
    ("goat", [leaked(0, 0), called(0, 1)], (1, 1, 1, 0, 0, 0), "the retry of the record"),
    ("goat", [leaked(0, 0), said("Done.", 0, 1)], (1, 1, 0, 1, 0, 0), "an answer"),
    ("goat", [leaked(0, 0), leaked(0, 1), called(0, 2)], (1, 1, 0, 0, 1, 0), "one retry, though the record has two"),
    ("openrouter-net", [leaked(0, 0), leaked(0, 1), called(0, 2)], (1, 2, 1, 0, 0, 0), "two retries"),
    ("report-only", [leaked(0, 0), called(0, 1)], (1, 0, 0, 0, 0, 1), "no retry, though the record has one"),
    ("goat", [leaked(0, 0)], (0, 0, 0, 0, 0, 0), "no record holds the retry"),
    ("openrouter-net", [leaked(0, 0), leaked(0, 1)], (0, 1, 0, 0, 0, 0), "the first retry is in the record"),
    ("goat", [leaked(0, 0), called(0, 1), leaked(1, 0), called(1, 1)], (2, 1, 1, 0, 1, 0), "one retry a turn"),
    ("goat", [leaked(0, 0, turn=0), called(0, 1, turn=0), leaked(1, 0, turn=1), called(1, 1, turn=1)],
     (2, 2, 2, 0, 0, 0), "one in each of two turns"),
    ("goat", [leaked(0, 0), leaked(1, 0), called(1, 1)], (1, 0, 0, 0, 1, 0), "a retry that no record holds is used up"),
    ("openrouter-net:max_retries=1", [leaked(0, 0, turn=0), called(0, 1, turn=0), leaked(1, 0, turn=1)],
     (2, 1, 1, 0, 0, 1), "nudges count by run"),
    ("openrouter-net:max_retries=1", [leaked(0, 0), called(0, 1), leaked(0, 0, run="s"), called(0, 1, run="s")],
     (2, 2, 2, 0, 0, 0), "another run has its own"),
    ("openrouter-net:max_retries=1", [leaked(0, 0), *(leaked(0, n) for n in range(1, 5)), leaked(1, 0)],
     (2, 1, 0, 0, 0, 2), "leaks that the policy would not have seen use nothing up"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "records", "figures"), [pytest.param(*row[:3], id=f"{row[0]}: {row[3]}") for row in ROWS]
)
def test_what_is_observed(spec: str, records: list[Json], figures: Figures, tmp_path: Path) -> None:
    found = one(tmp_path, records, spec)
    assert tuple(found["observed"][name] for name in OBSERVED) == figures


def many(runs: int) -> list[Json]:
    """Runs of which every third is not retried, and the others are: half of those recover."""
    records: list[Json] = []
    for n in range(runs):
        records.append(leaked(0, 0, run=f"r{n:02}"))
        if n % 3:
            records.append(called(0, 1, run=f"r{n:02}") if n % 2 else said("Done.", 0, 1, run=f"r{n:02}"))
    return records


def test_what_no_record_holds_is_estimated_apart(tmp_path: Path) -> None:
    found = one(tmp_path, many(30), "goat")
    assert (found["rounds"], found["handled"], found["unestimated"]) == (30, 30, 0)
    assert (found["observed"]["n"], found["observed"]["recovered"], found["observed"]["answered"]) == (20, 10, 10)
    estimated = found["estimated"]
    assert (estimated["n"], estimated["recovered"], estimated["extra_rounds"]) == (10, pytest.approx(5), 10)
    assert 2 < estimated["recovered_low"] < 5 < estimated["recovered_high"] < 8


def test_retries_of_another_line_or_kind_say_nothing(tmp_path: Path) -> None:
    found = one(tmp_path, [*many(3), leaked(0, 0, run="other", model="m")], "goat")
    assert (found["estimated"]["n"], found["unestimated"]) == (1, 1)


def test_the_counts_of_a_policy_add_up(tmp_path: Path) -> None:
    for found in replayed(tmp_path, [*many(20), leaked(0, 0, run="z", model="m")])["policies"]:
        assert found["observed"]["n"] + found["estimated"]["n"] + found["unestimated"] == found["rounds"] == 21
        ends = ("recovered", "answered", "errored", "passed_off", "cancelled", "unknown", "called")
        assert sum(found["observed"][name] for name in ends) + found["salvaged"] == found["observed"]["n"]
        assert sum(each["n"] for each in found["decisions"]) >= found["rounds"]


def test_a_wrong_nudge_throws_a_good_answer_away(tmp_path: Path) -> None:
    records = [leaked(0, 0), called(0, 1), label("g0", False)]
    assert (one(tmp_path, records, "goat")["observed"]["discarded"]) == 1


@pytest.mark.parametrize(
    ("labels", "spec", "labelled", "discarded"),
    [
        pytest.param([], "goat", 0, None, id="without labels nothing is known"),
        pytest.param([], "report-only", 0, 0, id="who does nothing throws nothing away"),
        pytest.param([label("g0", True)], "goat", 1, 0, id="a right nudge"),
        pytest.param([label("g0", False)], "report-only", 0, 0, id="a wrong finding that is only reported"),
        pytest.param([label("g0", False)], "salvage", 1, 1, id="an error in place of a good answer"),
        pytest.param([label("g0", False), label("g0", True, by="bo")], "goat", 0, None, id="people in conflict"),
    ],
)
def test_what_is_discarded(labels: list[Json], spec: str, labelled: int, discarded: int | None, tmp_path: Path) -> None:
    found = one(tmp_path, [leaked(0, 0), *labels], spec)["observed"]
    assert (found["labelled"], found["discarded"]) == (labelled, discarded)


def test_the_unlabelled_are_estimated_by_the_labelled(tmp_path: Path) -> None:
    # one output in many runs is one verdict key: the texts differ, so that a label is of one of them
    records = [leaked(0, 0, run=f"r{n}", reasoning=f"{n}") for n in range(12)]
    labels = [label(f"g{n}", n > 1) for n in range(8)]
    found = one(tmp_path, [*records, *labels], "goat")
    assert (found["observed"]["labelled"], found["observed"]["discarded"]) == (8, 2)
    estimated = found["estimated"]
    assert (estimated["discarded_n"], estimated["discarded"]) == (4, pytest.approx(1))
    assert estimated["discarded_low"] < 1 < estimated["discarded_high"]


@pytest.mark.parametrize(
    ("schema", "content", "expected"),
    [
        pytest.param({"type": "object"}, "<function=ls>\n</function>\n</tool_call>", (1, 1, 0, 0), id="valid"),
        pytest.param(..., "<function=ls>\n</function>\n</tool_call>", (1, 0, 1, 0), id="no schema to fit"),
        pytest.param({"type": "object", "required": ["a"]}, "<function=ls>\n</function>", (1, 0, 0, 1), id="invalid"),
        pytest.param({"type": "object"}, "<function=rm>\n</function>", (0, 0, 0, 0), id="nothing to take"),
    ],
)
def test_what_is_salvaged(schema: Any, content: str, expected: tuple[int, ...], tmp_path: Path) -> None:
    tool = {"name": "ls", "parameters": schema}
    records = [said(content, 0, 0, tools=[{key: value for key, value in tool.items() if value is not ...}])]
    found = one(tmp_path, records, "salvage")
    names = ("salvaged", "salvaged_valid", "salvaged_unchecked", "salvaged_invalid")
    assert tuple(found[name] for name in names) == expected


def test_rounds_that_do_not_begin_with_a_leak_are_counted_and_not_followed(tmp_path: Path) -> None:
    found = replayed(tmp_path, [leaked(0, 1), said("Hm.", 1, 0), leaked(1, 1)], "goat")
    assert (found["rounds"], found["not_followed"]) == (0, 2)
    assert found["marks"] == {"first_attempt_missing": 1}
    assert found["policies"][0]["observed"]["recovery_rate"] is None


def test_the_outcomes_are_those_of_every_leak(tmp_path: Path) -> None:
    records = [leaked(0, 0), leaked(0, 1), called(0, 2), leaked(1, 0, model="m")]
    found = replayed(tmp_path, records, "goat")
    assert {name: n for name, n in found["outcomes"].items() if n} == {
        "leaked_again": 1, "structured": 1, "passed_off": 1,
    }  # fmt: skip


def test_another_clients_attempt_is_no_retry_of_a_run_that_two_write(tmp_path: Path) -> None:
    found = one(tmp_path, [leaked(0, 0, client="a"), called(0, 1, client="b")], "goat")
    assert (found["rounds"], found["observed"]["recovered"], found["unestimated"]) == (1, 0, 1)


def test_outcomes_are_counted_by_their_evidence(tmp_path: Path) -> None:
    records = [leaked(0, 0), called(0, 1, linked_by="nudge"), leaked(1, 0), called(1, 1), leaked(0, 0, run="s")]
    found = replayed(tmp_path, records, "goat")
    assert found["evidence"] == {"passed_off": {"end_of_turn": 1}, "structured": {"explicit_attempt": 1, "nudge": 1}}
    assert {row["kind"]: row["leaked_rounds"] for row in found["rates"]} == {"leaked_call": 3}


def test_filters_choose_rounds_and_outcomes(tmp_path: Path) -> None:
    records = [leaked(0, 0), called(0, 1), leaked(1, 0, model="m")]
    found = replayed(tmp_path, records, "goat", filters=Filters.parse(["model=m"]))
    assert (found["rounds"], sum(found["outcomes"].values())) == (1, 1)


def test_nothing_leaked(tmp_path: Path) -> None:
    found = replayed(tmp_path, [said("Done.", 0, 0)])
    assert sum(found["outcomes"].values()) == found["rounds"] == 0
    assert [each["handled"] for each in found["policies"]] == [0] * 6
