"""What the route of drift answers: the keys that stay."""

from typing import Literal

from pydantic import Field

from api.routes.answers.alerts import Alerts
from api.routes.answers.base import Answer, Count, Share
from api.routes.answers.lines import DriftLine, Part

Moved = float | None
"""A difference of two rates; null where one of them has no outputs."""


class VersionComparison(DriftLine):
    """A version against the one before it. `also`: what else changed with it; `overlap`: both were seen on one day."""

    dimension: Literal["engine_version", "template", "tool_parser", "client_version"]
    from_: str = Field(alias="from")
    to: str
    before: Part
    after: Part
    difference: Moved
    low: Moved
    high: Moved
    p: Share | None
    q: Share | None
    p_holm: Share | None
    verdict: Literal["worse", "better", "no_change", "too_few"]
    also: list[str]
    overlap: bool


class MixShift(Answer):
    """Something else that changed: the value whose share moved most."""

    what: str
    value: str
    before: Share
    after: Share


class ChangePoint(DriftLine):
    """The first day of a new rate, between `earliest` and `latest`."""

    at: str
    earliest: str
    latest: str
    before: Part
    after: Part
    p: Share
    also: list[MixShift]


class DriftCounts(Answer):
    """What a gate can ask for."""

    lines: Count
    comparisons: Count
    worse: Count
    better: Count
    no_change: Count
    too_few: Count
    worse_for_sure: Count
    change_points: Count
    rises: Count
    alerts: Count


class LeftOut(Answer):
    """Generations that could not be placed in time, and those pruned before the detector could judge them."""

    no_time: Count
    in_the_future: Count
    pruned: Count


class Drift(Answer):
    """What versions did to the leak rates, the days on which they changed, and alerts."""

    detector: str
    counts: DriftCounts
    left_out: LeftOut
    comparisons: list[VersionComparison]
    change_points: list[ChangePoint]
    alerts: Alerts
