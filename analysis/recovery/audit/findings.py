"""The audit of a store: every rule over the same history, what it found, what it could not check."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from analysis.paging import Page, page_of, position
from analysis.recovery.audit.acknowledgements import Acknowledgement, acknowledged
from analysis.recovery.audit.history import prepare
from analysis.recovery.audit.rules import Asked, Broken, Row, Rule, Unknown
from analysis.recovery.audit.rules import rules as all_rules
from analysis.recovery.pieces import pieces
from ingest.identity import fields_hash
from ingest.store import Cursor, Store, atomic

ID = 16
"""Digits of a finding's id."""
PLACE = TypeAdapter(tuple[str, str, str])
"""Where a finding stands in the list: what a cursor holds."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A broken rule. `id` is made of the rule and of what it stands on, so that a new upload of the same records and
    another detector that finds the same have it too."""

    rule: str
    id: str
    run_id: str | None
    generation_id: str | None
    evidence: str
    acknowledgement: Acknowledgement | None

    @property
    def place(self) -> tuple[str, str, str]:
        """Where it stands in the list."""
        return self.rule, self.run_id or "", self.id

    def as_json(self, detector: str) -> dict[str, Any]:
        """Plain JSON values."""
        names = ("rule", "id", "run_id", "generation_id", "evidence")
        known = self.acknowledgement and self.acknowledgement.as_json()
        return {**{name: getattr(self, name) for name in names}, "detector": detector, "acknowledged": known}


@dataclass(slots=True)
class RuleCounts:
    """What became of one rule: `checked` and the `unknown` are all that it looks at."""

    rule: Rule
    checked: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    findings: int = 0
    acknowledged: int = 0

    def as_json(self) -> dict[str, Any]:
        """`not_checkable` in all, and by code."""
        return {
            **self.rule.as_json(),
            "findings": self.findings,
            "acknowledged": self.acknowledged,
            "checked": self.checked,
            "not_checkable": self.unknown.total(),
            "why": dict(sorted(self.unknown.items())),
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """All findings in order by rule and run, and the counts of each rule."""

    asked: Asked
    counts: tuple[RuleCounts, ...]
    findings: tuple[AuditFinding, ...]

    def page(self, *, all_: bool = False, after: str | None = None, limit: int) -> dict[str, Any]:
        """The findings from the cursor `after` on, those that were acknowledged only with `all_`; with the counts.
        UsageError for a bad cursor."""
        begun = position(after, PLACE)
        shown = [each for each in self.findings if all_ or each.acknowledgement is None]
        following = [each for each in shown if begun is None or each.place > begun][: limit + 1]
        items = [each.as_json(self.asked.detector) for each in following]
        page: Page = page_of(items, limit, lambda row: (row["rule"], row["run_id"] or "", row["id"]))
        policy = self.asked.policy and self.asked.policy.id
        counts = [each.as_json() for each in self.counts]
        return {"detector": self.asked.detector, "policy": policy, "rules": counts, **page.as_json()}


def audit(
    store: Store, asked: Asked, rules: Sequence[Rule] = (), progress: Callable[[int], object] = lambda _: None
) -> Audit:
    """Hold the history to `rules`, all without any; by the verdicts of a detector that has judged it all. `progress` is
    told how often a rule has looked."""
    known = acknowledged(store)
    counts = tuple(map(RuleCounts, rules or all_rules()))
    found: list[AuditFinding] = []
    with store.cursor() as cursor, atomic(cursor):
        for done, each in enumerate(_looks(cursor, asked, counts), 1):
            found += _look(each, each.rule.rows(cursor, asked), asked, known)
            progress(done)
    return Audit(asked, counts, tuple(sorted(found, key=lambda each: each.place)))


def _looks(cursor: Cursor, asked: Asked, counts: Sequence[RuleCounts]) -> Iterator[RuleCounts]:
    """What is to look next: what looks at leaks once for each piece of the runs, whose tables are there then."""
    of_leaks = [each for each in counts if each.rule.unit == "leaks"]
    for piece in pieces(cursor, asked.detector) if of_leaks else ():
        prepare(cursor, asked, piece)
        yield from of_leaks
    yield from (each for each in counts if each.rule.unit != "leaks")


def _look(
    counts: RuleCounts, rows: Iterable[Row], asked: Asked, known: dict[str, Acknowledgement]
) -> Iterable[AuditFinding]:
    for row in rows:
        verdict = counts.rule.judge(row, asked)
        if isinstance(verdict, Unknown):
            counts.unknown[verdict.code] += 1
            continue
        counts.checked += 1
        if isinstance(verdict, Broken):
            finding = _finding(counts.rule, row, verdict, known)
            counts.findings += 1
            counts.acknowledged += finding.acknowledgement is not None
            yield finding


def _finding(rule: Rule, row: Row, broken: Broken, known: dict[str, Acknowledgement]) -> AuditFinding:
    id_ = fields_hash(rule.name, *row["keys"]).hex()[:ID]
    return AuditFinding(rule.name, id_, row["run_id"], row["generation_id"], broken.evidence, known.get(id_))
