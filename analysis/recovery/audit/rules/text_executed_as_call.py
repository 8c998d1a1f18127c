"""Text executed as a call."""

from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read, told
from ingest.shapes.repeated import EXECUTED


def judge(row: Row, _: Asked) -> Verdict:
    """Broken if the record says so, or its reader saw a tool's result after a text without a structured call."""
    executed = told(row, EXECUTED)
    if not isinstance(executed, bool):
        return Unknown("execution_untold")
    return Broken(f"a tool's result followed the text: {excerpt(row['markup'])}") if executed else None


TEXT_EXECUTED_AS_CALL = Rule(
    name="text_executed_as_call",
    summary="The text of a leak is carried out as a call.",
    source="GOAT (never turns text into a call)",
    unit="leaks",
    needs="`text_executed` in the record; readers of conversations note it, where results of tools stand in them",
    not_checkable={"execution_untold": "the log does not hold what was carried out"},
    rows=read(f"SELECT {LEAK}, l.extra, l.markup FROM leaks l"),  # noqa: S608 - our own names
    judge=judge,
)
