"""The salvager's line: take what closed from the leaked text; where nothing can be taken, the turn ends on the error
path with a retry offered, and never as completed.

What is taken goes through the tool's schema first: a missing required argument is a corrective error for the model.
"""

from analysis.recovery.policies import COMMON, NO_TOOLS, STRUCTURED_CALLS, Decision, Policy, Reason, Values, leaked
from analysis.recovery.turn import Turn
from analysis.salvage import salvage

SALVAGED = Reason("salvage", "salvaged", "a call of an offered tool could be taken, and its arguments can stand")
INVALID = Reason("salvage", "salvaged_invalid", "what could be taken does not fit its schema: a corrective error")
NOTHING = Reason("fail", "nothing_salvaged", "no call of an offered tool could be taken")
TOOLS_UNKNOWN = Reason("fail", "tools_unknown", "which tools were offered is not known, so that no call can be taken")


def decide(turn: Turn, _: Values) -> Decision:
    """Salvage first, else fail."""
    attempt = leaked(turn)
    if isinstance(attempt, Decision):
        return attempt
    if attempt.output.calls:
        return STRUCTURED_CALLS.decision()
    if not attempt.output.may_have_tools:
        return NO_TOOLS.decision()
    calls = salvage(attempt.output)
    if not calls:
        unknown = attempt.output.tools is None
        return Decision("fail", (TOOLS_UNKNOWN if unknown else NOTHING).code, retry_offered=True)
    can_stand = any(each.problem is None for each in calls)
    return Decision("salvage", (SALVAGED if can_stand else INVALID).code, calls)


SALVAGE = Policy(
    name="salvage",
    version=1,
    summary="Calls are taken from the leaked text, without guessing; else an error, with a retry offered.",
    source="recovery of truncated calls on the error path",
    asks="a person, who is offered to try again",
    parameters=(),
    reasons=(*COMMON, STRUCTURED_CALLS, NO_TOOLS, SALVAGED, INVALID, NOTHING, TOOLS_UNKNOWN),
    decide=decide,
    most_retries=lambda _: 0,
)
