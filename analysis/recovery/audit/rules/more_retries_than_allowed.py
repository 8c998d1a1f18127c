"""More retries than the policy allows."""

from analysis.recovery.audit.bounds import NO_PLACE, NO_POLICY, bound
from analysis.recovery.audit.rules import Asked, Broken, Row, Rule, Unknown, Verdict, read

_ROWS = """
SELECT CASE WHEN s.retry IS NULL THEN [l.key::VARCHAR] ELSE [l.key::VARCHAR, s.retry::VARCHAR] END AS keys,
    l.run_id, coalesce(r.generation_id, l.generation_id) AS generation_id, l.client, l.placed,
    s.retry IS NOT NULL AS retried, s.retries_round, s.retries_turn, s.retries_run,
    s.all_retries_round, s.all_retries_turn, s.all_retries_run
FROM leaks l LEFT JOIN steps s ON s.key = l.key LEFT JOIN generations r ON r.key = s.retry
"""


def judge(row: Row, asked: Asked) -> Verdict:
    """Broken by the first retry of a leak that is one too many; those after it belong to the same finding."""
    allowed = bound(row["client"], asked.policy)
    if not row["placed"]:
        return Unknown("place_untold")
    if allowed is None:
        return Unknown("policy_unknown")
    if not row["retried"] or row[f"retries_{allowed.scope}"] != allowed.most + 1:
        return None
    made = row[f"all_retries_{allowed.scope}"]
    return Broken(
        f"{made} {'retry' if made == 1 else 'retries'} of leaks in the {allowed.scope}; "
        f"{allowed.policy} allows {allowed.most}"
    )


MORE_RETRIES_THAN_ALLOWED = Rule(
    name="more_retries_than_allowed",
    summary="Leaks are retried more often than the policy allows.",
    source="GOAT (one a turn), OpenRouter.Net (two a run), Foundry Local (one)",
    unit="leaks",
    needs="round and attempt; a client whose policy is known, or `--policy`",
    not_checkable=NO_PLACE | NO_POLICY,
    rows=read(_ROWS),
    judge=judge,
)
