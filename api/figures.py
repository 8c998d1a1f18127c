"""Figures by the current detector, in one place: of an open store, or through the service that owns it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from api.alerts import LocalAlerts, open_alerts
from api.asking import keys_first
from api.remembered import Remembered
from api.work import Json, Progress, Work, silent

if TYPE_CHECKING:
    from analysis.alerts.files import AnyRule
    from analysis.charts.weekly_lines import Line
    from api.asking import Service

BY_KIND = ("kind",)
"""What rates of recovery are told by, unless asked otherwise."""


class Figures(Protocol):
    """The operations on figures. Answers are plain JSON values."""

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series."""
        ...

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        ...

    def faults(
        self, by: Sequence[str], where: Sequence[str], since: str | None, progress: Progress = silent
    ) -> list[Json]:
        """Whose fault the leaks are, per series, and what to set."""
        ...

    def drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """What versions did to the leak rates, the days on which they changed, and alerts: by `rules`, else by those
        of the settings."""
        ...

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        """What followed the leaks, by series, kind or family, and what each policy would have done; all policies if
        none is named."""
        ...


class LocalFigures:
    """Figures of an open store."""

    def __init__(self, work: Work, alerts: LocalAlerts) -> None:
        self._work, self._store, self._alerts = work, work.store, alerts
        self._remembered = Remembered(work.store)

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series, by the current detector."""
        from analysis.filters import Filters
        from analysis.rates import rates
        from analysis.registry import current, judged

        def counted() -> list[Json]:
            detector = judged(self._store, current(self._store))
            return [row.as_json() for row in rates(self._store, detector, by, filters)]

        filters = Filters.parse(where, since)
        return self._remembered.of(("rates", tuple(by), filters), counted)

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        from analysis.filters import Filters
        from analysis.ineligible import explanation

        return explanation(self._store, Filters.parse(where, since))

    def trend(self, where: Sequence[str], since: str | None) -> "list[Line]":
        """The leak rate of the largest lines by the current detector, week by week."""
        from analysis.charts.weekly_lines import lines
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters = Filters.parse(where, since)
        return self._remembered.of(
            ("trend", filters), lambda: lines(self._store, judged(self._store, current(self._store)), filters)
        )

    def series(self, row: str, column: str, where: Sequence[str], since: str | None) -> Json:
        """Leak rates of two segments against each other, by the current detector."""
        from analysis.filters import Filters
        from analysis.registry import current, judged
        from analysis.segments import matrix

        def counted() -> Json:
            detector = judged(self._store, current(self._store))
            return matrix(self._store, detector, row, column, filters).as_json()

        filters = Filters.parse(where, since)
        return self._remembered.of(("series", row, column, filters), counted)

    def runs(self, where: Sequence[str], since: str | None, *, leaking: bool, cursor: str | None, limit: int) -> Json:
        """A page of runs, latest first, with their leaks by the current detector. UsageError for a bad cursor."""
        from analysis.browse import runs
        from analysis.filters import Filters
        from analysis.registry import current, judged

        def found() -> Json:
            detector = judged(self._store, current(self._store))
            return runs(self._store, detector, filters, leaking=leaking, after=cursor, limit=limit).as_json()

        filters = Filters.parse(where, since)
        return self._remembered.of(("runs", filters, leaking, cursor, limit), found)

    def reported(self) -> Json:
        """What clients reported against what the current detector finds."""
        from analysis.registry import current, judged
        from analysis.reported import reported

        return self._remembered.of(
            "reported", lambda: reported(self._store, judged(self._store, current(self._store))).as_json()
        )

    def faults(
        self, by: Sequence[str], where: Sequence[str], since: str | None, progress: Progress = silent
    ) -> list[Json]:
        """Whose fault the leaks by the current detector are, per series, and what to set."""
        from analysis.faults.counts import fault_rows
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters, told = Filters.parse(where, since), self._work.unless_stopping(progress)
        rows = fault_rows(self._store, judged(self._store, current(self._store)), by, filters, told)
        return [row.as_json() for row in rows]

    def drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """What versions did to the leak rates by the current detector, the days on which they changed, and alerts: by
        `rules`, else by those of the settings."""
        return self.spoken(self.unspoken_drift(where, since, progress, rules))

    def spoken(self, found: Json) -> Json:
        """`unspoken_drift` with what people have said of the alerts by now, and how many are open."""
        alerts = self._alerts.spoken(found["alerts"])
        return {**found, "counts": {**found["counts"], "alerts": open_alerts(alerts)}, "alerts": alerts}

    def unspoken_drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """`drift` as if nobody had said anything of any alert: what can be kept of it."""
        from datetime import UTC, datetime

        from analysis.drift import drift
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters, told = Filters.parse(where, since), self._work.unless_stopping(progress)
        detector = judged(self._store, current(self._store))
        found = drift(self._store, detector, datetime.now(UTC).date(), filters, told).as_json()
        return {**found, "alerts": self._alerts.unspoken(where, since, rules)}

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        """What followed the leaks by the current detector, and what each policy would have done."""
        from analysis.filters import Filters
        from analysis.recovery.policies import chosen
        from analysis.recovery.policy_replay import replay_policies
        from analysis.recovery.round_rates import checked
        from analysis.registry import current, judged

        wanted, filters = chosen(policies), Filters.parse(where, since)
        told = self._work.unless_stopping(progress)
        by = checked(by)
        return replay_policies(
            self._store, judged(self._store, current(self._store)), wanted, filters, told, by
        ).as_json()


class RemoteFigures:
    """Figures through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series."""
        parameters = [("by", ",".join(by)), *(("where", each) for each in where)]
        parameters += [("since", since)] if since else []
        found: list[Json] = self._service.ask("GET", "/v1/rates", params=parameters).json()
        return [keys_first(row, by) for row in found]

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        parameters = [("where", each) for each in where] + ([("since", since)] if since else [])
        return str(self._service.ask("GET", "/v1/rates/why-none", params=parameters).json()["explanation"])

    def faults(
        self,
        by: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,  # noqa: ARG002 - the service tells none
    ) -> list[Json]:
        """Whose fault the leaks are, per series, and what to set."""
        parameters = [("by", ",".join(by)), *(("where", each) for each in where)]
        parameters += [("since", since)] if since else []
        found: list[Json] = self._service.ask("GET", "/v1/faults", params=parameters).json()
        return [keys_first(row, by) for row in found]

    def drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,  # noqa: ARG002 - the service tells none
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """What versions did to the leak rates, the days on which they changed, and alerts: by `rules`, else by those
        of the service."""
        if rules:
            given = {"where": list(where), "since": since or None, "rules": [each.model_dump() for each in rules]}
            return dict(self._service.ask("POST", "/v1/drift", json=given).json())
        parameters = [("where", each) for each in where] + ([("since", since)] if since else [])
        found: Json = self._service.ask("GET", "/v1/drift", params=parameters).json()
        return found

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = silent,  # noqa: ARG002 - the service tells none
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        """What followed the leaks, and what each policy would have done."""
        parameters = [("policy", each) for each in policies] + [("where", each) for each in where]
        parameters.append(("by", ",".join(by)))
        parameters += [("since", since)] if since else []
        found: Json = self._service.ask("GET", "/v1/recovery", params=parameters).json()
        return found | {"rates": [keys_first(row, by) for row in found["rates"]]}
