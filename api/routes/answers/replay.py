"""What the routes answer about replays."""

from typing import Annotated, Any, Literal

from pydantic import Field

from analysis.detectors import Tier
from api.routes.answers.base import Answer, Count, Moment, Share, like

Points = Annotated[float, Field(ge=-1, le=1)]
Side = Literal["baseline", "candidate"]


class Replay(Answer):
    """A replay as a job."""

    model_config = like(
        id="4f1c09aa72be", state="running", baseline="openrouter-net@1", candidate="goat@1", where=["engine=vllm"],
        since="2026-11-01", until=None, recompute=False, progress=120_000, created_at="2026-11-01T12:00:00Z",
        started_at="2026-11-01T12:00:00Z", finished_at=None, error=None,
    )  # fmt: skip

    id: str
    state: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    baseline: str
    candidate: str
    where: list[str]
    since: str | None = None
    until: str | None = None
    recompute: bool
    progress: Count
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    error: str | None


class PairedDifference(Answer):
    """The candidate's share of `n` outputs less the baseline's, with a 95 % interval; null where n is 0."""

    n: Count
    baseline_only: Count
    candidate_only: Count
    value: Points | None
    low: Points | None
    high: Points | None


class JudgedByLabels(Answer):
    """One detector against the labels."""

    tp: Count
    fp: Count
    fn: Count
    tn: Count
    precision: Share | None
    precision_low: Share | None
    precision_high: Share | None
    recall: Share | None
    recall_low: Share | None
    recall_high: Share | None


class RateOfN(Answer):
    """A rate with its hits, its n and a 95 % interval."""

    hits: Count
    n: Count
    rate: Share | None
    low: Share | None
    high: Share | None


class OperatingPoint(JudgedByLabels):
    """A detector, counting from one tier on. `costs` by name: extra_rounds (of all outputs), thrown_away (of those
    labelled clean), passed_off (of the labelled leaks)."""

    costs: dict[Literal["extra_rounds", "thrown_away", "passed_off"], RateOfN]


class Segment(Answer):
    """The outputs with one value of a dimension; `labelled` has the keys of the report's own."""

    value: str | None
    n: Count
    both: Count
    baseline_only: Count
    candidate_only: Count
    neither: Count
    difference: PairedDifference
    labelled: dict[str, Any]


class Dimension(Answer):
    """The segments of one dimension, those with the most disagreements first; `left_out` more are not told."""

    rows: list[Segment]
    left_out: Count


class Shape(Answer):
    """Disagreements that are alike; `skeleton` is their markup without names, texts and numbers. The passages of an
    example have its text in pieces, each with the sides that found it."""

    says_leak: Side
    n: Count
    labelled: dict[str, Count]
    baseline: dict[str, Any] | None
    candidate: dict[str, Any] | None
    skeleton: str
    examples: list[dict[str, Any]]


class Shapes(Answer):
    """The most frequent shapes first; what is left out is counted."""

    rows: list[Shape]
    left_out: dict[str, Count]


class ReplayReport(Answer):
    """The comparison, with the keys of `leakdown replay --json`. Null: made by an earlier leakdown without that."""

    baseline: str
    candidate: str
    population: dict[str, Any]
    both: Count
    baseline_only: Count
    candidate_only: Count
    neither: Count
    errors: dict[str, Count]
    difference: PairedDifference | None = None
    labelled: dict[str, Any]
    estimates: dict[str, Any] | None = None
    segments: dict[str, Dimension] | None = None
    policy: dict[str, Any] | None = None
    operating_points: dict[Side, dict[Tier, OperatingPoint]] | None = None
    shapes: Shapes | None = None
    disagreements: list[dict[str, Any]]
    disagreements_left_out: Count
    seconds: float
    failures: dict[str, list[dict[str, Any]]] = Field(default={})
    checks: dict[str, dict[str, Any] | None] = Field(default={})
    isolation: dict[str, dict[str, Any] | None] = Field(default={})


class ReplayInFull(Replay):
    """A replay with its report, once it is done."""

    report: ReplayReport | None
