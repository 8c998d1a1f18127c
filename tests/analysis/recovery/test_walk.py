"""A policy along a recorded round, and along retries that no record holds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.recovery.expected import Stratum, expected
from analysis.recovery.policies import chosen, policies, policy
from analysis.recovery.turn import Attempt, Round
from analysis.recovery.turns import Line
from analysis.recovery.walk import EXAMPLES, KINDS, Kind, followed, kind, tree, walk
from analysis.statistics.estimates import Pool
from tests.analysis.recovery.turns import (
    ATTEMPTS,
    BROKEN,
    CUT,
    ENVELOPE,
    GOOD,
    TOOLS,
    WHOLE,
    called,
    finding,
    leak,
    made,
    turn,
)

Row = tuple[str, list[Attempt], str | None, int, str]
WALKS: list[Row] = [
    ("goat", [leak(), called()], "recovered", 1, "the retry makes a call"),
    ("goat", [leak(), made("It is done.")], "answered", 1, "the retry answers"),
    ("goat", [leak(), leak(), called()], "errored", 1, "the second retry of the record is not asked for"),
    ("goat", [leak(), made(None, status="error")], "errored", 1, "the retry is an error"),
    ("goat", [leak(), made(None, status="cancelled")], "cancelled", 1, "the retry is cancelled"),
    ("goat", [leak(), made("It is", status="failed")], "errored", 1, "the retry failed"),
    ("goat", [leak(), made("It is", status="cut")], "unknown", 1, "the record is cut in the retry"),
    ("goat", [leak(), made("", reply="empty")], "unknown", 1, "the retry is empty"),
    ("goat", [leak(), made("Done.", judged=False)], "unknown", 1, "the detector failed on the retry"),
    ("goat", [leak(), called(reply="invalid_call")], "unknown", 1, "the retry makes an invalid call"),
    ("goat", [leak()], None, 0, "no record holds the retry"),
    ("openrouter-net", [leak(), leak(), leak()], "passed_off", 2, "the third leak is the answer"),
    ("openrouter-net", [leak(), leak()], None, 1, "no record holds the second retry"),
    ("report-only", [leak(), called()], "passed_off", 0, "a retry of the record is not asked for"),
    ("salvage", [leak(CUT), called()], "salvaged", 0, "a call is taken"),
    ("foundry", [leak(WHOLE)], "called", 0, "the decoder takes the call"),
    ("foundry", [leak(), called(raw_text=ENVELOPE)], "recovered", 1, "the strict check accepts the retry"),
    ("foundry", [leak(), called(raw_text="?")], "errored", 1, "the strict check refuses a call that others take"),
    ("goat", [leak(calls=called().output.calls)], "called", 0, "a call beside the leak is carried out"),
]


@pytest.mark.parametrize(
    ("spec", "attempts", "end", "retries"), [pytest.param(*row[:4], id=f"{row[0]}: {row[4]}") for row in WALKS]
)
def test_how_a_round_ends(spec: str, attempts: list[Attempt], end: str | None, retries: int) -> None:
    begun = turn(attempts)
    found = walk(policy(spec), begun, begun.rounds[0].attempts)
    assert (found.end, len(found.decisions) - (end is not None)) == (end, retries + (end is None))
    assert len(found.turn.rounds[0].attempts) - 1 == retries


@pytest.mark.parametrize(
    ("numbers", "expected_numbers"),
    [
        pytest.param([0, 1, 2], [0, 1, 2], id="all of them"),
        pytest.param([0, 2], [0], id="up to a gap"),
        pytest.param([1, 2], [], id="none without the first"),
        pytest.param([], [], id="none of none"),
    ],
)
def test_what_can_be_followed(numbers: list[int], expected_numbers: list[int]) -> None:
    attempts = tuple(replace(leak(), number=number) for number in numbers)
    assert [each.number for each in followed(Round(attempts))] == expected_numbers


def test_of_two_choices_the_leaked_one_is_followed() -> None:
    clean, leaked = made("Hm."), leak()
    assert followed(Round((clean, leaked))) == (leaked,)
    assert followed(Round((leaked, clean))) == (leaked,)


@pytest.mark.parametrize("each", KINDS)
def test_an_example_is_of_its_kind(each: Kind) -> None:
    assert kind(EXAMPLES[each]) == each


@given(st.sampled_from([each.name for each in policies()]), ATTEMPTS)
def test_an_example_ends_as_its_kind_does(name: str, attempt: Attempt) -> None:
    """What a tree says of a kind holds of every retry of that kind that the same tools were offered to, but for two
    kinds: calls beside a leak, and replies that nobody judged, may pass a strict check or not."""
    of, begun = policy(name), turn([leak()])
    said = kind(attempt)
    if of.decide(begun).action != "retry" or said in ("leak_beside_calls", "unjudged"):
        return
    real, example = (begun.followed_by(each) for each in (attempt, EXAMPLES[said]))
    ended = attempt.status == "ok" and attempt.output.finish_reason in (None, "stop", "tool_calls")
    if ended and attempt.output.tools == TOOLS and _is_told_truly(attempt):
        assert of.decide(real).action == of.decide(example).action


def _is_told_truly(attempt: Attempt) -> bool:
    """Whether the kind of reply is what reading a log makes of such an output."""
    calls = attempt.output.calls
    sound = all(call.name in ("t", GOOD.name) and (call.arguments or "").startswith("{") for call in calls)
    if calls:
        return attempt.reply == ("structured" if sound and GOOD in calls else "invalid_call")
    says = bool((attempt.output.content or "").strip())
    return attempt.reply == ("words" if says else "reasoning_only" if attempt.output.reasoning else "empty")


STRATUM: Stratum = (Line("m", None, "vllm", None), "leaked_call")


def observed(**counts: int) -> Pool[Kind]:
    found = Pool[Kind]()
    for at, each in enumerate(name for name, n in counts.items() for _ in range(n)):
        found.add(at, each)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("spec", "figures"),
    [
        pytest.param("goat", {"extra_rounds": 1, "recovered": 0.6, "answered": 0.1, "errored": 0.3}, id="one retry"),
        pytest.param(
            "openrouter-net",
            {"extra_rounds": 1.2, "recovered": 0.72, "answered": 0.12, "errored": 0.12, "passed_off": 0.04},
            id="a second one where the first leaks",
        ),
        pytest.param(
            "retry-n:max_retries=3",
            {"extra_rounds": 1.24, "recovered": 0.744, "answered": 0.124, "errored": 0.132},
            id="a third one",
        ),
        pytest.param("foundry", {"extra_rounds": 1, "recovered": 0.5, "errored": 0.5}, id="only what is not refused"),
    ],
)
def test_what_the_retries_that_no_record_holds_would_have_brought(spec: str, figures: dict[str, float]) -> None:
    pool = observed(accepted=2, unchecked=3, refused=1, words=1, leak=2, errored=1)
    found = expected({(STRATUM, tree(policy(spec), turn([leak()]))): 10}, {STRATUM: pool}).as_json()
    assert {name: found[name] / 10 for name in figures} == pytest.approx(figures)
    assert sum(found[name] for name in ("recovered", "answered", "errored", "passed_off")) == pytest.approx(10)
    for name in figures:
        assert found[f"{name}_low"] <= found[name] <= found[f"{name}_high"]


def test_what_nothing_like_it_was_seen_of_is_not_estimated() -> None:
    waiting = {(STRATUM, tree(policy("goat"), turn([leak()]))): 3}
    found = expected(waiting, {})
    assert (found.n, found.unestimated) == (0, 3)
    assert set(found.as_json().values()) == {0, None}


@pytest.mark.parametrize("name", [each.policy.name for each in chosen(())])
def test_a_tree_is_no_deeper_than_the_retries_that_are_left(name: str) -> None:
    of = policy(name)
    assert len(tree(of, turn([leak()]))) <= max(of.most_retries, 1)
    assert finding(BROKEN).leak
