"""OpenRouter.Net's line: a leak is answered with a nudge, so many times a run, if the run has an iteration left.

A leak that may not be retried any more completes the run with that reply, and the event says that it was not.
"""

from analysis.recovery.policies import (
    COMMON,
    NO_TOOLS,
    STRUCTURED_CALLS,
    Decision,
    Parameter,
    Policy,
    Reason,
    Values,
    leaked,
)
from analysis.recovery.turn import Attempt, Turn

NUDGED = Reason("retry", "leaked", "the run has a nudge and an iteration left")
REPORTED = Reason("publish", "reports_only", "retries are off: the leak is reported, and completes the run")
USED_UP = Reason("publish", "retries_used_up", "the run has had its nudges: it completes with this reply")
NO_ITERATION = Reason("publish", "no_free_iteration", "this was the last iteration: the run completes with this reply")
MAX_RETRIES = Parameter("max_retries", 2, "Nudges a run at the most; 0 only reports.")
MAX_ITERATIONS = Parameter("max_iterations", 0, "Model calls a run at the most; 0: no limit is known.")
EXTRA_ROUNDS = Parameter("extra_rounds", 0, "Model calls granted beyond that.")


def decide(turn: Turn, values: Values) -> Decision:
    """Nudge, while the run has a nudge and an iteration left."""
    attempt = leaked(turn)
    return attempt if isinstance(attempt, Decision) else _of_leak(turn, attempt, values)


def _of_leak(turn: Turn, attempt: Attempt, values: Values) -> Decision:
    used, most = turn.in_run, int(values["max_retries"])
    if attempt.output.calls:
        return STRUCTURED_CALLS.decision()
    if not attempt.output.may_have_tools:
        return NO_TOOLS.decision()
    if most == 0:
        return REPORTED.decision()
    # the system counts leaks; what a record retried for other reasons used a nudge as well
    if used.leaks > most or used.retries >= most:
        return USED_UP.decision()
    return (NUDGED if _has_iteration(used.calls, values) else NO_ITERATION).decision()


def _has_iteration(used: int, values: Values) -> bool:
    iterations = int(values["max_iterations"])
    return iterations == 0 or used < iterations + int(values["extra_rounds"])


OPENROUTER_NET = Policy(
    name="openrouter-net",
    version=1,
    summary="A leak is answered with a nudge, up to a number of times a run; then it stands as the answer.",
    source="OpenRouter.Net, LeakedToolCallRecovery",
    asks="a user message that says to call tools through the interface",
    parameters=(MAX_RETRIES, MAX_ITERATIONS, EXTRA_ROUNDS),
    reasons=(*COMMON, STRUCTURED_CALLS, NO_TOOLS, NUDGED, REPORTED, USED_UP, NO_ITERATION),
    decide=decide,
    most_retries=lambda values: int(values["max_retries"]),
    scope="run",
)
