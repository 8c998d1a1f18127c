"""What people said of alerts: acknowledged, muted until a day, opened again. The last word on an alert counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

from ingest.actions import Action as Noted
from ingest.actions import note
from ingest.errors import Conflict, UsageError
from ingest.store import Cursor, Store

Action = Literal["acknowledge", "mute", "unmute"]
State = Literal["open", "acknowledged", "muted"]

_STATES: tuple[State, ...] = ("open", "muted", "acknowledged")
_LAST = """
SELECT alert, action, reason, by_whom, said_at, until FROM alert_words
QUALIFY row_number() OVER (PARTITION BY alert ORDER BY said_at DESC, rowid DESC) = 1
"""
_NOTED: dict[Action, Noted] = {"acknowledge": "acknowledge alert", "mute": "mute alert", "unmute": "unmute alert"}
_ADD = "INSERT INTO alert_words VALUES ($alert, $rule, $action, $reason, $by, $at, $until)"


@dataclass(frozen=True, slots=True)
class Word:
    """What somebody said of an alert, why and when (UTC); `until`: the last day of a mute."""

    action: Action
    reason: str
    by: str
    at: datetime
    until: date | None = None

    def state(self, today: date) -> State:
        """What the alert is by it; a mute that has ended leaves it open."""
        if self.action == "acknowledge":
            return "acknowledged"
        return "muted" if self.until and today <= self.until else "open"

    def as_json(self, today: date) -> dict[str, Any]:
        """The keys that it adds to an alert: none of an open one is told, whoever opened it."""
        state = self.state(today)
        if state == "open":
            return OPEN
        until = self.until and self.until.isoformat()
        return {"state": state, "by": self.by, "reason": self.reason, "at": f"{self.at.isoformat()}Z", "until": until}


OPEN: dict[str, Any] = {"state": "open", "by": None, "reason": None, "at": None, "until": None}
"""The same keys of an alert of which nothing was said."""


def last_words(cursor: Cursor) -> dict[str, Word]:
    """The last word on each alert, by its id."""
    return {alert: Word(*rest) for alert, *rest in cursor.execute(_LAST).fetchall()}


def spoken(items: Iterable[dict[str, Any]], words: Mapping[str, Word], today: date) -> list[dict[str, Any]]:
    """Alerts with what was said of each, open ones first, then muted ones; else in their order."""
    told = [{**each, **(words[each["id"]].as_json(today) if each["id"] in words else OPEN)} for each in items]
    return sorted(told, key=lambda each: _STATES.index(each["state"]))


def check(word: Word) -> None:
    """UsageError without a reason or a name, and for a mute without a day or an end of anything else; the day of a
    mute must not be over."""
    for what, given in (("a reason", word.reason), ("the name of whoever says so", word.by)):
        if not given.strip():
            raise UsageError(f"to {word.action} an alert needs {what}")
    if word.action == "mute" and word.until is None:
        raise UsageError("to mute an alert needs a day until which it is muted")
    if word.action != "mute" and word.until is not None:
        raise UsageError(f"until is for muting; to {word.action} an alert has no end")
    if word.until is not None and word.until < word.at.date():
        raise UsageError(f"until {word.until} is over; name today ({word.at.date()}) or a later day")


def say(store: Store, alert: str, rule: str, word: Word) -> None:
    """Note a word on an alert. UsageError as of `check`; Conflict for what the last word said already."""
    check(word)
    with store.brief() as cursor:
        last = last_words(cursor).get(alert)
        _refuse_again(alert, last, word)
        given = {"alert": alert, "rule": rule, "action": word.action, "reason": word.reason, "by": word.by}
        # the last word counts, even if the clock was set back since the one before it
        at = max(word.at, last.at + timedelta(microseconds=1)) if last else word.at
        cursor.execute(_ADD, {**given, "at": at, "until": word.until})
        note(cursor, _NOTED[word.action], f"{alert} ({rule}), by {word.by}")


def _refuse_again(alert: str, last: Word | None, word: Word) -> None:
    state = last.state(word.at.date()) if last else "open"
    if word.action == "unmute" and state == "open":
        raise Conflict(f"alert {alert} is open; there is nothing to undo")
    if last and state != "open" and (last.action, last.until) == (word.action, word.until):
        until = f" until {last.until}" if last.until else ""
        raise Conflict(f"alert {alert} was {state}{until} by {last.by} on {last.at:%Y-%m-%d %H:%M} UTC: {last.reason}")
