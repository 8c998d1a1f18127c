"""A leak without an event."""

from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read

_ROWS = f"""
WITH reporting AS (
    SELECT DISTINCT g.client, g.client_version FROM events e JOIN facts g ON g.key = e.generation
)
SELECT {LEAK}, l.has_calls, l.kind, l.markup, EXISTS (FROM events e WHERE e.generation = l.key) AS reported,
    EXISTS (FROM reporting r WHERE r.client IS NOT DISTINCT FROM l.client
        AND r.client_version IS NOT DISTINCT FROM l.client_version) AS reports
FROM leaks l
"""  # noqa: S608 - our own names


def judge(row: Row, _: Asked) -> Verdict:
    """Broken where the client reports other leaks, and not this one."""
    if row["reported"]:
        return None
    if not row["reports"]:
        return Unknown("client_reports_none")
    if row["has_calls"]:
        return Unknown("calls_beside")
    return Broken(f"no event reports this {row['kind'].replace('_', ' ')}: {excerpt(row['markup'])}")


LEAK_WITHOUT_EVENT = Rule(
    name="leak_without_event",
    summary="A client that reports leaks does not report this one.",
    source="OpenRouter.Net (LeakedToolCallEvent)",
    unit="leaks",
    needs="events of the same client and version",
    not_checkable={
        "client_reports_none": "no event of this client and version is in the store",
        "calls_beside": "structured calls stand beside the leak, and clients report replies without any",
    },
    rows=read(_ROWS),
    judge=judge,
)
