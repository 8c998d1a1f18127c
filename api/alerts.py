"""What can be done with alerts, in one place: on an open store, or through the service that owns it."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Protocol

from ingest.errors import NotFound, UsageError

if TYPE_CHECKING:
    from analysis.alerts.files import AnyRule
    from analysis.alerts.watching import Alerts as Found
    from analysis.alerts.words import Action, Word
    from api.asking import Service
    from ingest.store import Store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says of an alert: what to do, why, who, and for a mute the last day of it (ISO)."""

    action: "Action"
    reason: str
    by: str
    until: str | None = None

    def word(self) -> "Word":
        """As of now. UsageError for what is no day."""
        from analysis.alerts.words import Word

        try:
            until = date.fromisoformat(self.until) if self.until else None
        except ValueError:
            raise UsageError(f"until {self.until}: write a day such as 2026-11-01") from None
        return Word(self.action, self.reason, self.by, datetime.now(UTC).replace(tzinfo=None), until)


class Alerts(Protocol):
    """The operations on alerts. Answers are plain JSON values."""

    def listed(self, where: Sequence[str], since: str | None) -> Json:
        """The alerts of lines that have such generations under `items`, open ones first, and `rules`."""
        ...

    def say(self, alert: str, said: Said) -> Json:
        """Acknowledge, mute or open an alert; how it is then. NotFound, Conflict, UsageError."""
        ...


class LocalAlerts:
    """Alerts of an open store, by its current detector and these rules."""

    def __init__(self, store: "Store", rules: "Sequence[AnyRule] | None" = None) -> None:
        self.store, self.rules = store, rules

    def listed(self, where: Sequence[str], since: str | None, rules: "Sequence[AnyRule] | None" = None) -> Json:
        """The alerts of lines that have such generations under `items`, open ones first, and `rules`."""
        return self._found(where, since, rules).as_json()

    def unspoken(self, where: Sequence[str], since: str | None, rules: "Sequence[AnyRule] | None" = None) -> Json:
        """The same as if nobody had said anything: what `spoken` makes `listed` of."""
        return self._found(where, since, rules).unspoken()

    def spoken(self, alerts: Json) -> Json:
        """`unspoken` alerts with what people have said of them by now."""
        from analysis.alerts.words import last_words, spoken

        with self.store.cursor() as cursor:
            words = last_words(cursor)
        return {**alerts, "items": spoken(alerts["items"], words, datetime.now(UTC).date())}

    def say(self, alert: str, said: Said, known: str | None = None) -> Json:
        """Acknowledge, mute or open an alert; how it is then. NotFound, Conflict, UsageError. `known`: the rule that
        found it, looked for if it is not told."""
        from analysis.alerts.words import check, say

        word = said.word()
        check(word)
        rule = known or self._found().rule_of(alert)
        if rule is None:
            raise _no(alert)
        say(self.store, alert, rule, word)
        return {"id": alert, "rule": rule, **word.as_json(word.at.date())}

    def _found(
        self, where: Sequence[str] = (), since: str | None = None, rules: "Sequence[AnyRule] | None" = None
    ) -> "Found":
        from analysis.alerts.files import DEFAULT
        from analysis.alerts.watching import watch
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters = Filters.parse(where, since)
        detector = judged(self.store, current(self.store))
        return watch(self.store, detector, datetime.now(UTC).date(), rules or self.rules or DEFAULT, filters)


class RemoteAlerts:
    """Alerts through a service, by its rules."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def listed(self, where: Sequence[str], since: str | None) -> Json:
        """The alerts of lines that have such generations under `items`, open ones first, and `rules`."""
        parameters = [("where", each) for each in where] + ([("since", since)] if since else [])
        found: Json = self._service.ask("GET", "/v1/alerts", params=parameters).json()
        return found

    def say(self, alert: str, said: Said) -> Json:
        """Acknowledge, mute or open an alert; how it is then. NotFound, Conflict, UsageError."""
        from analysis.alerts.words import check

        check(said.word())
        if not re.fullmatch("[0-9a-f]{16}", alert):
            raise _no(alert)  # no address need hold it
        found: Json = self._service.ask("POST", f"/v1/alerts/{alert}", json=asdict(said)).json()
        return found


def _no(alert: str) -> NotFound:
    return NotFound(f"no alert {alert!r} by the rules in force; `leakdown alerts list` lists them")


def open_alerts(alerts: Json) -> int:
    """How many nobody has acknowledged or muted: what a gate asks for."""
    return sum(each["state"] == "open" for each in alerts["items"])
