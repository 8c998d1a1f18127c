"""A history in which the word detectors agree, differ and stay silent, and people who label what was drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.labels.giving import NewLabel
from analysis.labels.giving import add as add_label
from analysis.replay import replay
from analysis.sampling.drawing import Drawn, Request, draw
from ingest.store import Store
from tests.analysis.stories import WORDS, Json, add, dice, finds, label, rows, said

FIRST = finds("first", WORDS)
SECOND = finds("second", {"PRINTED": ("printed_call", "certain"), "MAYBE": ("leaked_call", "likely")})
NOW = datetime(2026, 11, 30, tzinfo=UTC)
STRATUM = {
    "LEAK": "baseline_only",
    "MAYBE": "candidate_only",
    "PRINTED": "both",
    "TRIGGER": "neither_trigger",
    "hello": "neither_no_trigger",
}
"""Where an output with such a word stands (TRIGGER only for a detector that has it as one)."""
THIRD = Detector("third", 1, "", "", ("PRINTED", "MAYBE", "TRIGGER"), SECOND.find, (), ())


@dataclass(frozen=True, slots=True)
class Words:
    """How many outputs to write with each word, and how many of these are leaks."""

    outputs: Mapping[str, int]
    leaks: Mapping[str, int]

    def records(self, seed: int = 1) -> list[Json]:
        """The generations, mixed; a leak says so in its id."""
        named = [
            said(f"{word} {at}", run=f"r{at % 7}", generation_id=f"{word}-{at}-{at < self.leaks.get(word, 0)}")
            for word, count in self.outputs.items()
            for at in range(count)
        ]
        dice(seed).shuffle(named)
        return named


def take(store: Store, budget: int, *pair: Detector, where: str = "", seed: int = 1) -> Drawn:
    """Draw from the store."""
    baseline, candidate = pair or (FIRST, SECOND)
    return draw(store, Request(baseline, candidate, Filters.parse(where.split()), budget, seed), NOW)


def estimated(store: Store, *pair: Detector, where: str = "") -> Any:
    """The estimates of a replay."""
    baseline, candidate = pair or (FIRST, SECOND)
    return replay(store, baseline, candidate, Filters.parse(where.split())).as_json()["estimates"]


def drawn_ids(store: Store, sample_id: int) -> list[tuple[str, str]]:
    """Stratum and generation id of each draw, in the order to look at."""
    sql = """SELECT i.stratum, g.generation_id FROM sample_items i JOIN generations g ON g.key = i.generation
    WHERE i.sample_id = $1 ORDER BY i.place"""
    return [(stratum, name) for stratum, name in rows(store, sql, sample_id)]


def say(store: Store, generation_id: str, leak: bool | None, by: str = "ana") -> None:
    """Label one generation."""
    add_label(store, NewLabel(generation_id, leak, by), NOW)


def label_all(store: Store, sample_id: int) -> None:
    """Label every draw that nobody has labelled, truly, by a file."""
    sql = """SELECT DISTINCT g.generation_id FROM sample_items i JOIN generations g ON g.key = i.generation
    WHERE i.sample_id = $1 AND NOT EXISTS (FROM labels l WHERE l.verdict_key = i.verdict_key)"""
    add(store, [label(name, name.endswith("True")) for (name,) in rows(store, sql, sample_id)])


_NEXT = """
SELECT min(g.generation_id) FROM sample_items i JOIN generations g ON g.verdict_key = i.verdict_key
WHERE i.sample_id = $1 AND NOT EXISTS (FROM labels l WHERE l.verdict_key = i.verdict_key AND l.by_whom = $2)
GROUP BY i.verdict_key ORDER BY min(i.place) LIMIT 1
"""
"""The first output of a sample that a person has not labelled, as the Review page hands them out."""


def work(store: Store, sample_id: int, by: str = "ana", most: int = 10**6) -> int:
    """Label what is handed out, truly, at most so many; the number."""
    for done in range(most):
        if not (found := rows(store, _NEXT, sample_id, by)):
            return done
        [(name,)] = found
        say(store, name, name.endswith("True"), by)
    return most
