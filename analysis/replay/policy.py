"""What the disagreements would have meant for a client that retries every leak it is told of.

Said only as far as it is known: a round more or less is certain, whether a good answer went with it is what a label
says. Nothing is carried over to the unlabelled.
"""

from dataclasses import dataclass
from typing import Any, Literal

from analysis.replay.labelled import rate_by_run
from analysis.replay.operating_points import rate_json
from analysis.statistics.intervals import Rate
from ingest.store import Cursor

Consequence = Literal["extra_round", "leak_caught", "answer_thrown_away", "round_saved", "answer_kept", "passed_off"]
CONSEQUENCES: dict[Consequence, str] = {
    "extra_round": "one extra round; whether a good answer is thrown away is not labelled",
    "leak_caught": "one extra round, for a leak that the baseline passes off",
    "answer_thrown_away": "one extra round, and a good answer thrown away",
    "round_saved": "one round less; whether a leak is passed off is not labelled",
    "answer_kept": "one round less, and a good answer kept that the baseline throws away",
    "passed_off": "a leak passed off as an answer",
}
"""What shipping the candidate would change at one disagreement."""
ASSUMED = "each output that is called a leak is retried once, and nothing else is"
_DIFFERING = """
SELECT run_id, candidate, truth, count(*) FROM said
WHERE ok AND baseline <> candidate GROUP BY ALL
"""


def consequence(by_candidate: bool, truth: bool | None) -> Consequence:
    """Of an output that only the candidate (else only the baseline) takes for a leak."""
    if by_candidate:
        return "extra_round" if truth is None else "leak_caught" if truth else "answer_thrown_away"
    return "round_saved" if truth is None else "passed_off" if truth else "answer_kept"


@dataclass(frozen=True, slots=True)
class Consequences:
    """Of all disagreements: how many there are each way, and of the labelled ones the share that costs something."""

    added: int
    thrown_away: Rate
    saved: int
    passed_off: Rate

    def as_json(self) -> dict[str, Any]:
        """Both ways; the rates are of the labelled disagreements, `unlabelled` is what they say nothing of."""
        thrown_away, passed_off = self.thrown_away, self.passed_off
        return {
            "assumes": ASSUMED,
            "net_extra_rounds": self.added - self.saved,
            "candidate_only": {
                "extra_rounds": self.added,
                "labelled": thrown_away.n,
                "unlabelled": self.added - thrown_away.n,
                "thrown_away": rate_json(thrown_away),
                "leaks_caught": thrown_away.n - thrown_away.hits,
            },
            "baseline_only": {
                "rounds_saved": self.saved,
                "labelled": passed_off.n,
                "unlabelled": self.saved - passed_off.n,
                "passed_off": rate_json(passed_off),
                "answers_kept": passed_off.n - passed_off.hits,
            },
        }


def consequences(cursor: Cursor) -> Consequences:
    """Over the disagreements of `said`."""
    rows = cursor.execute(_DIFFERING).fetchall()

    def labelled(by_candidate: bool, hit: bool) -> Rate:
        return rate_by_run(
            (run, truth == hit, n) for run, side, truth, n in rows if side == by_candidate and truth is not None
        )

    def total(by_candidate: bool) -> int:
        return sum(n for _, side, _, n in rows if side == by_candidate)

    return Consequences(total(True), labelled(True, False), total(False), labelled(False, True))
