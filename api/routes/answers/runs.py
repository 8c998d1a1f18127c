"""What the routes answer about runs and generations."""

from typing import Any

from analysis.detectors import Channel, Tier
from analysis.recovery.outcomes import Evidence, Outcome
from analysis.recovery.policies import Action
from api.routes.answers.base import Answer, Count, Moment
from api.routes.answers.faults import LeakFault
from ingest.records import Kind, LinkedBy


class RunRow(Answer):
    """A run in the list."""

    run_id: str
    started_at: Moment | None
    generations: Count
    leaks: Count
    models: list[str]
    engines: list[str]
    versions: list[str]
    clients: list[str]


class Verdict(Answer):
    """A finding, or null throughout; `start` and `end` are code points of the channel's text."""

    leak: bool
    kind: Kind | None
    family: str | None
    tier: Tier | None
    tool: str | None
    channel: Channel | None
    start: int | None
    end: int | None
    markup: str | None
    reason: str | None


class GenerationRow(Verdict):
    """A generation in the list, with the verdict of the current detector and the truth of the labels."""

    generation_id: str
    run_id: str
    turn: int | None
    round: int | None
    attempt: int | None
    started_at: Moment | None
    model: str | None
    engine: str | None
    engine_version: str | None
    template: str | None
    eligible: bool
    tools_known: bool
    truth: bool | None


class DecidedCall(Answer):
    """A call that a policy takes from the text; `problem`: why it does not fit its tool's schema."""

    name: str
    arguments: dict[str, Any]
    whole: bool
    problem: str | None


class PolicyDecision(Answer):
    """What a policy does with a leak; `action` null where it had ended the round at an earlier attempt."""

    policy: str
    action: Action | None
    reason: str | None
    meaning: str | None
    details: list[str]
    calls: list[DecidedCall]


class GenerationInFull(GenerationRow):
    """A generation with its text; where it leaked with its `outcome`, the `evidence` for that, its `fault`, every
    policy's decision, and what is odd about its round. A leak without decisions: its round did not begin with one, as
    far as the record tells. `linked_by`: what links it to the one before, where a history tells its numbers."""

    content: str | None
    reasoning: str | None
    tool_calls: list[dict[str, Any]] | None
    tools: list[dict[str, Any]] | None
    linked_by: LinkedBy | None
    outcome: Outcome | None
    evidence: Evidence | None
    fault: LeakFault | None
    decisions: list[PolicyDecision]
    marks: list[str]


class RunInFull(Answer):
    """A run: its attempts in order, and what its client reported."""

    run_id: str
    detector: str
    generations: list[GenerationInFull]
    more: bool
    events: list[dict[str, Any]]


class RunPage(Answer):
    """A page of runs; `next` null on the last."""

    items: list[RunRow]
    next: str | None


class GenerationPage(Answer):
    """A page of generations; `next` null on the last."""

    items: list[GenerationRow]
    next: str | None
