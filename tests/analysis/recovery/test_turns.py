"""Turns built from stored rows: what a policy is shown of a leaked round, and what is odd about its record."""

import random
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import Detector, detector
from analysis.filters import Filters
from analysis.recovery import stored_outputs
from analysis.recovery.turn import Used
from analysis.recovery.turns import MOST_ATTEMPTS, Line, StoredTurn, stored_turns
from tests.analysis.stories import BOOM, LEAK, WORDS, Json, called, finds, label, leaked, said, store_of

OPENROUTER = detector("openrouter-net@1")


def turns(
    folder: Path, records: list[Json], by: Detector = OPENROUTER, filters: Filters | None = None
) -> list[StoredTurn]:
    with store_of(folder, records, by) as store, store.cursor() as cursor:
        return list(stored_turns(cursor, by.id, filters))


def shape(of: StoredTurn) -> tuple[int | None, str]:
    """The round's number, and its attempts: a leak, a call or words, with their numbers."""
    kinds = ((each.number, "L" if each.leak else each.reply[0]) for each in of.round.attempts)
    return of.round.number, " ".join(f"{number}{kind}" for number, kind in kinds)


def at(minute: int) -> str:
    return f"2026-11-01T12:{minute:02}:00Z"


STARTED = {"started_at": at(0)}
ROUNDS: list[tuple[list[Json], list[tuple[int | None, str]], set[str], str]] = [
    ([leaked(0, 0), called(0, 1)], [(0, "0L 1s")], set(), "a leak and its retry"),
    ([called(0, 1), leaked(0, 0)], [(0, "0L 1s")], set(), "shuffled lines"),
    ([leaked(0, 2), leaked(0, 0), leaked(0, 1)], [(0, "0L 1L 2L")], set(), "three shuffled leaks"),
    ([leaked(0, 0, **STARTED), called(0, 1, **STARTED)], [(0, "0L 1s")], {"same_time"}, "equal times"),
    ([leaked(0, 0, started_at=at(5)), called(0, 1, **STARTED)], [(0, "0L 1s")], {"times_disagree"}, "times disagree"),
    ([leaked(0, 0), called(0, 1, **STARTED)], [(0, "0L 1s")], set(), "one time is not told"),
    ([leaked(0, 1), called(0, 2)], [(0, "1L 2s")], {"first_attempt_missing"}, "a retry without its first attempt"),
    ([leaked(0, 0), called(0, 3)], [(0, "0L 3s")], {"attempt_missing"}, "a gap between the attempts"),
    ([leaked(0, 0), said("Hm.", 0, 0)], [(0, "0L 0w")], {"same_attempt"}, "two choices"),
    ([called(0, 0), leaked(2, 0)], [(2, "0L")], {"round_missing"}, "a round is missing"),
    ([leaked(7, 0)], [(7, "0L")], set(), "the record begins later"),
    ([leaked(), called()], [(None, "0L")], {"place_untold"}, "neither round nor attempt is told"),
    ([leaked(0), called(0)], [(None, "0L")], {"place_untold"}, "no attempt is told"),
    ([leaked(attempt=3)], [(None, "3L")], {"place_untold"}, "no round is told"),
    ([leaked(0, 0), leaked()], [(None, "0L"), (0, "0L")], {"place_untold"}, "one is told, one is not"),
    ([said("Hm.", 0, 0), leaked(0, 1)], [(0, "0w 1L")], set(), "the retry leaks, its first attempt did not"),
    ([said("Done.", 0, 0)], [], set(), "nothing leaked"),
    ([leaked(0, 0, role="judge")], [], set(), "a judge is no agent"),
    ([leaked(0, 0, role="subagent"), called(0, 1)], [(0, "0L")], set(), "an agent does not retry for a subagent"),
    ([leaked(0, 0, turn=0), leaked(0, 0, turn=1)], [(0, "0L"), (0, "0L")], set(), "two turns"),
    ([leaked(0, 0), *(leaked(0, 1 + n) for n in range(70))],
     [(0, " ".join(f"{n}L" for n in range(MOST_ATTEMPTS)))], {"attempts_left_out"}, "more attempts than are read"),
]  # fmt: skip


@pytest.mark.parametrize(("records", "shapes", "marks"), [pytest.param(*row[:3], id=row[3]) for row in ROUNDS])
def test_the_rounds_of_a_record(
    records: list[Json], shapes: list[tuple[int | None, str]], marks: set[str], tmp_path: Path
) -> None:
    found = turns(tmp_path, records)
    assert [shape(each) for each in found] == shapes
    assert {mark for each in found for mark in each.round.marks} == marks


def test_what_stood_before_a_round_is_known_in_numbers(tmp_path: Path) -> None:
    records = [
        leaked(0, 0, turn=0), called(0, 1, turn=0), called(1, 0, turn=0),
        called(2, 0, turn=1), leaked(3, 0, turn=1), leaked(3, 1, turn=1), said("Done.", 3, 2, turn=1),
        leaked(4, 0, turn=1),
    ]  # fmt: skip
    found = [(each.number, each.turn.earlier, each.turn.run) for each in turns(tmp_path, records)]
    assert found == [
        (0, Used(), Used()),
        (1, Used(1), Used(2, 1, 1)),
        (1, Used(2, 2, 2), Used(2, 1, 1)),
    ]


def test_all_that_a_policy_may_look_at_is_there(tmp_path: Path) -> None:
    tools = [{"name": "ls", "parameters": {"type": "object"}}]
    series = {"model": "m", "provider": "p", "engine": "vllm", "client": "c", "template": "t"}
    first = (
        leaked(0, 0, tools=tools, reasoning="Hm.", finish_reason="stop", tool_choice="auto", status="failed") | series
    )
    retry = called(0, 1, tools=tools, arguments='{"a": 1}', raw_text="<tool_call>", **series)
    [found] = turns(tmp_path, [first, retry, label("g0", True)])
    leak, call = found.round.attempts
    assert (leak.output.content, leak.output.reasoning, leak.output.finish_reason) == (LEAK, "Hm.", "stop")
    assert (leak.status, leak.tool_choice, leak.judged, leak.raw_text) == ("failed", "auto", True, None)
    assert leak.finding is not None
    assert (leak.finding.channel, leak.finding.start, leak.finding.markup) == ("content", 0, LEAK)
    assert [each.arguments for each in call.output.calls] == ['{"a": 1}']
    assert call.output.tools is not None
    assert call.output.tools[0].parameters == {"type": "object"}
    assert (call.raw_text, call.reply, call.finding) == ("<tool_call>", "structured", None)
    assert (found.line, found.turn.engine) == (Line("m", "p", "vllm", "c"), "vllm")
    assert found.truth == {leak.key: True}


def test_a_reply_on_which_the_detector_failed_is_marked(tmp_path: Path) -> None:
    by = finds("words", WORDS)
    [found] = turns(tmp_path, [said("LEAK", 0, 0), said(BOOM, 0, 1)], by)
    assert [each.judged for each in found.round.attempts] == [True, False]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(None, None, id="not told"),
        pytest.param("auto", "auto", id="auto"),
        pytest.param({"type": "auto"}, "auto", id="auto in an object"),
        pytest.param({"type": "function", "function": {"name": "ls"}}, "named", id="a tool, as one provider names it"),
        pytest.param({"type": "tool", "name": "ls"}, "named", id="a tool, as another does"),
        pytest.param(["ls"], "named", id="something else"),
    ],
)
def test_the_tool_choice(given: Any, expected: str | None, tmp_path: Path) -> None:
    [found] = turns(tmp_path, [leaked(0, 0, tool_choice=given)])
    assert found.round.attempts[0].tool_choice == expected


def test_filters_ask_for_rounds_by_their_leaks(tmp_path: Path) -> None:
    records = [leaked(0, 0, model="a"), leaked(1, 0, model="b"), said("Done.", 1, 1, model="a")]
    [found] = turns(tmp_path, records, filters=Filters.parse(["model=b"]))
    assert (found.round.number, found.turn.earlier) == (1, Used(1, 0, 1))


def test_parts_do_not_change_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(7)  # noqa: S311 - no cryptography
    records = [
        said(LEAK if dice.random() < 0.6 else "Done.", n % 5, n % 3, run=f"r{n % 4}", turn=n % 2) for n in range(120)
    ]
    whole = turns(tmp_path, records)
    monkeypatch.setattr(stored_outputs, "PART_BYTES", 200)
    (tmp_path / "again").mkdir()
    again = turns(tmp_path / "again", records)
    assert [(each.run_id, shape(each), each.turn) for each in again] == [(e.run_id, shape(e), e.turn) for e in whole]
    assert len(whole) == 20
