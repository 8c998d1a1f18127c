"""A leak after the last allowed retry that did not end the turn."""

from analysis.recovery.audit.bounds import NO_PLACE, NO_POLICY, bound
from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read

_ROWS = f"""
SELECT {LEAK}, l.client, l.placed, l.markup, coalesce(s.alone, false) AS alone, s.retry IS NOT NULL AS retried,
    s.next_round, s.next_attempt, coalesce(s.next_status NOT IN ('error', 'cancelled'), false) AS went_on,
    s.leaks_round, s.leaks_turn, s.leaks_run
FROM leaks l LEFT JOIN steps s ON s.key = l.key
"""  # noqa: S608 - our own names


def judge(row: Row, asked: Asked) -> Verdict:
    """Broken by the first leak that has no retry left, if the turn (of a policy by the round: the round) went on."""
    allowed = bound(row["client"], asked.policy)
    if not row["placed"]:
        return Unknown("place_untold")
    if allowed is None:
        return Unknown("policy_unknown")
    if allowed.most == 0:
        return Unknown("policy_never_retries")
    number = row[f"leaks_{allowed.scope}"]
    went_on = row["went_on"] and (row["retried"] or allowed.scope != "round")
    if not row["alone"] or number != allowed.most + 1 or not went_on:
        return None
    return Broken(
        f"leak {number} of the {allowed.scope} was followed by round {row['next_round']}, attempt "
        f"{row['next_attempt']}; under {allowed.policy} it ends the turn: {excerpt(row['markup'])}"
    )


SECOND_LEAK_DID_NOT_END_TURN = Rule(
    name="second_leak_did_not_end_turn",
    summary="A leak after the last allowed retry does not end the turn.",
    source="GOAT (a second malformed response ends the turn), OpenRouter.Net (completes the run), Foundry Local",
    unit="leaks",
    needs="round and attempt; a client whose policy is known, or `--policy`",
    not_checkable=NO_PLACE
    | NO_POLICY
    | {"policy_never_retries": "under a policy without retries there is no second leak"},
    rows=read(_ROWS),
    judge=judge,
)
