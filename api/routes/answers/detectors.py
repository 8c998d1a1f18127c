"""What the routes answer about detectors."""

from typing import Literal

from api.routes.answers.base import Answer, Count, Moment, like
from api.routes.answers.runs import Verdict

DetectorKind = Literal["built-in", "rules", "code"]


class DetectorRow(Answer):
    """A detector in the list."""

    model_config = like(
        detector="goat@1",
        current=False,
        summary="<tool_call> outside Markdown fences.",
        source="GOAT, ADR-0065",
        kind="built-in",
    )

    detector: str
    current: bool
    summary: str
    source: str
    kind: DetectorKind


class DetectorExample(Answer):
    """One of a detector's own examples."""

    why: str
    content: str | None


class DetectorInFull(Answer):
    """A detector with its triggers and its own examples."""

    detector: str
    summary: str
    source: str
    kind: DetectorKind
    triggers: list[str]
    leaks: list[DetectorExample]
    clean: list[DetectorExample]


class Current(Answer):
    """The detector that is current now. `pruned`: generations whose text went before it could judge them."""

    detector: str
    current: Literal[True]
    pruned: Count


class Promoted(Answer):
    """A detector that became current."""

    model_config = like(detector="goat@1", promoted_at="2026-11-01T12:00:00Z")

    detector: str
    promoted_at: Moment


class TrialVerdict(Answer):
    """What one detector says of an output; null if it is clean."""

    detector: str
    verdict: Verdict | None
