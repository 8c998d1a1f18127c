"""Every rule of every policy, in both directions; and what holds of all of them on any turn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.output import Call
from analysis.recovery.policies import Configured, Decision, chosen, policies, policy
from analysis.recovery.turn import Attempt, Turn, Used
from ingest.errors import UsageError
from tests.analysis.recovery.turns import ATTEMPTS, BROKEN, CUT, TURNS, called, finding, leak, made, turn

every_policy = pytest.mark.parametrize("of", [pytest.param(each, id=each.id) for each in chosen(())])


def decided(spec: str, given: Turn) -> tuple[str, str]:
    found = policy(spec).decide(given)
    return found.action, found.reason


@every_policy
@pytest.mark.parametrize(
    ("given_turn", "expected"),
    [
        pytest.param(Turn(), ("publish", "no_reply"), id="no round"),
        pytest.param(turn([]), ("publish", "no_reply"), id="a round without an attempt"),
        pytest.param(turn([made("Done.")]), ("publish", "no_leak"), id="an answer"),
        pytest.param(turn([called()]), ("publish", "no_leak"), id="a structured call"),
        pytest.param(turn([leak(tier="possible")]), ("publish", "no_leak"), id="a possible finding is no leak"),
        pytest.param(turn([leak(judged=False)]), ("publish", "not_judged"), id="the detector failed"),
        pytest.param(turn([leak(status="error")]), ("fail", "errored"), id="the call failed, with a leak in it"),
        pytest.param(turn([made(None, status="error")]), ("fail", "errored"), id="the call failed"),
        pytest.param(turn([leak(status="cancelled")]), ("fail", "cancelled"), id="cancelled"),
    ],
)
def test_what_all_policies_do_where_nothing_is_to_be_recovered(
    of: Configured, given_turn: Turn, expected: tuple[str, str]
) -> None:
    found = of.decide(given_turn)
    assert (found.action, found.reason) == expected


TWICE = [leak(), leak()]
EARLIER = {"earlier": Used(rounds=1, retries=1, leaks=1)}
ROWS: list[tuple[str, Turn, tuple[str, str], str]] = [
    ("report-only", turn([leak()]), ("publish", "reported"), "a leak"),
    ("report-only", turn([leak(status="failed")]), ("publish", "reported"), "a leak written down as failed"),
    ("retry-n", turn([leak()]), ("retry", "leaked"), "the first leak"),
    ("retry-n", turn([leak(tier="likely")]), ("retry", "leaked"), "a likely leak"),
    ("retry-n", turn(TWICE), ("retry", "leaked"), "one of two retries used"),
    ("retry-n", turn([*TWICE, leak()]), ("fail", "retries_used_up"), "both retries used"),
    ("retry-n:publish_after=true", turn([*TWICE, leak()]), ("publish", "retries_used_up"), "and then published"),
    ("retry-n:max_retries=0", turn([leak()]), ("fail", "retries_used_up"), "no retry at all"),
    ("retry-n:max_retries=3", turn([*TWICE, leak()]), ("retry", "leaked"), "a third retry"),
    ("retry-n", turn([*TWICE, called()], [leak()]), ("retry", "leaked"), "another round has its own retries"),
    ("retry-n", turn([leak(calls=(Call("ls"),))]), ("publish", "structured_calls"), "a call stands beside the leak"),
    ("goat", turn([leak()]), ("retry", "leaked"), "the first leak of a turn"),
    ("goat", turn([leak(status="failed")]), ("retry", "leaked"), "written down as failed before the retry"),
    ("goat", turn([leak(persisted=False)]), ("fail", "not_persisted"), "it could not be written down"),
    ("goat", turn([leak(calls=(Call("ls"),))]), ("publish", "structured_calls"), "a call stands beside the leak"),
    ("goat", turn(TWICE), ("fail", "second_leak"), "malformed again"),
    ("goat", turn([leak(), called()]), ("publish", "no_leak"), "a fresh call, whatever permission says of it"),
    ("goat", turn([leak(), made("It is done.")]), ("publish", "no_leak"), "an answer after the retry"),
    ("goat", turn([leak(), made(None, status="error")]), ("fail", "errored"), "the retry times out"),
    ("goat", turn([leak(), leak(status="cancelled")]), ("fail", "cancelled"), "cancelled in the retry"),
    ("goat", turn([leak(), called()], [leak()]), ("fail", "second_leak"), "a later round of the same turn"),
    ("goat", turn([leak()], **EARLIER), ("fail", "second_leak"), "the same, known in numbers alone"),
    ("goat", turn([leak()], run=Used(3, 2, 2)), ("retry", "leaked"), "another turn had its own retry"),
    ("goat", turn([called()], [leak()]), ("retry", "leaked"), "results of an earlier round stay"),
    ("goat:max_retries=0", turn([leak()]), ("fail", "retries_off"), "no corrected response"),
    ("goat:max_retries=2", turn(TWICE), ("retry", "leaked"), "two corrected responses"),
    ("goat:round_cap=2", turn([leak()]), ("retry", "leaked"), "inside the round cap"),
    ("goat:round_cap=2", turn([called()], [leak()]), ("fail", "round_cap"), "at the round cap"),
    ("goat:round_cap=1", turn([leak()]), ("fail", "round_cap"), "a cap that leaves none"),
    ("openrouter-net", turn([leak()]), ("retry", "leaked"), "the first leak of a run"),
    ("openrouter-net", turn(TWICE), ("retry", "leaked"), "the second"),
    ("openrouter-net", turn([*TWICE, leak()]), ("publish", "retries_used_up"), "the third completes the run"),
    ("openrouter-net", turn([leak()], run=Used(9, 2, 2)), ("publish", "retries_used_up"), "nudges count by run"),
    ("openrouter-net", turn([leak()], run=Used(9, 0, 2)), ("publish", "retries_used_up"), "leaks are what counts"),
    ("openrouter-net", turn([leak()], run=Used(9, 2, 0)), ("publish", "retries_used_up"), "so do retries without one"),
    ("openrouter-net", turn([leak()], run=Used(9, 1, 1)), ("retry", "leaked"), "one nudge is left"),
    ("openrouter-net:max_retries=0", turn([leak()]), ("publish", "reports_only"), "0 only reports"),
    ("openrouter-net", turn([leak(tools=())]), ("publish", "no_tools"), "no tools"),
    ("openrouter-net", turn([leak(tools=None)]), ("retry", "leaked"), "tools unknown"),
    ("openrouter-net", turn([leak(calls=(Call("ls"),))]), ("publish", "structured_calls"), "a call beside the leak"),
    ("openrouter-net:max_iterations=3", turn([called()], [leak()]), ("retry", "leaked"), "an iteration is left"),
    ("openrouter-net:max_iterations=2", turn([called()], [leak()]), ("publish", "no_free_iteration"), "the last one"),
    ("openrouter-net:max_iterations=2,extra_rounds=1", turn([called()], [leak()]), ("retry", "leaked"), "one granted"),
    ("openrouter-net:max_iterations=4", turn([leak()], run=Used(3, 1, 0)), ("publish", "no_free_iteration"), "by run"),
    ("salvage", turn([leak(CUT)]), ("salvage", "salvaged"), "what closed is taken"),
    ("salvage", turn([leak("<function=name_chat><parameter=colour>red</parameter>")]), ("salvage", "salvaged_invalid"),
     "a required argument is missing: a corrective error"),
    ("salvage", turn([leak("Let me look.\n</parameter>\n</function>")]), ("fail", "nothing_salvaged"), "stray closers"),
    ("salvage", turn([leak("<function=rm><parameter=p>/</parameter>")]), ("fail", "nothing_salvaged"), "unknown tool"),
    ("salvage", turn([leak(CUT, tools=None)]), ("fail", "tools_unknown"), "tools unknown"),
    ("salvage", turn([leak(CUT, tools=())]), ("publish", "no_tools"), "no tools were offered"),
    ("salvage", turn([leak(CUT, calls=(Call("ls"),))]), ("publish", "structured_calls"), "a call beside the leak"),
    ("salvage", turn([leak(), leak(CUT)]), ("salvage", "salvaged"), "a retry that leaked is salvaged as well"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "given_turn", "expected"), [pytest.param(*row[:3], id=f"{row[0]}: {row[3]}") for row in ROWS]
)
def test_a_rule(spec: str, given_turn: Turn, expected: tuple[str, str]) -> None:
    assert decided(spec, given_turn) == expected


def test_salvage_gives_the_calls_and_an_error_offers_a_retry() -> None:
    taken = policy("salvage").decide(turn([leak(CUT)]))
    assert [(each.name, each.arguments, each.problem) for each in taken.calls] == [
        ("name_chat", {"title": "Walks"}, None)
    ]
    assert not taken.retry_offered
    assert policy("salvage").decide(turn([leak("</function>")])).retry_offered


@every_policy
@given(given_turn=TURNS)
def test_a_policy_answers_for_any_turn_with_a_reason_of_its_own(of: Configured, given_turn: Turn) -> None:
    found = of.decide(given_turn)
    assert (found.action, found.reason) in {(each.action, each.code) for each in of.policy.reasons}
    assert found == of.decide(given_turn)
    assert (found.action == "retry") <= (given_turn.last is not None and given_turn.last.leak)


def walked(of: Configured, begun: Turn, following: Sequence[Attempt]) -> list[Decision]:
    """Its decisions, as long as it asks for one more of the attempts that would follow."""
    found, now = [of.decide(begun)], begun
    for attempt in following:
        if found[-1].action != "retry":
            break
        now = now.followed_by(attempt)
        found.append(of.decide(now))
    return found


SPECS: dict[str, st.SearchStrategy[str]] = {
    "report-only": st.just("report-only"),
    "salvage": st.just("salvage"),
    "foundry": st.sampled_from(["foundry", "foundry:unknown_end=true"]),
    "goat": st.builds("goat:max_retries={},round_cap={}".format, st.integers(0, 3), st.integers(0, 6)),
    "retry-n": st.builds("retry-n:max_retries={}".format, st.integers(0, 4)),
    "openrouter-net": st.builds(
        "openrouter-net:max_retries={},max_iterations={},extra_rounds={}".format,
        st.integers(0, 4), st.integers(0, 6), st.integers(0, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [each.name for each in policies()])
@given(data=st.data())
def test_a_policy_never_asks_for_more_retries_than_it_may(name: str, data: st.DataObject) -> None:
    of = policy(data.draw(SPECS[name]))
    begun = turn([replace(data.draw(ATTEMPTS), finding=finding(BROKEN), status="ok", judged=True)])
    found = walked(of, begun, data.draw(st.lists(ATTEMPTS, min_size=6, max_size=6)))
    assert sum(each.action == "retry" for each in found) <= of.most_retries


@pytest.mark.parametrize("name", [each.name for each in policies()])
@given(data=st.data(), given_turn=TURNS)
def test_a_policy_counts_the_retries_that_were(name: str, data: st.DataObject, given_turn: Turn) -> None:
    of = policy(data.draw(SPECS[name]))
    if of.decide(given_turn).action == "retry":
        used = {"round": given_turn.in_round, "turn": given_turn.in_turn, "run": given_turn.in_run}[of.policy.scope]
        assert used.retries < of.most_retries


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("goat", "goat@1", id="by name"),
        pytest.param("goat@1", "goat@1", id="by name and version"),
        pytest.param("goat:max_retries=1", "goat@1", id="a default, spelled out"),
        pytest.param(
            "retry-n:max_retries=3,publish_after=true", "retry-n@1:max_retries=3,publish_after=true", id="two"
        ),
        pytest.param("foundry:engines=foundry*", "foundry@1:engines=foundry*", id="a text"),
    ],
)
def test_how_a_policy_is_named(spec: str, expected: str) -> None:
    assert policy(spec).id == expected


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param("goats", "unknown policy 'goats'; known: foundry@1, goat@1", id="an unknown policy"),
        pytest.param("goat@2", "unknown policy 'goat@2'", id="an unknown version"),
        pytest.param("goat:retries=1", "parameters of goat: max_retries, round_cap", id="an unknown parameter"),
        pytest.param("salvage:x=1", "parameters of salvage: none", id="a policy without parameters"),
        pytest.param("goat:max_retries", "write parameter=value", id="no value"),
        pytest.param("goat:max_retries=-1", "a number from 0 on", id="less than 0"),
        pytest.param("goat:max_retries=²", "a number from 0 on", id="a digit that is no number"),
        pytest.param("foundry:unknown_end=yes", "true or false", id="neither true nor false"),
    ],
)
def test_a_policy_that_is_none(spec: str, said: str) -> None:
    with pytest.raises(UsageError) as fault:
        policy(spec)
    assert said in str(fault.value)


def test_all_policies_are_there_with_their_defaults() -> None:
    names = [each.policy.name for each in chosen(())]
    assert names == ["foundry", "goat", "openrouter-net", "report-only", "retry-n", "salvage"]
    assert [each.id for each in chosen(["goat", "goat@1", "retry-n"])] == ["goat@1", "retry-n@1"]


@pytest.mark.parametrize("of", [pytest.param(each, id=each.id) for each in policies()])
def test_a_policy_declares_its_reasons_and_parameters_once(of: Any) -> None:
    codes = [(each.action, each.code) for each in of.reasons]
    assert len(set(codes)) == len(codes)
    assert all(each.meaning for each in (*of.reasons, *of.parameters))
    assert len(of.defaults) == len(of.parameters)
