"""A leaked call that also ran as a structured one.

The same call in the next attempt is what a retry is for. It is held against the run only where the text had been
carried out as a call before, so that the call ran twice.
"""

from typing import Any

from pydantic_core import from_json

from analysis.recovery.audit.rules import LEAK, Asked, Broken, Row, Rule, Unknown, Verdict, excerpt, read, told
from ingest.shapes.repeated import EXECUTED

Named = tuple[str, Any]

_ROWS = f"""
SELECT {LEAK}, l.has_calls, l.extra, l.calls AS leaked, c.text AS beside, r.text AS retried
FROM leaks l LEFT JOIN texts c ON c.hash = l.tool_calls LEFT JOIN steps s ON s.key = l.key
LEFT JOIN generations g ON g.key = s.retry LEFT JOIN texts r ON r.hash = g.tool_calls
"""  # noqa: S608 - our own names


def judge(row: Row, _: Asked) -> Verdict:
    """Broken if a call of the leak, by its name and its arguments, stands among the structured ones."""
    executed = told(row, EXECUTED) is True
    if not row["has_calls"] and not executed:
        return None
    leaked = _calls(row["leaked"])
    if not leaked:
        return Unknown("calls_unread")
    for where, calls in (
        ("beside it", row["beside"]),
        ("in the next attempt, though the text had run", row["retried"]),
    ):
        if calls is row["retried"] and not executed:
            continue
        if again := next((call for call in _calls(calls) if call in leaked), None):
            return Broken(f"the call of {excerpt(again[0])} stands in the text, and with the same arguments {where}")
    return None


def _calls(text: str | None) -> list[Named]:
    return [(each["name"], _arguments(each.get("arguments"))) for each in from_json(text or "[]")]


def _arguments(given: Any) -> Any:
    """The arguments as a value: none at all are an empty object, and what is no JSON is its text."""
    if not isinstance(given, str):
        return {} if given is None else given
    try:
        return from_json(given) if given.strip() else {}
    except ValueError:
        return given


LEAKED_CALL_ALSO_STRUCTURED = Rule(
    name="leaked_call_also_structured",
    summary="A call stands in the text, and ran as a structured one as well.",
    source="all of them: a call is carried out once",
    unit="leaks",
    needs="structured calls beside the leak; for the next attempt also `text_executed`",
    not_checkable={"calls_unread": "no call can be read from the text of the leak"},
    rows=read(_ROWS),
    judge=judge,
)
