"""What became of the drawn outputs: which have a truth, which were looked at without one, which wait."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from analysis.statistics.stratified import Stratum
from ingest.store import Cursor

State = Literal["leak", "clean", "unsure", "conflict", "gone", "waiting"]

_STATES = """
SELECT d.stratum, d.verdict_key::VARCHAR, CASE
    WHEN s.state IS NOT NULL THEN s.state
    WHEN d.verdict_key IN (SELECT verdict_key FROM generations) THEN 'waiting' ELSE 'gone' END AS state
FROM sample_items d LEFT JOIN label_states s ON s.verdict_key = d.verdict_key
WHERE d.sample_id = $sample ORDER BY d.rank
"""


@dataclass(frozen=True, slots=True)
class Item:
    """A drawn generation: its stratum, the verdict key that a label of it sticks to, what is known of it."""

    stratum: str
    verdict_key: str
    state: State


@dataclass(frozen=True, slots=True)
class Tally:
    """A stratum of a sample: `counts` of the states before the first drawn output that waits, `behind` those of
    the others."""

    generations: int
    drawn: int
    counts: Counter[State]
    behind: Counter[State]

    @property
    def labelled(self) -> int:
        """Draws with a truth that count."""
        return self.counts["leak"] + self.counts["clean"]

    @property
    def out_of_turn(self) -> int:
        """Draws that have an answer and are no part of the estimate."""
        return self.behind.total() - self.behind["waiting"]

    @property
    def stratum(self) -> Stratum:
        """As statistics take it. What nobody can say any more counts as unknown."""
        looked = self.counts.total()
        return Stratum(
            size=self.generations,
            looked=looked,
            leaks=self.counts["leak"],
            unknown=looked - self.labelled,
            more_leaks=self.behind["leak"],
            more_clean=self.behind["clean"],
        )


def items(cursor: Cursor, sample_id: int) -> list[Item]:
    """The drawn generations, those of one stratum in the order of their draw."""
    return [Item(*row) for row in cursor.execute(_STATES, {"sample": sample_id}).fetchall()]


def tally(generations: int, states: Iterable[State]) -> Tally:
    """A stratum of so many generations, from the states of its draws in their order.

    What counts ends at the first that waits: a beginning of a random order is a random draw; what was labelled for
    another reason (because it looked like a leak) is none.
    """
    in_order = list(states)
    end = in_order.index("waiting") if "waiting" in in_order else len(in_order)
    return Tally(generations, len(in_order), Counter(in_order[:end]), Counter(in_order[end:]))
