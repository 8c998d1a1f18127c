"""What the routes answer about samples drawn for labelling."""

from typing import Literal

from api.routes.answers.base import Answer, Count, Moment, Share, like


class SampledStratum(Answer):
    """A stratum of a sample; `probability` is the chance of each of its generations to be drawn."""

    stratum: str
    generations: Count
    drawn: Count
    probability: Share | None


class Reach(Answer):
    """The lower bounds that labels can reach at best."""

    precision_low: Share | None
    recall_low: Share | None


class Budget(Answer):
    """About how many labels a bound on the candidate's recall takes at best; null if no number does."""

    recall_low: Share
    budget: Count | None


class Sample(Answer):
    """A drawn sample: how much of it is labelled, and which bounds it can reach."""

    model_config = like(
        sample=1, baseline="openrouter-net@1", candidate="goat@1", where=[], seed=1, budget=200,
        created_at="2026-11-01T12:00:00Z", generations=1369, errors=0, drawn=200, outputs=187, labelled=0,
        strata=[{"stratum": "baseline_only", "generations": 18, "drawn": 18, "probability": 1.0}],
        reach={"baseline": {"precision_low": 0.9, "recall_low": 0.4},
               "candidate": {"precision_low": 0.9, "recall_low": 0.4}},
        budgets=[{"recall_low": 0.9, "budget": 800}],
    )  # fmt: skip

    sample: Count
    baseline: str
    candidate: str
    where: list[str]
    seed: Count
    budget: Count
    created_at: Moment
    generations: Count
    errors: Count
    drawn: Count
    outputs: Count
    labelled: Count
    strata: list[SampledStratum]
    reach: dict[Literal["baseline", "candidate"], Reach]
    budgets: list[Budget]
