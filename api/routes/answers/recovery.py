"""What the routes of recovery answer: the keys that stay."""

from typing import Any, Literal

from pydantic import ConfigDict

from analysis.recovery.policies import Action, Scope
from api.routes.answers.base import Answer, Count, Share

Expectation = float | None
"""Rounds that would have been; null where nothing is estimated."""


class Observed(Answer):
    """Rounds whose end the record holds; `discarded` of the `labelled`, null where nothing is known."""

    n: Count
    extra_rounds: Count
    recovered: Count
    answered: Count
    errored: Count
    passed_off: Count
    cancelled: Count
    unknown: Count
    called: Count
    recovery_rate: Share | None
    recovery_low: Share | None
    recovery_high: Share | None
    answered_rate: Share | None
    answered_low: Share | None
    answered_high: Share | None
    errored_rate: Share | None
    errored_low: Share | None
    errored_high: Share | None
    passed_off_rate: Share | None
    passed_off_low: Share | None
    passed_off_high: Share | None
    cancelled_rate: Share | None
    cancelled_low: Share | None
    cancelled_high: Share | None
    unknown_rate: Share | None
    unknown_low: Share | None
    unknown_high: Share | None
    called_rate: Share | None
    called_low: Share | None
    called_high: Share | None
    labelled: Count
    discarded: Count | None


class Estimated(Answer):
    """Rounds whose next retry no record holds, by observed retries of the same line and kind of leak."""

    n: Count
    extra_rounds: Expectation
    extra_rounds_low: Expectation
    extra_rounds_high: Expectation
    recovered: Expectation
    recovered_low: Expectation
    recovered_high: Expectation
    answered: Expectation
    answered_low: Expectation
    answered_high: Expectation
    errored: Expectation
    errored_low: Expectation
    errored_high: Expectation
    passed_off: Expectation
    passed_off_low: Expectation
    passed_off_high: Expectation
    cancelled: Expectation
    cancelled_low: Expectation
    cancelled_high: Expectation
    unknown: Expectation
    unknown_low: Expectation
    unknown_high: Expectation
    discarded_n: Count
    discarded: Expectation
    discarded_low: Expectation
    discarded_high: Expectation


class Decided(Answer):
    """How often a policy decided so on a leak."""

    action: Action
    reason: str
    n: Count


class PolicyRow(Answer):
    """One policy over the history: `rounds` are those in `observed`, in `estimated`, and the `unestimated`."""

    policy: str
    parameters: dict[str, int | str | bool]
    rounds: Count
    handled: Count
    observed: Observed
    estimated: Estimated
    unestimated: Count
    salvaged: Count
    salvaged_valid: Count
    salvaged_unchecked: Count
    salvaged_invalid: Count
    decisions: list[Decided]


class Checked(Answer):
    """Refused of those that could be checked."""

    n: Count
    refused: Count
    rate: Share | None
    low: Share | None
    high: Share | None


class Strict(Answer):
    """Stored retries as a strict system would have judged them."""

    retries: Count
    accepted: Count
    refused: Count
    not_checkable: Count
    reasons: dict[str, Count]
    not_checkable_why: dict[str, Count]
    calls: Checked
    envelopes: Checked


class Counted(Answer):
    """How many rounds of `n`, with the interval of the share."""

    n: Count
    hits: Count
    rate: Share | None
    low: Share | None
    high: Share | None


class Ended(Counted):
    """How many rounds ended so."""

    end: str


class Funnel(Answer):
    """From leak to outcome: the rounds that began with a leak."""

    rounds: Count
    retried: Counted
    after_retry: list[Ended]
    without_retry: list[Ended]


class RoundRow(Answer):
    """Leaked rounds by what was asked for, which stands beside these keys. Rates are of `leaked_rounds`, but
    `retry_leaked_again` of `retries` and `discarded` (good answers thrown away) of `nudged_labelled`; extra rounds and
    tokens are means over recovered rounds."""

    leaked_rounds: Count
    retried: Count
    retried_rate: Share | None
    retried_low: Share | None
    retried_high: Share | None
    recovered: Count
    recovered_rate: Share | None
    recovered_low: Share | None
    recovered_high: Share | None
    answered: Count
    answered_rate: Share | None
    answered_low: Share | None
    answered_high: Share | None
    passed_off: Count
    passed_off_rate: Share | None
    passed_off_low: Share | None
    passed_off_high: Share | None
    leaked_again: Count
    leaked_again_rate: Share | None
    leaked_again_low: Share | None
    leaked_again_high: Share | None
    retry_leaked_again: Count
    retry_leaked_again_rate: Share | None
    retry_leaked_again_low: Share | None
    retry_leaked_again_high: Share | None
    discarded: Count
    discarded_rate: Share | None
    discarded_low: Share | None
    discarded_high: Share | None
    retries: Count
    nudged_labelled: Count
    extra_rounds: float | None
    extra_rounds_low: float | None
    extra_rounds_high: float | None
    extra_rounds_n: Count
    extra_tokens: float | None
    extra_tokens_low: float | None
    extra_tokens_high: float | None
    extra_tokens_n: Count


class Recovery(Answer):
    """What followed the leaks, with the keys of `leakdown recovery --json`."""

    detector: str
    outcomes: dict[str, Count]
    funnel: Funnel
    evidence: dict[str, dict[str, Count]]
    rates: list[RoundRow]
    rounds: Count
    not_followed: Count
    pruned: Count
    marks: dict[str, Count]
    policies: list[PolicyRow]
    strict: Strict


class ParameterRow(Answer):
    """A parameter of a policy."""

    name: str
    type: Literal["int", "str", "bool"]
    default: Any
    meaning: str


class ReasonRow(Answer):
    """A reason that a policy may give."""

    action: Action
    code: str
    meaning: str


class PolicyInFull(Answer):
    """A policy: its line, how it asks for a retry, its parameters, its reasons."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"policy": "goat@1", "scope": "turn", "parameters": [], "reasons": []}]},
    )

    policy: str
    summary: str
    source: str
    asks: str
    scope: Scope
    parameters: list[ParameterRow]
    reasons: list[ReasonRow]
