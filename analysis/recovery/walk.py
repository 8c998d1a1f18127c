"""A policy walked along one recorded round, and along the retries that might have followed. Pure.

Where the record holds the retry that the policy asks for, that is what came of it. Where it does not, the retry is one
of a few kinds (`Kind`); what the policy would have done with each is a tree, which the observed shares of the kinds
then weigh.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from analysis.detectors import Finding
from analysis.output import Call, OfferedTool, Output
from analysis.recovery.policies import Configured, Decision
from analysis.recovery.turn import Attempt, Round, Turn
from analysis.strict_check import strict_check

End = Literal["recovered", "answered", "errored", "passed_off", "cancelled", "unknown", "called", "salvaged"]
"""How a leaked round ends under a policy.

`called`: calls of the leaked reply itself are carried out: structured ones beside the leak, or read by a decoder.
"""
Kind = Literal[
    "accepted", "unchecked", "refused", "invalid_call", "words", "reasoning", "empty",
    "leak", "leak_beside_calls", "errored", "failed", "cancelled", "cut", "unjudged",
]  # fmt: skip
"""What a retry can be, as far as policies tell. The first three are valid structured calls, by the strict check."""
KINDS: tuple[Kind, ...] = get_args(Kind)

Branches = Mapping[Kind, End | Literal["retry"]]
Tree = tuple[tuple[tuple[Kind, End | Literal["retry"]], ...], ...]
"""For the first retry, the second, and so on: what a policy makes of each kind."""


@dataclass(frozen=True, slots=True)
class Walk:
    """`decisions` on the attempts that the policy would have seen, and how the round ends; `end` is None where the
    record does not hold the next retry, which `turn` then waits for."""

    turn: Turn
    decisions: tuple[Decision, ...]
    end: End | None

    @property
    def handled(self) -> bool:
        """Whether the policy does anything about the leak."""
        return self.decisions[0].action != "publish"


def followed(round_: Round) -> tuple[Attempt, ...]:
    """The attempts that can be followed: from number 0 on without a gap, of several with one number a leaked one."""
    by_number: dict[int, Attempt] = {}
    for attempt in round_.attempts:
        if attempt.number not in by_number or (attempt.leak and not by_number[attempt.number].leak):
            by_number[attempt.number] = attempt
    run = (by_number.get(number) for number in range(len(by_number)))
    return tuple(_until_none(run))


def _until_none(attempts: Iterator[Attempt | None]) -> Iterator[Attempt]:
    for attempt in attempts:
        if attempt is None:
            return
        yield attempt


def walk(policy: Configured, turn: Turn, attempts: tuple[Attempt, ...]) -> Walk:
    """The policy along `attempts`, which are those of the last round of `turn`."""
    decisions: list[Decision] = []
    round_ = turn.rounds[-1]
    for seen in range(1, len(attempts) + 1):
        turn = replace(turn, rounds=(*turn.rounds[:-1], replace(round_, attempts=attempts[:seen])))
        decisions.append(policy.decide(turn))
        if decisions[-1].action != "retry":
            return Walk(turn, tuple(decisions), end(decisions[-1], attempts[seen - 1]))
    return Walk(turn, tuple(decisions), None)


def end(decision: Decision, attempt: Attempt) -> End:
    """How a round ends with a `decision` that is no retry on its last attempt."""
    if decision.action == "salvage":
        return "salvaged"
    if decision.action == "fail":
        return "cancelled" if decision.reason in ("cancelled", "retry_cancelled") else "errored"
    if attempt.leak:
        return "called" if decision.calls or attempt.output.calls else "passed_off"
    return _of_clean(attempt)


def _of_clean(attempt: Attempt) -> End:
    if attempt.status == "failed":
        return "errored"
    if not attempt.judged or (attempt.status == "cut" and attempt.reply != "structured"):
        return "unknown"
    if attempt.reply == "structured":
        return "recovered"
    return "answered" if attempt.reply == "words" else "unknown"


def kind(attempt: Attempt) -> Kind:
    """What kind of retry it is."""
    if attempt.status in ("error", "failed", "cancelled"):
        return "errored" if attempt.status == "error" else "failed" if attempt.status == "failed" else "cancelled"
    if not attempt.judged:
        return "unjudged"
    if attempt.leak:
        return "leak_beside_calls" if attempt.output.calls else "leak"
    if attempt.reply == "structured":
        verdict = strict_check(attempt.output, attempt.raw_text).verdict
        return "refused" if verdict == "refused" else "accepted" if verdict == "accepted" else "unchecked"
    if attempt.status == "cut":
        return "cut"
    return _of_other_reply(attempt)


def _of_other_reply(attempt: Attempt) -> Kind:
    match attempt.reply:
        case "words" | "empty" | "invalid_call":
            return attempt.reply
        case _:
            return "reasoning"


_TOOLS = (OfferedTool("look", {"type": "object"}),)
_CALLS = Output(calls=(Call("look", "{}"),), tools=_TOOLS, finish_reason="tool_calls")
_BAD = replace(_CALLS, calls=(Call("look", "[]"),))
_WORDS = Output(content="Done.", tools=_TOOLS, finish_reason="stop")
_LEAKED = Output(content="<tool_call>", tools=_TOOLS, finish_reason="stop")
_FOUND = Finding("leaked_call", None, "certain", None, "content", 0, 11, "<tool_call>", "it stands for a leak")
_ENVELOPE = '<tool_call>[{"name": "look", "parameters": {}}]</tool_call>'

EXAMPLES: Mapping[Kind, Attempt] = {
    "accepted": Attempt(_CALLS, reply="structured", raw_text=_ENVELOPE),
    "unchecked": Attempt(_CALLS, reply="structured"),
    "refused": Attempt(_CALLS, reply="structured", raw_text="look"),
    "invalid_call": Attempt(_BAD, reply="invalid_call"),
    "words": Attempt(_WORDS),
    "reasoning": Attempt(replace(_WORDS, content=None, reasoning="Hm."), reply="reasoning_only"),
    "empty": Attempt(replace(_WORDS, content=None), reply="empty"),
    "leak": Attempt(_LEAKED, _FOUND),
    "leak_beside_calls": Attempt(replace(_LEAKED, calls=_CALLS.calls), _FOUND, reply="structured"),
    "errored": Attempt(replace(_WORDS, content=None), status="error", reply="empty"),
    "failed": Attempt(_WORDS, status="failed"),
    "cancelled": Attempt(replace(_WORDS, content=None), status="cancelled", reply="empty"),
    "cut": Attempt(_WORDS, status="cut"),
    "unjudged": Attempt(_WORDS, judged=False),
}
"""One retry of each kind, which stands for all of them."""


def tree(policy: Configured, turn: Turn) -> Tree:
    """What the policy makes of each kind of retry that may follow `turn`, which it would retry."""
    levels: list[tuple[tuple[Kind, End | Literal["retry"]], ...]] = []
    for _ in range(max(policy.most_retries, 1)):
        levels.append(tuple((each, _branch(policy, turn, EXAMPLES[each])) for each in KINDS))
        if not any(branch == "retry" for _, branch in levels[-1]):
            break
        turn = turn.followed_by(EXAMPLES["leak"])
    return tuple(levels)


def _branch(policy: Configured, turn: Turn, attempt: Attempt) -> End | Literal["retry"]:
    after = turn.followed_by(attempt)
    decision = policy.decide(after)
    return "retry" if decision.action == "retry" else end(decision, attempt)
