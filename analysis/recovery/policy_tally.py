"""What one policy made of a history, counted round by round."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.recovery.expected import Expected, Stratum, expected
from analysis.recovery.policies import Configured, Decision
from analysis.recovery.turn import Attempt, Turn, Used
from analysis.recovery.turns import StoredTurn
from analysis.recovery.walk import End, Kind, Tree, Walk, tree, walk
from analysis.statistics.estimates import Pool, proportion, share, summed

ENDS: tuple[End, ...] = ("recovered", "answered", "errored", "passed_off", "cancelled", "unknown", "called")


@dataclass(slots=True)
class Own:
    """The retries and leaks that the policy itself has used up, in the turn at hand and in its run before that."""

    run: tuple[str, str] | None = None
    number: int | None = None
    in_turn: Used = field(default_factory=Used)
    in_run: Used = field(default_factory=Used)

    def before(self, turn: StoredTurn) -> Turn:
        """The turn, with what the policy has used in place of what the record has."""
        run = turn.run_id, turn.role
        if run != self.run:
            self.in_run = Used()
        elif turn.number != self.number:
            self.in_run += self.in_turn
        if run != self.run or turn.number != self.number:
            self.in_turn = Used()
        self.run, self.number = run, turn.number
        earlier, in_run = turn.turn.earlier, turn.turn.run
        return replace(
            turn.turn,
            earlier=replace(self.in_turn, rounds=earlier.rounds),
            run=replace(self.in_run, rounds=in_run.rounds),
        )

    def after(self, walked: Walk) -> None:
        """A retry that no record holds is one at least, and what leaked is what was seen to leak."""
        retries = sum(each.action == "retry" for each in walked.decisions)
        self.in_turn += Used(0, retries, walked.turn.in_round.leaks)


@dataclass(slots=True)
class PolicyTally:
    """The counts of one policy; rounds must come in the order of `stored_turns`."""

    policy: Configured
    rounds: int = 0
    handled: int = 0
    extra_rounds: int = 0
    ends: Counter[End] = field(default_factory=Counter)
    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    salvaged: Counter[str] = field(default_factory=Counter)
    waiting: Counter[tuple[Stratum, Tree]] = field(default_factory=Counter)
    truths: Counter[bool] = field(default_factory=Counter)
    unlabelled: Counter[Stratum] = field(default_factory=Counter)
    _ended: Pool[End] = field(default_factory=Pool)
    _own: Own = field(default_factory=Own)

    def take(self, turn: StoredTurn, attempts: tuple[Attempt, ...], truth: bool | None) -> None:
        """One leaked round; `truth` is what people say of its first attempt."""
        walked = walk(self.policy, self._own.before(turn), attempts)
        self._own.after(walked)
        self.rounds += 1
        self._count(turn, walked)
        if walked.handled:
            self.handled += 1
            if truth is None:
                self.unlabelled[turn.line, _kind(attempts[0])] += 1
            else:
                self.truths[truth] += 1

    def _count(self, turn: StoredTurn, walked: Walk) -> None:
        seen = walked.turn.rounds[-1].attempts
        self.extra_rounds += len(seen) - 1
        self.decisions.update(
            (each.action, each.reason) for each, attempt in zip(walked.decisions, seen, strict=True) if attempt.leak
        )
        if walked.end is None:
            self.waiting[(turn.line, _kind(seen[-1])), tree(self.policy, walked.turn)] += 1
            return
        self.ends[walked.end] += 1
        self._ended.add(turn.run_id, walked.end)
        if walked.end == "salvaged":
            self.salvaged[_validated(walked.decisions[-1], seen[-1])] += 1

    def as_json(self, retries: Mapping[Stratum, Pool[Kind]], labelled: Mapping[Stratum, Pool[bool]]) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        estimated = expected(self.waiting, retries)
        return {
            "policy": self.policy.id,
            "parameters": dict(self.policy.values),
            "rounds": self.rounds,
            "handled": self.handled,
            "observed": self._observed(),
            "estimated": {**estimated.as_json(), **self._discarded(labelled)},
            "unestimated": estimated.unestimated,
            "salvaged": self.ends["salvaged"],
            **{f"salvaged_{name}": self.salvaged[name] for name in ("valid", "unchecked", "invalid")},
            "decisions": [
                {"action": action, "reason": reason, "n": n} for (action, reason), n in sorted(self.decisions.items())
            ],
        }

    def _observed(self) -> dict[str, Any]:
        """`n`: rounds whose end is known. `discarded`: of the `labelled` ones, null where none of some is labelled."""
        labelled = self.truths.total()
        return {
            "n": self.ends.total(),
            "extra_rounds": self.extra_rounds,
            **{name: self.ends[name] for name in ENDS},
            **self._share("recovered", "recovery"),
            **{key: bound for name in ENDS[1:] for key, bound in self._share(name, name).items()},
            "labelled": labelled,
            "discarded": self.truths[False] if labelled or not self.handled else None,
        }

    def _share(self, end: End, name: str) -> dict[str, float | None]:
        """The share of the rounds in `n` that ended so, with its interval."""
        n = self.ends.total()
        if not n:
            return {f"{name}_{bound}": None for bound in ("rate", "low", "high")}
        found = share(self.ends[end] / n, {each: float(each == end) for each in self.ends}, self._ended)
        return {f"{name}_rate": found.value, f"{name}_low": found.low, f"{name}_high": found.high}

    def _discarded(self, labelled: Mapping[Stratum, Pool[bool]]) -> dict[str, Any]:
        """Good answers thrown away among the unlabelled, by the labels of the same line and kind."""
        wrong = {stratum: proportion(labelled[stratum]) for stratum in self.unlabelled if stratum in labelled}
        known = [(self.unlabelled[stratum], each) for stratum, each in wrong.items() if each]
        found = summed(known) if known else None
        one = Expected(sum(n for n, _ in known), 0, {"discarded": found}).as_json()
        return {"discarded_n": one.pop("n"), **one}


def _kind(attempt: Attempt) -> str:
    return attempt.finding.kind if attempt.finding else ""


def _validated(decision: Decision, attempt: Attempt) -> str:
    """`valid`: a call fits its schema. `unchecked`: one has no schema to fit. `invalid`: none fits."""
    schemas = {tool.name: tool.parameters for tool in reversed(attempt.output.tools or ())}
    fine = [each for each in decision.calls if each.problem is None]
    if not fine:
        return "invalid"
    return "valid" if any(schemas.get(each.name) is not None for each in fine) else "unchecked"
