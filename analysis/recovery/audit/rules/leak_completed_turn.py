"""A leaked reply committed as a completed turn."""

from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read


def judge(row: Row, _: Asked) -> Verdict:
    """Broken by an outcome of `passed_off`."""
    if row["outcome"] == "unknown":
        return Unknown("outcome_unknown")
    if row["outcome"] != "passed_off":
        return None
    return Broken(f"the turn ended with this leak as its answer: {excerpt(row['markup'])}")


LEAK_COMPLETED_TURN = Rule(
    name="leak_completed_turn",
    summary="A leaked reply stands as the answer of a completed turn.",
    source="GOAT (an explicit error instead), Foundry Local (no assistant turn), recovery on the error path",
    unit="leaks",
    needs="round and attempt; the status where a turn did not complete",
    not_checkable={"outcome_unknown": "the record does not tell what followed"},
    rows=read(f"SELECT {LEAK}, l.outcome, l.markup FROM leaks l"),  # noqa: S608 - our own names
    judge=judge,
)
