"""Every leak has an outcome, and every leaked round a fate, told by what followed in the record."""

from pathlib import Path

import pytest

from analysis.detectors import Detector, detector
from analysis.recovery.outcomes import ALL, EVIDENCE, OUTCOMES, Among, follow
from tests.analysis.stories import BOOM, TOOLS, WORDS, Json, add, called, event_of, finds, leaked, said, store_of

OPENROUTER = detector("openrouter-net@1")
NO_OUTPUT = {"content": None, "reasoning": None}


def judged(
    folder: Path, records: list[Json], by: Detector = OPENROUTER, run: str | None = None
) -> dict[str, tuple[str, str]]:
    """The outcome of each leak and the evidence for it, by its generation's id."""
    with store_of(folder, records, by) as store, store.cursor() as cursor:
        follow(cursor, by.id, Among("run_id = $run", {"run": run}) if run else ALL)
        found = cursor.execute(
            "SELECT g.generation_id, o.outcome, o.evidence FROM outcomes o JOIN generations g USING (key) WHERE o.leak"
        ).fetchall()
    assert len({name for name, _, _ in found}) == len(found)
    assert {outcome for _, outcome, _ in found} <= set(OUTCOMES)
    assert {evidence for _, _, evidence in found} <= set(EVIDENCE)
    return {name: (outcome, evidence) for name, outcome, evidence in found}


def outcomes(folder: Path, records: list[Json], by: Detector = OPENROUTER, run: str | None = None) -> dict[str, str]:
    """The outcome of each leak by its generation's id."""
    return {name: outcome for name, (outcome, _) in judged(folder, records, by, run).items()}


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
        pytest.param([leaked()], ["unknown"], id="neither round nor attempt is told, and nothing follows"),
        pytest.param([leaked(0), called(0)], ["unknown"], id="no attempt is told, and two claim to be the first"),
        pytest.param([leaked(0), called(0, 1)], ["structured"], id="an attempt that is not told is the first"),
        pytest.param([leaked(attempt=0), called(attempt=1)], ["structured"], id="no round is told"),
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
        pytest.param([leaked(0, 0), said("Hm.", 0, 0)], set(), id="two attempts 0 are two choices, no retry"),
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


TIMES = [f"2026-11-01T00:00:0{n}Z" for n in range(9)]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([leaked(0, 0), called(0, 1)], ("structured", "explicit_attempt"), id="explicit numbers"),
        *(
            pytest.param([leaked(0, 0), called(0, 1, linked_by=link)], ("structured", link), id=link)
            for link in ("attempt_group", "host_instruction", "nudge", "reprimand", "identical_request", "after_error")
        ),
        pytest.param([leaked(0, linked_by="new_turn"), called(0, 1, linked_by="nudge")], ("structured", "nudge"),
                     id="a first attempt that only its link tells"),
        pytest.param([leaked(0, 0, reprimand="No."), called(0, 1)], ("structured", "reprimand"),
                     id="a reprimand that the leak was answered with"),
        pytest.param([leaked(0, 0), called(1, 0)], ("structured", "next_round"), id="the next round"),
        pytest.param([leaked(0, 0)], ("passed_off", "end_of_turn"), id="the end of the turn"),
        pytest.param([leaked(0, 0, turn=0), said("Done.", 1, 0, turn=1)], ("passed_off", "end_of_turn"),
                     id="the next turn"),
        pytest.param([leaked(0, 0, status="error")], ("errored", "status"), id="its own error"),
        pytest.param([leaked(0, 0, status="cut")], ("unknown", "status"), id="its own cut"),
        pytest.param([leaked(0, 0, reprimand="No.")], ("unknown", "reprimand"),
                     id="a reprimand after which the record ends: it was not passed off"),
        pytest.param([leaked(0, 0, reprimand=None, note='"reprimand":"x"')], ("passed_off", "end_of_turn"),
                     id="a text that quotes one"),
        pytest.param([leaked(), called()], ("structured", "order"), id="the order of a run that numbers nothing"),
        pytest.param([leaked(attempt=0), called(attempt=1)], ("structured", "explicit_attempt"),
                     id="attempts without rounds"),
        pytest.param([called(), leaked()], ("passed_off", "end_of_run"), id="the end of a run that numbers nothing"),
        pytest.param([leaked()], ("unknown", "none"), id="a record alone"),
        pytest.param([leaked(0, 0), said("x", 0, 1, status="cut")], ("unknown", "explicit_attempt"),
                     id="a retry that tells nothing"),
        pytest.param([leaked(0, 0, turn=0), said("Done.", 0, 0, turn=1, linked_by="unclear")], ("unknown", "none"),
                     id="a history that was replaced by another"),
        pytest.param([leaked(0, 0, turn=0), said("Done.", 1, 0)], ("unknown", "none"),
                     id="a turn told of one record and not of the other"),
    ],
)  # fmt: skip
def test_an_outcome_has_the_evidence_for_it(records: list[Json], expected: tuple[str, str], tmp_path: Path) -> None:
    [found] = judged(tmp_path, records).values()
    assert found == expected


UNKNOWN = ("unknown", "none")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([leaked(0, 0), called(4, 0)], {"g0": ("structured", "next_round")}, id="missing rounds"),
        pytest.param([leaked(0, 1), called(0, 2)], {"g0": ("structured", "explicit_attempt")},
                     id="a retry without its first attempt"),
        pytest.param([called(1, 0), leaked(0, 1), leaked(0, 0)],
                     {"g2": ("leaked_again", "explicit_attempt"), "g1": ("structured", "next_round")},
                     id="shuffled order with numbers"),
        pytest.param([leaked(started_at=TIMES[1]), called(started_at=TIMES[0])], {"g0": UNKNOWN},
                     id="shuffled order without numbers: times and lines disagree"),
        pytest.param([leaked(started_at=TIMES[0]), called(started_at=TIMES[0])], {"g0": ("structured", "order")},
                     id="equal timestamps: the lines decide"),
        pytest.param([leaked(0, 0, started_at=TIMES[0]), called(0, 1, started_at=TIMES[0])],
                     {"g0": ("structured", "explicit_attempt")}, id="equal timestamps with numbers"),
        pytest.param([leaked(0, 0, client="a"), called(0, 1, client="b")], {"g0": ("passed_off", "end_of_turn")},
                     id="two clients write one run: the other's attempt is no retry"),
        pytest.param([leaked(0, 0, client="a"), leaked(0, 0, client="b"), called(0, 1, client="b")],
                     {"g0": ("passed_off", "end_of_turn"), "g1": ("structured", "explicit_attempt")},
                     id="two clients write one run, each its own round"),
        pytest.param([leaked(client="a"), called(client="b")], {"g0": UNKNOWN},
                     id="two clients write one run without numbers"),
        pytest.param([leaked(0, 0), said("x", 1, 0, client="a"), said("x", 1, 0, client="b")], {"g0": UNKNOWN},
                     id="two clients write one run, and the leak tells none"),
        pytest.param([leaked(0, 0), leaked(0, 0), called(0, 1)], {"g0": UNKNOWN, "g1": UNKNOWN},
                     id="one client writes one place twice"),
        pytest.param([leaked(0, 0), said("Hm.", 0, 1), called(0, 1)], {"g0": ("unknown", "explicit_attempt")},
                     id="two retries with one number"),
        pytest.param([leaked(0, 0), event_of("<tool_call>", run_id="nobody", round=9),
                      event_of("<tool_call>", generation_id="gone")], {"g0": ("passed_off", "end_of_turn")},
                     id="events that point nowhere"),
        pytest.param([leaked(0, 0, parent_run_id="s"), called(0, 1, parent_run_id="s"),
                      said("x", 0, 0, run="s", parent_run_id="r")], {"g0": ("structured", "explicit_attempt")},
                     id="a cycle in parent links"),
    ],
)  # fmt: skip
def test_bad_input_is_kept_and_never_taken_for_more_than_it_says(
    records: list[Json], expected: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    assert judged(tmp_path, records) == expected


@pytest.mark.parametrize(
    ("records", "recovered"),
    [
        pytest.param([leaked(), called()], 0, id="an order is no retry"),
        pytest.param([leaked(0, 0, client="a"), called(0, 1, client="b")], 0, id="another client's attempt"),
        pytest.param([leaked(0, 0), leaked(0, 0), called(0, 1)], 0, id="a place written twice"),
        pytest.param([leaked(0, 1), called(0, 2)], 0, id="no first attempt"),
        pytest.param([leaked(0, 0), called(4, 0)], 0, id="missing rounds"),
        pytest.param([leaked(0, linked_by="new_turn"), called(0, 1, linked_by="nudge")], 1, id="a linked retry"),
    ],
)
def test_nothing_is_silently_counted_as_recovered(records: list[Json], recovered: int, tmp_path: Path) -> None:
    assert sum("recovered" in each for each in fates(tmp_path, records).values()) == recovered


def test_files_of_one_run_without_numbers_and_times_have_no_order(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked()], OPENROUTER) as store:
        add(store, [called(generation_id="later")], OPENROUTER)
        with store.cursor() as cursor:
            follow(cursor, OPENROUTER.id)
            found = cursor.execute("SELECT outcome, evidence FROM outcomes WHERE leak").fetchall()
    assert found == [UNKNOWN]
