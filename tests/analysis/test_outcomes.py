"""Every leak has an outcome, and every leaked round a fate, told by what followed in the record."""

from pathlib import Path

import pytest

from analysis.detectors import Detector, detector
from analysis.recovery.outcomes import follow
from tests.analysis.stories import BOOM, TOOLS, WORDS, Json, called, finds, leaked, said, store_of

OPENROUTER = detector("openrouter-net@1")
NO_OUTPUT = {"content": None, "reasoning": None}


def outcomes(folder: Path, records: list[Json], by: Detector = OPENROUTER, run: str | None = None) -> dict[str, str]:
    """The outcome of each leak by its generation's id."""
    with store_of(folder, records, by) as store, store.cursor() as cursor:
        follow(cursor, by.id, run)
        found = cursor.execute(
            "SELECT g.generation_id, o.outcome FROM outcomes o JOIN generations g USING (key) WHERE o.leak"
        ).fetchall()
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([leaked(0, 0), called(0, 1)], ["structured"], id="the retry makes a valid call"),
        pytest.param([leaked(0, 0), said("Done.", 0, 1)], ["answered"], id="the retry answers in words"),
        pytest.param(
            [leaked(0, 0), leaked(0, 1), called(0, 2)],
            ["leaked_again", "structured"],
            id="the retry leaks again and has an outcome of its own",
        ),
        pytest.param([leaked(0, 0), leaked(0, 1)], ["leaked_again", "passed_off"], id="nobody retries the second leak"),
        pytest.param([leaked(0, 0)], ["passed_off"], id="the turn ends with the leak"),
        pytest.param([leaked(0, 0, status="ok")], ["passed_off"], id="the turn ends with the leak, in so many words"),
        pytest.param(
            [leaked(0, 0), said(None, 0, 1, status="error")], ["errored"], id="the retry is an error without output"
        ),
        pytest.param(
            [leaked(0, 0), said("Service", 0, 1, status="error")], ["errored"], id="the retry is an error in words"
        ),
        pytest.param([leaked(0, 0), called(0, 1, status="failed")], ["errored"], id="the retry failed"),
        pytest.param([leaked(0, 0, status="failed")], ["errored"], id="the leak itself failed and is the last"),
        pytest.param([leaked(0, 0, status="error")], ["errored"], id="the leak itself is an error and the last"),
        pytest.param([leaked(0, 0, status="failed"), called(0, 1)], ["structured"],
                     id="the leak failed, its retry not"),
        pytest.param([leaked(0, 0), said(None, 0, 1, status="cancelled")], ["cancelled"], id="the retry is cancelled"),
        pytest.param([leaked(0, 0, status="cancelled")], ["cancelled"], id="the leak itself is cancelled"),
        pytest.param([leaked(0, 0, status="cut")], ["unknown"], id="the record is cut at the leak"),
        pytest.param([leaked(0, 0), said("I will", 0, 1, status="cut")], ["unknown"], id="the retry is cut"),
        pytest.param([leaked()], ["unknown"], id="neither round nor attempt is told"),
        pytest.param([leaked(0), called(0)], ["unknown"], id="no attempt is told"),
        pytest.param([leaked(attempt=0), called(attempt=1)], ["unknown"], id="no round is told"),
        pytest.param([leaked(), called(0, 1)], ["unknown"], id="what is told of others does not help"),
        pytest.param(
            [leaked(0, 0), called(0, 1, arguments="{not JSON")], ["unknown"], id="the retry makes an invalid call"
        ),
        pytest.param(
            [leaked(0, 0), said(None, 0, 1, tool_calls=[{"name": "rm", "arguments": "{}"}])],
            ["unknown"],
            id="the retry calls a tool that was not offered",
        ),
        pytest.param([leaked(0, 0), said(None, 0, 1, reasoning="Hm.")], ["unknown"], id="the retry only thinks"),
        pytest.param([leaked(0, 0), said("", 0, 1)], ["unknown"], id="the retry is empty"),
        pytest.param([leaked(0, 0), called(1, 0)], ["structured"], id="the next round makes a call"),
        pytest.param(
            [leaked(0, 0), leaked(0, 1), said("Done.", 1, 0)],
            ["leaked_again", "answered"],
            id="the last attempt is judged by how the turn went on",
        ),
        pytest.param(
            [leaked(0, 0), leaked(1, 0), called(2, 0)], ["leaked_again", "structured"], id="two rounds leak in a row"
        ),
        pytest.param([leaked(0, 0), called(0, 1, role="agent")], ["structured"], id="no role is the agent"),
        pytest.param([leaked(0, 0), said("Fine.", 0, 1, role="judge")], ["passed_off"], id="a judge follows nobody"),
        pytest.param([leaked(0, 0), called(1, 0, role="subagent")], ["passed_off"], id="a subagent is another agent"),
        pytest.param([leaked(0, 0, turn=0), called(0, 0, turn=1)], ["passed_off"], id="the next turn is another story"),
        pytest.param([leaked(0, 0), called(0, 1, run="other")], ["passed_off"], id="another run is another story"),
        pytest.param([called(0, 1), leaked(0, 0)], ["structured"], id="attempts count, not lines"),
        pytest.param([called(0, 0), leaked(1, 0)], ["passed_off"], id="what came before is no follow-up"),
        pytest.param([called(1, 0), leaked(0, 0)], ["structured"], id="rounds count, not lines"),
        pytest.param([said("Done.", 0, 0), called(0, 1)], [], id="nothing leaked"),
    ],
)  # fmt: skip
def test_the_outcome_of_a_leak(records: list[Json], expected: list[str], tmp_path: Path) -> None:
    assert list(dict(sorted(outcomes(tmp_path, records).items())).values()) == expected


def test_a_reply_on_which_the_detector_failed_is_no_clean_answer(tmp_path: Path) -> None:
    by = finds("words", WORDS)
    assert outcomes(tmp_path, [said("LEAK", 0, 0), said(BOOM, 0, 1)], by) == {"g0": "unknown"}


def test_a_possible_finding_is_a_clean_answer(tmp_path: Path) -> None:
    by = finds("words", WORDS)
    assert outcomes(tmp_path, [said("LEAK", 0, 0), said("MAYBE", 0, 1)], by) == {"g0": "answered"}


def test_the_outcomes_of_one_run_are_those_of_all(tmp_path: Path) -> None:
    records = [leaked(0, 0), called(0, 1), leaked(0, 0, run="other")]
    assert outcomes(tmp_path, records, run="r") == {"g0": "structured"}


def fates(folder: Path, records: list[Json]) -> dict[str, set[str]]:
    """What became of each leaked round, by the id of its attempt 0."""
    names = ("retried", "recovered", "answered", "passed_off")
    with store_of(folder, records, OPENROUTER) as store, store.cursor() as cursor:
        follow(cursor, OPENROUTER.id)
        found = cursor.execute(
            "SELECT generation_id, retried, recovered, answered, passed_off FROM fates JOIN generations USING (key)"
        ).fetchall()
    return {row[0]: {name for name, true in zip(names, row[1:], strict=True) if true} for row in found}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([leaked(0, 0), called(0, 1)], {"retried", "recovered"}, id="the retry makes a valid call"),
        pytest.param(
            [leaked(0, 0), leaked(0, 1), called(0, 2)], {"retried", "recovered"}, id="the second retry makes a call"
        ),
        pytest.param(
            [leaked(0, 0), called(0, 1), said("Done.", 0, 2)],
            {"retried", "answered"},
            id="only the last attempt counts: an answer after a call",
        ),
        pytest.param(
            [leaked(0, 0), called(0, 1), leaked(0, 2)],
            {"retried", "passed_off"},
            id="only the last attempt counts: a leak after a call",
        ),
        pytest.param([leaked(0, 0), said("Done.", 0, 1)], {"retried", "answered"}, id="the retry answers in words"),
        pytest.param([leaked(0, 0), leaked(0, 1)], {"retried", "passed_off"}, id="the retry is passed off"),
        pytest.param([leaked(0, 0)], {"passed_off"}, id="the leak is passed off"),
        pytest.param([leaked(0, 0), said(None, 0, 1, status="error")], {"retried"}, id="the retry is an error"),
        pytest.param([leaked(0, 0), called(0, 1, arguments="{")], {"retried"}, id="an invalid call is no recovery"),
        pytest.param([leaked(0, 0), called(1, 0)], set(), id="the call of the next round is no recovery"),
        pytest.param([leaked(0, 0), called(0, 1, role="judge")], {"passed_off"}, id="a judge retries nothing"),
        pytest.param([leaked(0, 0), said("Hm.", 0, 0)], {"answered"}, id="two attempts 0 are two choices, no retry"),
        pytest.param([leaked(0, 0, tools=..., turn=3), called(0, 1, turn=3)], {"retried", "recovered"}, id="tools?"),
    ],
)  # fmt: skip
def test_the_fate_of_a_leaked_round(records: list[Json], expected: set[str], tmp_path: Path) -> None:
    assert fates(tmp_path, records) == {"g0": expected}


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([said("Hm.", 0, 0), leaked(0, 1)], id="attempt 0 did not leak"),
        pytest.param([leaked(), called()], id="neither round nor attempt is told"),
        pytest.param([leaked(0, 0, tools=[]), said("Done.", 0, 1, tools=TOOLS)], id="no tools were offered"),
    ],
)
def test_a_round_that_did_not_leak_at_attempt_0_has_no_fate(records: list[Json], tmp_path: Path) -> None:
    assert fates(tmp_path, records) == {}
