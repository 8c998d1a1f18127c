"""What the routes of alerts answer: the keys that stay."""

from typing import Annotated, Literal

from pydantic import Field

from analysis.alerts.words import State
from api.routes.answers.base import Answer, Count, Moment, Share, like
from api.routes.answers.lines import DriftLine, Part

Kind = Literal["threshold", "change", "recovery_drop", "first_seen"]


class AlertOf(Answer):
    """What an alert speaks of, if not of the whole line."""

    what: Literal["family", "kind"]
    value: str


class AlertName(Answer):
    """Which alert, by which rule."""

    id: str
    rule: str


class AlertWord(Answer):
    """How an alert is, by whose word, why and since when; all null of an open one."""

    state: State
    by: str | None
    reason: str | None
    at: Moment | None
    until: str | None


class AlertState(AlertWord, AlertName):
    """An alert as somebody left it."""

    model_config = like(
        id="9f0c2f6a4be81d37", rule="change", state="muted", by="ana", reason="known", at="2026-11-01T12:00:00Z",
        until="2026-11-15",
    )  # fmt: skip


class AlertKind(AlertName):
    """And of which kind that rule is."""

    kind: Kind


class AlertFigures(DriftLine):
    """What a rule says of a line. `leaks` of a part are what the rule counts: of `recovery_drop` the leaked rounds that
    were not recovered, of `n` leaked rounds. `e_value` is the evidence against `usual`, `needed` what made it an alarm
    at a false discovery rate of 5 % over the lines of the rule; null of a fact, which is no test."""

    of: AlertOf | None
    since: str
    baseline: Part | None
    recent: Part
    usual: Share | None
    e_value: Annotated[float, Field(ge=0)] | None
    needed: Annotated[float, Field(ge=0)] | None
    text: str


class Alert(AlertWord, AlertFigures, AlertKind):
    """What a rule says of a line, and what people said of that."""


class AlertRule(Answer):
    """A rule, and what became of the lines that it watches."""

    rule: str
    kind: Kind
    lines: Count
    alarms: Count
    too_few: Count


class Alerts(Answer):
    """What the rules found, open alerts first."""

    model_config = like(items=[], rules=[])

    items: list[Alert]
    rules: list[AlertRule]
