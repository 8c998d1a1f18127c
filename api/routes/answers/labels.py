"""What the routes answer about labels."""

from typing import Any, Literal

from api.routes.answers.base import Answer, Count, Moment, Share, like
from ingest.records import Kind


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

    model_config = like(
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

    model_config = like(open=[], resolved=[])

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

    model_config = like(
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
