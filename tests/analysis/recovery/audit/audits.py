"""Small histories held to one rule of the audit, really ingested."""

from pathlib import Path
from typing import Any

from analysis.detectors import Detector, detector
from analysis.filters import Filters
from analysis.recovery.audit.findings import Audit, audit
from analysis.recovery.audit.rules import Asked, chosen
from analysis.recovery.policies import policy
from ingest.store import Store
from tests.analysis.stories import Json, store_of

OPENROUTER = detector("openrouter-net@1")


def audited(store: Store, *rules: str, held_to: str | None = None, where: list[str] | None = None) -> Audit:
    """The audit of a store by the detector that the stories are judged by."""
    asked = Asked(OPENROUTER.id, Filters.parse(where or []), policy(held_to) if held_to else None)
    return audit(store, asked, chosen(rules))


def found(folder: Path, records: list[Json], rule: str, by: Detector = OPENROUTER, **asked: Any) -> Audit:
    """The audit of `records` under one rule."""
    with store_of(folder, records, by) as store:
        return audited(store, rule, **asked)


def told(of: Audit) -> tuple[list[str | None], dict[str, int]]:
    """The generations of the findings, and how much could not be checked, by code."""
    [counts] = of.counts
    assert counts.checked >= counts.findings == len(of.findings)
    assert set(counts.unknown) <= set(counts.rule.not_checkable)
    return [each.generation_id for each in of.findings], dict(counts.unknown)
