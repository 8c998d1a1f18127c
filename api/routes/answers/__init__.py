"""What the routes answer: the keys that stay. More may follow, so a reader must pass over what it does not know."""

from typing import Any, Literal

from pydantic import Field

from analysis.detectors import Channel, Tier
from api.routes.answers.base import Answer, Count, Moment, Share
from api.routes.answers.base import like as _like
from api.routes.answers.replay import Replay, ReplayInFull, ReplayReport
from ingest.records import Kind

DetectorKind = Literal["built-in", "rules", "code"]
__all__ = ["Answer", "Count", "Moment", "Replay", "ReplayInFull", "ReplayReport", "Share"]


class Unsure(Answer):
    """A format that is a guess: why, what was decoded of the first generations, how to say better."""

    why: str
    examples: list[dict[str, str | None]]
    override: str


class UploadResult(Answer):
    """What became of a file; `upload_id` null if it brought nothing new."""

    upload_id: int | None
    path: str
    format: str
    lines: Count
    mapped: Count
    skipped: Count
    duplicate: Count
    quarantined: Count
    generations: Count
    new_generations: Count
    events: Count
    skipped_why: dict[str, Count]
    quarantined_why: dict[str, Count]
    warning: str | None
    unsure: Unsure | None


class RefusedFile(Answer):
    """A file that was not understood, and the status that it alone would have had."""

    path: str
    status: int
    detail: str


class Uploaded(Answer):
    """The files of one request."""

    uploads: list[UploadResult]
    refused: list[RefusedFile]


class Arriving(Uploaded):
    """How far an upload with a client id has come."""

    client_id: str
    state: Literal["receiving", "reading", "done", "failed"]
    received_bytes: Count
    read_bytes: Count
    total_bytes: Count | None
    bytes_per_second: float | None
    seconds_left: float | None
    lines: Count
    detail: str | None


class StoredUpload(Answer):
    """An upload in the store."""

    model_config = _like(
        upload_id=1, path="runs.jsonl", format="native", created_at="2026-11-01T12:00:00Z",
        settings={"engine": "vllm"}, origins={"engine": "given"}, lines=8, mapped=7, skipped=0, duplicate=0,
        quarantined=1, generations=4, new_generations=4, events=2,
    )  # fmt: skip

    upload_id: int
    path: str
    format: str
    created_at: Moment
    settings: dict[str, str]
    origins: dict[str, Literal["given", "sidecar", "corrected"]]
    lines: Count
    mapped: Count
    skipped: Count
    duplicate: Count
    quarantined: Count
    generations: Count
    new_generations: Count
    events: Count


class QuarantinedLine(Answer):
    """A line that was not understood."""

    line: int
    reason: str
    excerpt: str | None


class UploadInFull(StoredUpload):
    """An upload with the first of its quarantined lines."""

    quarantine: list[QuarantinedLine]


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

    model_config = _like(both=38, reported_only=2, found_only=5, unjoined=0, events=40, differences=[])

    both: Count
    reported_only: Count
    found_only: Count
    unjoined: Count
    events: Count
    differences: list[dict[str, Any]]


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


class GenerationInFull(GenerationRow):
    """A generation with its text; `outcome` where it leaked."""

    content: str | None
    reasoning: str | None
    tool_calls: list[dict[str, Any]] | None
    tools: list[dict[str, Any]] | None
    outcome: str | None


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


class JudgingPart(Answer):
    """Outputs that wait for a candidate's verdicts. `outputs` is empty when none have come yet: ask again while
    `state` is `judging`."""

    session: str
    detector: str
    state: Literal["judging", "done", "failed"]
    error: str | None
    searched: Count
    part: str
    outputs: list[dict[str, Any]]


class JudgedPart(Answer):
    """How many outputs of the part still wait."""

    model_config = _like(session="9f2ab0c4d1e65f37", part="1", missing=0)

    session: str
    part: str
    missing: Count


class DetectorRow(Answer):
    """A detector in the list."""

    model_config = _like(
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
    """The detector that is current now."""

    detector: str
    current: Literal[True]


class Promoted(Answer):
    """A detector that became current."""

    model_config = _like(detector="goat@1", promoted_at="2026-11-01T12:00:00Z")

    detector: str
    promoted_at: Moment


class TrialVerdict(Answer):
    """What one detector says of an output; null if it is clean."""

    detector: str
    verdict: Verdict | None


class AddedLabel(Answer):
    """A label as it was stored; `label_id` takes it back."""

    label_id: str
    generation_id: str
    run_id: str | None
    leak: bool | None
    kind: Kind | None
    by: str
    note: str | None


class BlindOutput(Answer):
    """An output without any verdict on it; `said` is what this person said of it before."""

    verdict_key: str
    generation_id: str
    run_id: str
    model: str | None
    content: str | None
    reasoning: str | None
    tool_calls: list[dict[str, Any]] | None
    tools: list[str] | None
    finish_reason: str | None
    said: Literal["leak", "clean", "unsure"] | None


class NextOutput(Answer):
    """What to look at next; outputs in all (`total`), `done`, `waiting` for this person, held by others
    (`elsewhere`); how many this person has labelled; the verdict keys of those shown before and after."""

    output: BlindOutput | None
    waiting: Count
    total: Count
    done: Count
    elsewhere: Count
    labelled: Count
    previous: str | None
    later: str | None


class Aside(Answer):
    """Labels kept aside: of unknown generations, of ids that name several outputs."""

    unknown: Count
    ambiguous: Count


class ImportedLabels(Answer):
    """What became of a file of labels."""

    model_config = _like(
        path="labels.csv", new=2, duplicate=0, skipped=0, quarantined=0, aside={"unknown": 1, "ambiguous": 0},
        skipped_why={}, quarantined_lines=[],
    )  # fmt: skip

    path: str
    new: Count
    duplicate: Count
    skipped: Count
    quarantined: Count
    aside: Aside
    skipped_why: dict[str, Count]
    quarantined_lines: list[dict[str, Any]]


class LastWord(Answer):
    """What a person said last of an output."""

    label_id: str
    by: str
    leak: bool | None
    kind: Kind | None
    note: str | None
    at: Moment | None


class LabelConflict(Answer):
    """An output on which people contradict each other; `resolution` null while it is open."""

    verdict_key: str
    generation_id: str
    run_id: str
    labels: list[LastWord]
    resolution: LastWord | None


class Conflicts(Answer):
    """Conflicts, open and resolved."""

    model_config = _like(open=[], resolved=[])

    open: list[LabelConflict]
    resolved: list[LabelConflict]


class LabelCoverage(Answer):
    """Of how many outputs (`of`) the truth is known; `aside` counts the labels that no output here has."""

    labelled: Count
    of: Count
    share: Share | None
    unsure: Count
    conflict: Count
    leak: Count
    clean: Count
    aside: dict[str, Count]


class Agreement(Answer):
    """Coverage, people, pairs of people with Cohen's kappa, and weak evidence against truth."""

    model_config = _like(
        coverage={
            "labelled": 157, "of": 1308, "share": 0.12, "unsure": 2, "conflict": 2, "leak": 65, "clean": 92,
            "aside": {"unknown": 0, "ambiguous": 0, "deleted": 0},
        },
        people=[{"by": "ana", "labels": 77, "leak": 30, "clean": 46, "unsure": 1}],
        pairs=[],
        evidence=[],
    )  # fmt: skip

    coverage: LabelCoverage
    people: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    evidence: list[dict[str, Any]]


class LabelChange(Answer):
    """One change: what a person said, and what was their last word before."""

    at: Moment
    what: Literal["labelled", "changed", "confirmed", "resolved", "taken back"]
    by: str
    generation_id: str
    run_id: str | None
    verdict: Literal["leak", "clean", "unsure"]
    before: Literal["leak", "clean", "unsure"] | None
    kind: Kind | None
    note: str | None
    source: str | None
    label_id: str


class Health(Answer):
    """Alive; `instance` names this life of the service."""

    model_config = _like(status="ok", instance="9f2ab0c4d1e65f37", version="0.1.0")

    status: Literal["ok"]
    instance: str
    version: str


class Ready(Answer):
    """Ready, with the number of uploads in the store."""

    model_config = _like(status="ready", uploads=3)

    status: Literal["ready"]
    uploads: Count
