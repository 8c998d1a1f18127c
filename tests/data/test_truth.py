"""What truth.json says, counted again from the records."""

from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from ingest.records import Generation
from tests.data.sample import eligible, generations, leaking, place, plain, records, rounds, rows, truth


def test_totals_are_those_of_the_records() -> None:
    kinds = Counter(one.type for one in records())
    expected = {
        "runs": kinds["run"],
        "generations": kinds["generation"],
        "events": kinds["leaked_tool_call"],
        "labels": kinds["label"],
        "eligible": sum(map(eligible, generations().values())),
        "retries": sum(bool(one.attempt) for one in generations().values()),
        "leaks": len(truth()["leaks"]),
        "printed": len(truth()["printed"]),
        "quotes": len(truth()["quotes"]),
        "quotes_outside_code": len(truth()["quotes_outside_code"]),
        "wrong_nudges": sum(
            before.generation_id not in leaking() for each in rounds().values() for before in each[:-1]
        ),
    }
    assert truth()["totals"] == expected


@pytest.mark.parametrize("key", ["generations", "eligible", "retries", "leaks", "printed"])
def test_figures_by_version_are_those_of_the_records(key: str) -> None:
    leaks = {*truth()["leaks"], *truth()["leaks_not_counted"]}
    counts: dict[str, Callable[[Generation], bool]] = {
        "generations": lambda one: one.generation_id is not None,
        "eligible": eligible,
        "retries": lambda one: bool(one.attempt),
        "leaks": lambda one: one.attempt == 0 and one.generation_id in leaks,
        "printed": lambda one: one.generation_id in truth()["printed"],
    }
    counted = Counter(place(one) for one in plain() if counts[key](one))
    assert counted == Counter(dict(rows(key)))


def test_leaked_rounds_end_as_the_truth_says() -> None:
    ended: dict[str, Counter[tuple[str, str, bool]]] = defaultdict(Counter)
    for attempts in rounds().values():
        if attempts[0].generation_id in leaking() - set(truth()["printed"]):
            ended["retried"][place(attempts[0])] += len(attempts) > 1
            ended[ending(attempts[-1])][place(attempts[0])] += 1
    for outcome in ("retried", "recovered", "answered", "passed_off", "errored"):
        assert ended[outcome] == Counter(dict(rows(outcome))), outcome


def ending(last: Generation) -> str:
    if last.tool_calls:
        return "recovered"
    if last.generation_id in leaking():
        return "passed_off"
    return "answered" if last.content else "errored"


def test_a_leaked_round_that_is_not_recovered_ends_its_turn() -> None:
    last = {(one.run_id, one.turn): one.generation_id for one in generations().values()}
    for attempts in rounds().values():
        if attempts[0].generation_id in leaking() and not attempts[-1].tool_calls:
            assert last[attempts[-1].run_id, attempts[-1].turn] == attempts[-1].generation_id


def test_no_retry_passes_its_client_s_bound() -> None:
    bounds = {line["client"]: line["max_retries"] for line in truth()["lines"]}
    used = Counter((one.run_id, one.client) for one in generations().values() if one.attempt)
    for (_, client), retries in used.items():
        assert client is not None
        assert retries <= bounds[client]


def test_the_one_change_is_the_only_change() -> None:
    changed = [
        (line["model"], before["engine_version"], after["engine_version"], after["leak_rate"] / before["leak_rate"])
        for line in truth()["lines"]
        for before, after in zip(line["versions"], line["versions"][1:], strict=False)
        if before["leak_rate"] != after["leak_rate"]
    ]
    assert changed == [("qwen3-coder-30b", "0.29.2", "0.30.0", pytest.approx(7.0))]
    first = min(one.started_at for one in plain() if place(one)[:2] == ("qwen3-coder-30b", "0.30.0") if one.started_at)
    assert f"{first.date()}" == truth()["change"]["day"]


def test_one_line_never_leaks() -> None:
    never = {place[0] for place, leaks in rows("leaks")} - {place[0] for place, leaks in rows("leaks") if leaks}
    assert never == {"glm-4.6"}


def test_what_came_of_each_rate_lies_within_one_standard_deviation() -> None:
    for line in truth()["lines"]:
        for version in line["versions"]:
            n, rate = version["eligible"], version["leak_rate"]
            assert abs(version["leaks"] - n * rate) <= (n * rate * (1 - rate)) ** 0.5, version
