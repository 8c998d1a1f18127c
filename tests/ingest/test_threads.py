"""Records of one file whose history continues an earlier one's form a run."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.shapes.threads import Threads

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def says(text: str | None, *call_ids: str) -> Message:
    calls = [{"id": each, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for each in call_ids]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def result(call_id: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


def runs(*exchanges: tuple[list[Message], Message]) -> list[int]:
    """Which run each exchange belongs to, numbered as they appear."""
    threads = Threads()
    ids = [threads.run_of(messages, [answer]) for messages, answer in exchanges]
    return [list(dict.fromkeys(ids)).index(run) for run in ids]


HI, BYE = [user("hi")], [user("bye")]
CALL = says(None, "call_1")
SEQUEL = [*HI, CALL, result("call_1")]


@pytest.mark.parametrize(
    ("exchanges", "expected"),
    [
        pytest.param([(HI, CALL), (SEQUEL, says("done"))], [0, 0], id="the history continues"),
        pytest.param([(HI, says("a")), (BYE, says("b"))], [0, 1], id="two conversations"),
        pytest.param([(HI, says("a")), (HI, says("a"))], [0, 1], id="the same request twice"),
        pytest.param([(HI, CALL), (SEQUEL, says("<tool")), (SEQUEL, says("done"))], [0, 0, 0], id="a retry in a run"),
        pytest.param([(HI, says("a")), ([*HI, says("a"), user("go on")], says("b"))], [0, 0], id="by the text alone"),
        pytest.param(
            [(HI, says("a")), ([*HI, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}], says("b"))],
            [0, 0],
            id="the text came back as parts",
        ),
        pytest.param(
            [(HI, says(None, "c")), ([*HI, {**says("", "c"), "reasoning": "x"}, result("c")], says("b"))],
            [0, 0],
            id="null came back as an empty text",
        ),
        pytest.param([(HI, says("a")), ([*HI, says("b"), user("go on")], says("c"))], [0, 1], id="another answer"),
        pytest.param(
            [(HI, CALL), ([user("hi, at 12:01"), CALL, result("call_1")], says("done"))],
            [0, 0],
            id="another prompt, but a call that one run made",
        ),
        pytest.param(
            [(HI, CALL), (BYE, CALL), ([user("hi!"), CALL, result("call_1")], says("done"))],
            [0, 1, 2],
            id="another prompt, and a call id that two runs have",
        ),
        pytest.param(
            [(HI, CALL), (BYE, CALL), ([*BYE, CALL, result("call_1")], says("done")), (SEQUEL, says("done"))],
            [0, 1, 1, 0],
            id="call ids repeat, the prefix decides",
        ),
        pytest.param(
            [(HI, CALL), ([*HI, CALL, result("call_1"), says("x"), user("more")], says("y"))],
            [0, 0],
            id="a round in between is not in the file",
        ),
        pytest.param([([], says("a")), ([], says("b"))], [0, 1], id="responses without a request"),
    ],
)
def test_a_run_is_what_continues(exchanges: list[tuple[list[Message], Message]], expected: list[int]) -> None:
    assert runs(*exchanges) == expected


def test_all_choices_of_a_response_may_be_continued() -> None:
    threads = Threads()
    run = threads.run_of(HI, [says("a"), says("b")])
    assert threads.run_of([*HI, says("b"), user("go on")], [says("c")]) == run
    assert threads.run_of([*HI, says("a"), user("go on")], [says("c")]) == run


def test_a_run_keeps_its_id_from_upload_to_upload() -> None:
    assert Threads().run_of(HI, [CALL]) == Threads().run_of(HI, [CALL])
    assert Threads().run_of(HI, [CALL]) != Threads().run_of(BYE, [CALL])


def test_equal_beginnings_have_ids_of_their_own() -> None:
    threads = Threads()
    first, second, third = (threads.run_of(HI, [says("a")]) for _ in range(3))
    assert (second, third) == (f"{first}-1", f"{first}-2")


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=4), max_size=12))
def test_a_conversation_that_is_told_turn_by_turn_is_one_run_each(talks: list[list[str]]) -> None:
    """Distinct conversations, told one after another, never mix and never fall apart."""
    exchanges, expected = [], []
    for number, turns in enumerate(talks):
        history = [user(f"talk {number}")]
        for position, turn in enumerate(turns):
            answer = says(turn, f"call_{position}")
            exchanges.append((list(history), answer))
            expected.append(number)
            history += [answer, result(f"call_{position}")]
    order = list(dict.fromkeys(expected))
    assert runs(*exchanges) == [order.index(number) for number in expected]
