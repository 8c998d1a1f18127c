"""One run: what each policy decides on every leaked attempt, in its turn, with a reason in words."""

from pathlib import Path
from typing import Any

import pytest

from analysis import browse
from analysis.detectors import detector
from analysis.recovery.policies import chosen
from analysis.recovery.policy_replay import replay_policies
from tests.analysis.stories import Json, called, leaked, said, store_of

OPENROUTER = detector("openrouter-net@1")
Decided = list[tuple[str | None, str | None]]


def decided(folder: Path, records: list[Json], spec: str) -> list[Decided | None]:
    """Action and reason of a policy for each generation of run r, in order; None where nothing leaked."""
    with store_of(folder, records, OPENROUTER) as store:
        found = browse.run(store, OPENROUTER, "r", chosen([spec]))["generations"]
    return [
        [(one["action"], one["reason"]) for one in each["decisions"]] if each["leak"] else None for each in found
    ]  # fmt: skip


RETRY, SECOND, USED_UP = ("retry", "leaked"), ("fail", "second_leak"), ("publish", "retries_used_up")
NOT_REACHED = (None, None)
ROWS: list[tuple[str, list[Json], list[Decided | None], str]] = [
    ("goat", [leaked(0, 0), called(0, 1)], [[RETRY], None], "a leak that a retry mends"),
    ("goat", [leaked(0, 0), leaked(0, 1)], [[RETRY], [SECOND]], "a second leak of the round"),
    ("goat", [leaked(0, 0), leaked(0, 1), leaked(0, 2)], [[RETRY], [SECOND], [NOT_REACHED]], "it had ended before"),
    ("goat", [leaked(0, 0, turn=0), leaked(0, 0, turn=1)], [[RETRY], [RETRY]], "one in each turn"),
    ("goat", [leaked(0, 0), leaked(1, 0)], [[RETRY], [SECOND]], "one a turn"),
    ("report-only", [leaked(0, 0), leaked(0, 1)], [[("publish", "reported")], [NOT_REACHED]], "it asks for none"),
    ("openrouter-net:max_retries=1", [leaked(0, 0, turn=0), leaked(0, 0, turn=1)], [[RETRY], [USED_UP]],
     "nudges count by run"),
    ("goat", [said("Well.", 0, 0), leaked(0, 1)], [None, []], "a round that does not begin with a leak"),
    ("goat", [leaked(0, 1)], [[]], "the record has lost the first attempt"),
    ("goat", [leaked(0, 0), leaked(0, 2)], [[RETRY], []], "an attempt between them is lost"),
    ("goat", [leaked(), leaked()], [[RETRY], [SECOND]], "no round is told"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "records", "expected"), [pytest.param(*row[:3], id=f"{row[0]}: {row[3]}") for row in ROWS]
)
def test_what_a_policy_decides(spec: str, records: list[Json], expected: list[Decided | None], tmp_path: Path) -> None:
    assert decided(tmp_path, records, spec) == expected


def test_every_policy_says_why_in_words(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked(0, 0), called(0, 1)], OPENROUTER) as store:
        [first, retry] = browse.run(store, OPENROUTER, "r", chosen(()))["generations"]
    assert [each["policy"] for each in first["decisions"]] == [each.id for each in chosen(())]
    for each in first["decisions"]:
        meanings = {(one.action, one.code): one.meaning for p in chosen(()) for one in p.policy.reasons
                    if p.id == each["policy"]}  # fmt: skip
        assert each["meaning"] == meanings[each["action"], each["reason"]]
    assert (retry["decisions"], retry["marks"]) == ([], [])
    salvage = first["decisions"][-1]
    assert [(call["name"], call["arguments"], call["problem"]) for call in salvage["calls"]] == [("ls", {}, None)]


def test_decisions_of_runs_add_up_to_those_of_the_history(tmp_path: Path) -> None:
    """The page of a run and the table of policies cannot tell two stories."""
    records: list[Json] = []
    for n in range(12):
        records += [leaked(0, 0, run=f"r{n}"), *([leaked(0, 1, run=f"r{n}")] if n % 2 else [])]
        records += [leaked(1, 0, run=f"r{n}"), *([called(1, 1, run=f"r{n}")] if n % 3 else [])]
    with store_of(tmp_path, records, OPENROUTER) as store:
        report = replay_policies(store, OPENROUTER, chosen(())).as_json()
        runs = [browse.run(store, OPENROUTER, f"r{n}", chosen(())) for n in range(12)]
    counted: dict[tuple[str, str, str], int] = {}
    for decision in (one for run in runs for each in run["generations"] for one in each["decisions"]):
        if decision["action"]:
            key = decision["policy"], decision["action"], decision["reason"]
            counted[key] = counted.get(key, 0) + 1
    whole: dict[tuple[str, str, str], Any] = {
        (policy["policy"], each["action"], each["reason"]): each["n"]
        for policy in report["policies"]
        for each in policy["decisions"]
    }
    assert counted == whole


def test_another_run_changes_nothing(tmp_path: Path) -> None:
    records = [leaked(0, 0, run="a*"), leaked(0, 0, run="ab"), called(0, 1, run="ab")]
    with store_of(tmp_path, records, OPENROUTER) as store:
        found = browse.run(store, OPENROUTER, "a*", chosen(["goat"]))["generations"]
    assert [len(each["decisions"]) for each in found] == [1]


def test_marks_stand_with_the_leaks_of_their_round(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked(0, 0), leaked(0, 2), said("Well.", 1, 0)], OPENROUTER) as store:
        found = browse.run(store, OPENROUTER, "r")["generations"]
    assert [each["marks"] for each in found] == [["attempt_missing"], ["attempt_missing"], []]
