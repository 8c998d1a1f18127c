"""GOAT's line: one corrected response per user turn, inside the round cap, and an explicit error after that.

The malformed response is written down as failed before the retry and left out of later prompts; results of tools
that were carried out stay. Denials, errors of tools, timeouts and replies with structured calls never lead to a
retry: a call that permission then denies is a recovered call all the same.
"""

from analysis.recovery.policies import COMMON, STRUCTURED_CALLS, Decision, Parameter, Policy, Reason, Values, leaked
from analysis.recovery.turn import Attempt, Turn

LEAKED = Reason("retry", "leaked", "the first malformed response of the turn")
NOT_PERSISTED = Reason("fail", "not_persisted", "the malformed response could not be written down as failed")
SECOND_LEAK = Reason("fail", "second_leak", "malformed again, and the turn has had its corrected response")
ROUND_CAP = Reason("fail", "round_cap", "the turn has used up its rounds")
NOT_RETRIED = Reason("fail", "retries_off", "the turn may have no corrected response")
MAX_RETRIES = Parameter("max_retries", 1, "Corrected responses a user turn at the most.")
CAP = Parameter("round_cap", 0, "Model calls a user turn at the most; 0: no cap (the one of the ADR was superseded).")


def decide(turn: Turn, values: Values) -> Decision:
    """Ask for a corrected response, once."""
    attempt = leaked(turn)
    return attempt if isinstance(attempt, Decision) else _of_leak(turn, attempt, values)


def _of_leak(turn: Turn, attempt: Attempt, values: Values) -> Decision:
    used, most, cap = turn.in_turn, int(values["max_retries"]), int(values["round_cap"])
    if attempt.output.calls:
        return STRUCTURED_CALLS.decision()
    if not attempt.persisted:
        return NOT_PERSISTED.decision()
    if used.retries >= most:
        return (SECOND_LEAK if most else NOT_RETRIED).decision()
    return ROUND_CAP.decision() if cap and used.calls >= cap else LEAKED.decision()


GOAT = Policy(
    name="goat",
    version=1,
    summary="One corrected response per user turn, inside the round cap; a second leak ends the turn with an error.",
    source="GOAT, ADR-0065",
    asks="a host instruction for one round: nothing was carried out, use the whole structured format, repeat nothing",
    parameters=(MAX_RETRIES, CAP),
    reasons=(*COMMON, STRUCTURED_CALLS, LEAKED, NOT_PERSISTED, SECOND_LEAK, ROUND_CAP, NOT_RETRIED),
    decide=decide,
    most_retries=lambda values: int(values["max_retries"]),
    scope="turn",
)
