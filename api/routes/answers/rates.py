"""What the routes answer about rates and their trend, and reported leaks."""

from typing import Any

from pydantic import Field

from api.routes.answers.base import Answer, Count, Share, like


class RateRow(Answer):
    """A row of the rates; beside these keys the series keys that were asked for."""

    detector: str
    tools_known: bool
    eligible: Count
    leaks: Count
    leak_rate: Share | None
    leak_low: Share | None
    leak_high: Share | None
    printed: Count
    errors: Count
    runs: Count
    leaked_rounds: Count
    retried: Count
    recovered: Count
    recovery_rate: Share | None
    recovery_low: Share | None
    recovery_high: Share | None
    answered: Count
    passed_off: Count
    structured: Count
    structured_rate: Share | None
    structured_low: Share | None
    structured_high: Share | None
    printed_rate: Share | None
    printed_low: Share | None
    printed_high: Share | None
    plain: Count
    plain_rate: Share | None
    plain_low: Share | None
    plain_high: Share | None
    other: Count
    pruned: Count


class Week(Answer):
    """Seven days, both ends included."""

    from_: str = Field(alias="from")
    to: str
    eligible: Count
    leaks: Count
    leak_rate: Share | None
    leak_low: Share | None
    leak_high: Share | None
    runs: Count


class VersionChange(Answer):
    """The first day with a further version."""

    day: str
    dimension: str
    to: str


class TrendLine(Answer):
    """The weeks of one model on one engine."""

    model: str | None
    engine: str | None
    weeks: list[Week]
    changes: list[VersionChange]


class Figure(Answer):
    """Plotly JSON."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]


class Reported(Answer):
    """What clients reported against what is found."""

    model_config = like(both=38, reported_only=2, found_only=5, unjoined=0, events=40, differences=[])

    both: Count
    reported_only: Count
    found_only: Count
    unjoined: Count
    events: Count
    differences: list[dict[str, Any]]
