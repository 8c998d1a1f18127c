"""One turn as a policy sees it: its rounds so far with their attempts, and what was used up before. Pure.

A policy decides on the last attempt of the last round. What stands in front of the first round here is known in
numbers alone (`earlier`, `run`), so that a turn of any length is judged round by round.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from analysis.detectors import Finding
from analysis.output import Output
from ingest.facts import Reply
from ingest.records import Status

Semantic = Literal["text", "reasoning", "tool_output", "call"]
"""What an output can have shown before a leak: visible text, thoughts, raw tool markup, a parsed call."""

Mark = Literal[
    "place_untold",
    "first_attempt_missing",
    "attempt_missing",
    "same_attempt",
    "same_time",
    "times_disagree",
    "round_missing",
    "attempts_left_out",
]
"""
What is odd about a recorded round; it is kept all the same.

`place_untold`: the record tells no round or no attempt. `attempt_missing`: a number between two others is not there.
`same_attempt`: several generations with one number. `same_time`: two attempts began at the same moment.
`times_disagree`: a later attempt began earlier. `round_missing`: the number before it in the turn is not there.
`attempts_left_out`: there are more attempts than are read.
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One model call of a round, as it came back. `number` is 0 for the first, 1 for the first retry.

    `judged` is False where the detector failed. `streamed` is what the client had been shown before the leak; None
    where the record does not tell, and then the output itself does. `tool_choice` None: the request named none.
    `persisted` is False if the failed attempt could not be written down.
    """

    output: Output
    finding: Finding | None = None
    status: Status = "ok"
    number: int = 0
    reply: Reply = "words"
    judged: bool = True
    streamed: frozenset[Semantic] | None = None
    tool_choice: str | None = None
    persisted: bool = True
    raw_text: str | None = None
    key: str = ""

    @property
    def leak(self) -> bool:
        """Whether the detector found a leak in it, at `likely` or above."""
        return self.finding is not None and self.finding.leak


@dataclass(frozen=True, slots=True)
class Round:
    """The attempts of one step, by number. `number` is None where the record tells none."""

    attempts: tuple[Attempt, ...]
    number: int | None = None
    marks: frozenset[Mark] = frozenset()

    @property
    def used(self) -> "Used":
        """What this round has used up so far."""
        retries = {each.number for each in self.attempts if each.number > 0}
        return Used(1, len(retries), sum(each.leak for each in self.attempts))


@dataclass(frozen=True, slots=True)
class Used:
    """Rounds, retries within them, and leaks."""

    rounds: int = 0
    retries: int = 0
    leaks: int = 0

    def __add__(self, other: "Used") -> "Used":
        return Used(self.rounds + other.rounds, self.retries + other.retries, self.leaks + other.leaks)

    @property
    def calls(self) -> int:
        """Model calls: a retry is one too."""
        return self.rounds + self.retries


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn so far. `earlier`: its rounds in front of the first one here; `run`: the earlier turns of its run."""

    rounds: tuple[Round, ...] = ()
    engine: str | None = None
    earlier: Used = Used()
    run: Used = Used()

    @property
    def last(self) -> Attempt | None:
        """What is to be decided on."""
        attempts = self.rounds[-1].attempts if self.rounds else ()
        return attempts[-1] if attempts else None

    @property
    def in_round(self) -> Used:
        """Used by the last round, this attempt included."""
        return self.rounds[-1].used if self.rounds else Used()

    @property
    def in_turn(self) -> Used:
        """Used by the turn, this attempt included."""
        return total(each.used for each in self.rounds) + self.earlier

    @property
    def in_run(self) -> Used:
        """Used by the run, this attempt included."""
        return self.in_turn + self.run

    def followed_by(self, attempt: Attempt) -> "Turn":
        """The turn after one more attempt of its last round; its number is the next one."""
        round_ = self.rounds[-1]
        numbered = replace(attempt, number=1 + max((each.number for each in round_.attempts), default=-1))
        return replace(self, rounds=(*self.rounds[:-1], replace(round_, attempts=(*round_.attempts, numbered))))


def total(used: Iterable[Used]) -> Used:
    """The sum of what was used."""
    return sum(used, Used())
