"""Coverage: of how many outputs the labels tell. A figure over labels never travels without it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.labels.turns import COMPARED, outputs
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

_STORE = f"SELECT state, count(*) FROM label_states WHERE verdict_key IN ({COMPARED}) GROUP BY state"  # noqa: S608 - our own
_ASIDE = """
SELECT count(*) FILTER (verdict_key IS NULL AND NOT here), count(*) FILTER (verdict_key IS NULL AND here),
    count(*) FILTER (verdict_key IS NOT NULL AND NOT here)
FROM (
    SELECT l.verdict_key, CASE WHEN l.verdict_key IS NULL
        THEN EXISTS (FROM generations g WHERE g.generation_id = l.generation_id
            AND (l.run_id IS NULL OR l.run_id = g.run_id))
        ELSE EXISTS (FROM generations g WHERE g.verdict_key = l.verdict_key) END AS here
    FROM labels l WHERE taken_back_at IS NULL
)
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
    with store.cursor() as cursor:
        covered = Coverage(outputs(store, cursor), **dict(cursor.execute(_STORE).fetchall()))
        unknown, ambiguous, deleted = one(cursor, _ASIDE)
    aside = {"unknown": unknown, "ambiguous": ambiguous, "deleted": deleted}
    return {**covered.as_json(), "leak": covered.leak, "clean": covered.clean, "aside": aside}
