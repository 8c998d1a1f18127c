"""Policies over one history: what each would have done with every leaked round, and what would have come of it.

Where the history holds the retry that a policy asks for, its real outcome counts (`observed`). Where it does not, the
outcome is estimated from the observed retries of the same line and kind of leak (`estimated`), in figures of their
own: the two are never mixed. Each leaked round is taken by itself, with what stood before it in the record; but the
retries and leaks used up so far are the policy's own, so that none gets more retries than it allows itself.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.recovery.expected import Stratum
from analysis.recovery.funnel import Funnel
from analysis.recovery.outcomes import OUTCOMES, Among
from analysis.recovery.pieces import REST, asked, pieces
from analysis.recovery.policies import Configured
from analysis.recovery.policy_tally import PolicyTally
from analysis.recovery.round_rates import DEFAULT_BY, RoundRates, RoundSums
from analysis.recovery.strict import StrictCounts, strict_counts
from analysis.recovery.turn import Attempt, Mark
from analysis.recovery.turns import StoredTurn, stored_turns
from analysis.recovery.walk import Kind, followed, kind
from analysis.statistics.estimates import Pool
from ingest.store import Cursor, Store, atomic

_OUTCOMES = "SELECT outcome, evidence, count(*) FROM outcomes WHERE leak AND {asked} GROUP BY ALL"
TOLD_EVERY = 1_000
"""Rounds between two words of progress."""


@dataclass(slots=True)
class Recovery:
    """What followed the leaks of a history, and what each policy would have done."""

    detector: str
    policies: tuple[PolicyTally, ...]
    outcomes: dict[str, int] = field(default_factory=dict)
    evidence: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many of each outcome rest on what."""
    rates: list[RoundRates] = field(default_factory=list)
    rounds: int = 0
    not_followed: int = 0
    pruned: int = 0
    """Of the rounds: those on which no policy can say anything, since their texts are here no more."""
    marks: Counter[Mark] = field(default_factory=Counter)
    retries: dict[Stratum, Pool[Kind]] = field(default_factory=dict)
    wrong: dict[Stratum, Pool[bool]] = field(default_factory=dict)
    """Labelled leaks, by whether they are none."""
    funnel: Funnel = field(default_factory=Funnel)
    strict: StrictCounts | None = None

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            "detector": self.detector,
            "outcomes": self.outcomes,
            "funnel": self.funnel.as_json(),
            "evidence": self.evidence,
            "rates": [each.as_json() for each in self.rates],
            "rounds": self.rounds,
            "not_followed": self.not_followed,
            "pruned": self.pruned,
            "marks": dict(sorted(self.marks.items())),
            "policies": [each.as_json(self.retries, self.wrong) for each in self.policies],
            "strict": self.strict.as_json() if self.strict else None,
        }


def replay_policies(
    store: Store,
    detector: Detector,
    policies: Sequence[Configured],
    filters: Filters | None = None,
    progress: Callable[[int], object] = lambda _: None,
    by: Sequence[str] = DEFAULT_BY,
) -> Recovery:
    """Each policy over the same history, by the verdicts of `detector`, which must have judged it all; and what became
    of the leaked rounds by the keys `by`. UsageError for keys that are none."""
    asked_for = filters or Filters()
    found, rates = Recovery(detector.id, tuple(map(PolicyTally, policies))), RoundSums(detector.id, by, asked_for)
    outcomes = Counter[tuple[str, str]]()
    with store.cursor() as cursor, atomic(cursor):
        for piece in pieces(cursor, detector.id):
            for turn in stored_turns(cursor, detector.id, filters, piece):
                _take(found, turn)
                if found.rounds % TOLD_EVERY == 0:
                    progress(found.rounds)
            outcomes += _outcomes(cursor, asked(asked_for, piece))
            rates.add(cursor, piece)
            found.funnel.add(cursor)
        rates.add(cursor, REST)  # what was thrown away need not have leaked
    _count(found, outcomes)
    found.rates = rates.rates()
    found.strict = strict_counts(store, filters)
    return found


def _take(found: Recovery, turn: StoredTurn) -> None:
    """One leaked round. Without a leak at its beginning there is nothing that a policy would have begun."""
    found.marks.update(turn.round.marks)
    attempts = followed(turn.round)
    if not turn.pruned:
        _note_retries(found, turn, attempts)
    if not attempts or not attempts[0].leak:
        found.not_followed += 1
        return
    found.rounds += 1
    if turn.pruned:
        found.pruned += 1
        return
    first = attempts[0]
    truth = turn.truth.get(first.key)
    if truth is not None:
        found.wrong.setdefault(stratum(turn, first), Pool()).add(turn.run_id, not truth)
    for policy in found.policies:
        policy.take(turn, attempts, truth)


def _note_retries(found: Recovery, turn: StoredTurn, attempts: Sequence[Attempt]) -> None:
    for attempt, retry in pairwise(attempts):
        if attempt.leak:
            found.retries.setdefault(stratum(turn, attempt), Pool()).add(turn.run_id, kind(retry))


def stratum(turn: StoredTurn, attempt: Attempt) -> Stratum:
    """Where a leaked attempt is compared with others: its line, and the kind of its leak."""
    return turn.line, attempt.finding.kind if attempt.finding else ""


def _outcomes(cursor: Cursor, wanted: Among) -> Counter[tuple[str, str]]:
    rows = cursor.execute(_OUTCOMES.format(asked=wanted.sql), wanted.parameters).fetchall()
    return Counter({(outcome, evidence): n for outcome, evidence, n in rows})


def _count(found: Recovery, outcomes: Counter[tuple[str, str]]) -> None:
    for (outcome, evidence), n in sorted(outcomes.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        found.evidence.setdefault(outcome, {})[evidence] = n
    found.outcomes = {name: sum(found.evidence.get(name, {}).values()) for name in OUTCOMES}
