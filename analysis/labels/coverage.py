"""Coverage: of how many outputs the labels tell. A figure over labels never travels without it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.labels.counted import counted
from analysis.rollups.outputs import outputs
from ingest.store import Store, one

CELLS = {
    (True, True): "both",
    (True, False): "baseline_only",
    (False, True): "candidate_only",
    (False, False): "neither",
}
"""The cells of a replay, by (baseline says leak, candidate says leak)."""
_SIDES = {
    "all": ("both", "baseline_only", "candidate_only", "neither"),
    "baseline": ("both", "baseline_only"),
    "candidate": ("both", "candidate_only"),
}
"""What a labelled figure is over: all outputs, or those that one side calls a leak."""

STATES_OF_SAID = """
SELECT baseline, candidate, state, count(*) AS n FROM said JOIN label_states USING (verdict_key) WHERE ok GROUP BY ALL
"""
"""Rows for `of_replay`, from a replay's `said`: the labelled outputs alone, so that it costs little."""

_STORE = """
SELECT state, count(*) FROM label_states WHERE verdict_key IN (SELECT verdict_key FROM labelled WHERE compared)
GROUP BY state
"""
_ASIDE = """
WITH standing AS (FROM labels WHERE taken_back_at IS NULL
), waiting AS (FROM standing WHERE verdict_key IS NULL
), ambiguous AS (
    SELECT DISTINCT w.key FROM waiting w JOIN generations g ON g.generation_id = w.generation_id
    WHERE w.run_id IS NULL OR w.run_id = g.run_id
)
SELECT (SELECT count(*) FROM waiting WHERE key NOT IN (SELECT key FROM ambiguous)),
    (SELECT count(*) FROM waiting WHERE key IN (SELECT key FROM ambiguous)),
    (SELECT count(*) FROM standing
        WHERE verdict_key IS NOT NULL AND verdict_key NOT IN (SELECT verdict_key FROM labelled))
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of so many outputs (`of`), how many the labels call a leak or clean; unsure and in conflict beside them."""

    of: int
    leak: int = 0
    clean: int = 0
    unsure: int = 0
    conflict: int = 0

    @property
    def labelled(self) -> int:
        """Outputs whose truth is known."""
        return self.leak + self.clean

    def __add__(self, other: "Coverage") -> "Coverage":
        return Coverage(
            self.of + other.of,
            self.leak + other.leak,
            self.clean + other.clean,
            self.unsure + other.unsure,
            self.conflict + other.conflict,
        )

    def as_json(self) -> dict[str, Any]:
        """Counts, and the share that is labelled; None of no outputs."""
        return {
            "labelled": self.labelled,
            "of": self.of,
            "share": self.labelled / self.of if self.of else None,
            "unsure": self.unsure,
            "conflict": self.conflict,
        }


def of_replay(cells: Mapping[str, int], states: Iterable[tuple[bool, bool, str, int]]) -> dict[str, Any]:
    """The coverage of each cell and side of a replay, as JSON.

    `cells` counts the outputs of each cell by its name; `states` are the rows of STATES_OF_SAID. `all` covers
    recall and McNemar's p, `baseline` and `candidate` the precision of that side.
    """
    found = {name: Coverage(cells[name]) for name in CELLS.values()}
    for baseline, candidate, state, n in states:
        found[CELLS[baseline, candidate]] += Coverage(0, **{state: n})
    sides = {side: sum((found[name] for name in names), Coverage(0)) for side, names in _SIDES.items()}
    return {name: each.as_json() for name, each in {**sides, **found}.items()}


def of_store(store: Store) -> dict[str, Any]:
    """The coverage of all different outputs of agents that are not empty, as JSON; and the labels kept `aside`:
    of a generation that is not here, of an id that names several outputs, of an output that was deleted since."""
    with counted(store) as cursor:
        covered = Coverage(outputs(cursor), **dict(cursor.execute(_STORE).fetchall()))
        unknown, ambiguous, deleted = one(cursor, _ASIDE)
    aside = {"unknown": unknown, "ambiguous": ambiguous, "deleted": deleted}
    return {**covered.as_json(), "leak": covered.leak, "clean": covered.clean, "aside": aside}
