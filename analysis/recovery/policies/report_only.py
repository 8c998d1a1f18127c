"""The line of a client that only looks: a leak is reported and stands as the answer."""

from analysis.recovery.policies import COMMON, Decision, Policy, Reason, Values, leaked
from analysis.recovery.turn import Turn

REPORTED = Reason("publish", "reported", "the leak is reported, and stands as the answer")


def decide(turn: Turn, _: Values) -> Decision:
    """Publish whatever came."""
    attempt = leaked(turn)
    return attempt if isinstance(attempt, Decision) else REPORTED.decision()


REPORT_ONLY = Policy(
    name="report-only",
    version=1,
    summary="Nothing is done: a leak is reported and stands as the answer.",
    source="the least that any client does",
    asks="never",
    parameters=(),
    reasons=(*COMMON, REPORTED),
    decide=decide,
    most_retries=lambda _: 0,
)
