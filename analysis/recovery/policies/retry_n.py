"""The plainest line: ask again, up to so many times a round, and then give up."""

from analysis.recovery.policies import COMMON, STRUCTURED_CALLS, Decision, Parameter, Policy, Reason, Values, leaked
from analysis.recovery.turn import Turn

LEAKED = Reason("retry", "leaked", "the reply leaked, and a retry is left")
GIVEN_UP = Reason("fail", "retries_used_up", "it leaked again, and no retry is left")
PASSED_OFF = Reason("publish", "retries_used_up", "it leaked again, no retry is left, and the reply is published")
MAX_RETRIES = Parameter("max_retries", 2, "Retries a round at the most.")
PUBLISH_AFTER = Parameter("publish_after", False, "Publish the last leak, instead of ending the turn with an error.")


def decide(turn: Turn, values: Values) -> Decision:
    """Retry a leak while the round has a retry left."""
    attempt = leaked(turn)
    if isinstance(attempt, Decision):
        return attempt
    if attempt.output.calls:
        return STRUCTURED_CALLS.decision()
    if turn.in_round.retries < int(values["max_retries"]):
        return LEAKED.decision()
    return (PASSED_OFF if values["publish_after"] else GIVEN_UP).decision()


RETRY_N = Policy(
    name="retry-n",
    version=1,
    summary="A leak is retried, up to a number of times a round; then the turn ends with an error.",
    source="the plainest thing that clients do",
    asks="the same request once more",
    parameters=(MAX_RETRIES, PUBLISH_AFTER),
    reasons=(*COMMON, STRUCTURED_CALLS, LEAKED, GIVEN_UP, PASSED_OFF),
    decide=decide,
    most_retries=lambda values: int(values["max_retries"]),
)
