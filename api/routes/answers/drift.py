"""What the route of drift answers: the keys that stay."""

from typing import Literal

from pydantic import Field

from api.routes.answers.base import Answer, Count, Share

Moved = float | None
"""A difference of two rates; null where one of them has no outputs."""


class Part(Answer):
    """A part of a line: its leaks and what they are of, in how many runs, from when to when."""

    n: Count
    leaks: Count
    rate: Share | None
    low: Share | None
    high: Share | None
    runs: Count
    first_day: str | None
    last_day: str | None


class DriftLine(Answer):
    """A series without its versions."""

    model: str | None
    provider: str | None
    engine: str | None
    client: str | None
    tools_known: bool


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


class LeftOut(Answer):
    """Generations that could not be placed in time."""

    no_time: Count
    in_the_future: Count


class Drift(Answer):
    """What versions did to the leak rates, and the days on which they changed."""

    detector: str
    counts: DriftCounts
    left_out: LeftOut
    comparisons: list[VersionComparison]
    change_points: list[ChangePoint]
