"""What each policy decides on every leaked attempt of one run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.detectors import Detector
from analysis.recovery.outcomes import Among
from analysis.recovery.policies import Configured, Decision
from analysis.recovery.policy_tally import Own
from analysis.recovery.turn import Attempt
from analysis.recovery.turns import StoredTurn, stored_turns
from analysis.recovery.walk import followed, walk
from ingest.store import Cursor


@dataclass(slots=True)
class _Judge:
    """A policy, and what it has used up on the way."""

    policy: Configured
    own: Own

    def __call__(self, turn: StoredTurn, attempts: tuple[Attempt, ...]) -> dict[str, Decision]:
        """Its decisions on a leaked round, by attempt: those that it would have come to."""
        walked = walk(self.policy, self.own.before(turn), attempts)
        self.own.after(walked)
        return {attempt.key: each for attempt, each in zip(attempts, walked.decisions, strict=False)}


def run_decisions(
    cursor: Cursor, detector: Detector, run: Among, policies: Sequence[Configured]
) -> dict[str, dict[str, Any]]:
    """By the key of each leaked attempt of a run: `decisions`, one a policy, and the `marks` of its round.

    An `action` of None: the policy had ended the round at an earlier attempt. No decisions at all: the record has lost
    the first attempt of the round, or it did not leak, so that no policy would have begun there.
    """
    judges = [_Judge(each, Own()) for each in policies]
    found: dict[str, dict[str, Any]] = {}
    for turn in stored_turns(cursor, detector.id, among=run):
        attempts = followed(turn.round)
        began = bool(attempts) and attempts[0].leak and not turn.pruned
        said = [(each.policy, each(turn, attempts)) for each in judges] if began else []
        for attempt in turn.round.attempts:
            if attempt.leak:
                rows = [_as_json(policy, decisions.get(attempt.key)) for policy, decisions in said]
                reached = began and any(attempt.key == each.key for each in attempts)
                found[attempt.key] = {"decisions": rows if reached else [], "marks": sorted(turn.round.marks)}
    return found


def _as_json(policy: Configured, decision: Decision | None) -> dict[str, Any]:
    if decision is None:
        return {"policy": policy.id, "action": None, "reason": None, "meaning": None, "details": [], "calls": []}
    meanings = {each.code: each.meaning for each in policy.policy.reasons if each.action == decision.action}
    return {
        "policy": policy.id,
        "action": decision.action,
        "reason": decision.reason,
        "meaning": meanings[decision.reason],
        "details": list(decision.details),
        "calls": [
            {"name": each.name, "arguments": dict(each.arguments), "whole": each.whole, "problem": each.problem}
            for each in decision.calls
        ],
    }
