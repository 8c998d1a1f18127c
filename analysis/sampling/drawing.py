"""Drawing a sample of generations to label, and keeping it with the chance that each had."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
from pydantic_core import to_json

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.registry import judged
from analysis.sampling.allocation import allocate
from analysis.sampling.cells import DISAGREEMENTS, STRATA
from analysis.sampling.strata import divide
from ingest.errors import UsageError
from ingest.store import Cursor, Store, atomic, insert, one

SEED = 1
MOST_SEED = 2**63 - 1
"""What the store's column holds."""

_DRAW = """
SELECT key::VARCHAR FROM strata WHERE stratum = $stratum
ORDER BY md5(key::VARCHAR || ' ' || $seed::VARCHAR), key LIMIT $drawn
"""
"""The order is a property of a generation and a seed (permanent random numbers: Ohlsson 1995, in Business Survey
Methods, 153-169). So a larger budget, a grown history and another candidate draw mostly what is labelled already."""
_SAMPLE = """
INSERT INTO samples BY NAME SELECT $sample AS sample_id, $baseline AS baseline, $candidate AS candidate,
    (SELECT any_value(fingerprint) FROM detectors WHERE detector = $baseline) AS baseline_fingerprint,
    (SELECT any_value(fingerprint) FROM detectors WHERE detector = $candidate) AS candidate_fingerprint,
    $filters AS filters, $seed AS seed, $budget AS budget, $errors AS errors, $at AS created_at
"""
_ITEMS = """
INSERT INTO sample_items
SELECT $sample, a.place, g.key, g.verdict_key, a.stratum, a.rank, a.probability
FROM arriving a JOIN generations g ON g.key = a.generation::UUID
"""
_COLUMNS = ("place", "generation", "stratum", "rank", "probability")


@dataclass(frozen=True, slots=True)
class Request:
    """What to draw: up to `budget` generations of the population that a replay of the two detectors has."""

    baseline: Detector
    candidate: Detector
    filters: Filters
    budget: int
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn: its id, the sizes of the strata, the draws from each, and the outputs that stood in none."""

    sample_id: int
    sizes: dict[str, int]
    drawn: dict[str, int]
    errors: int


def draw(store: Store, wanted: Request, at: datetime, progress: Callable[[int], object] = lambda _: None) -> Drawn:
    """Draw a sample at the moment `at` (UTC) and keep it, once both detectors have judged the history. UsageError for
    a budget that is no number of outputs to label there, and for a seed that the store cannot keep."""
    if wanted.budget < 1:
        raise UsageError(f"--budget {wanted.budget}: ask for at least one output")
    if not 0 <= wanted.seed <= MOST_SEED:
        raise UsageError(f"--seed {wanted.seed}: give a number from 0 to {MOST_SEED}")
    for each in {wanted.baseline.id: wanted.baseline, wanted.candidate.id: wanted.candidate}.values():
        judged(store, each, progress)
    with store.cursor() as cursor, atomic(cursor):
        sizes, errors = divide(cursor, wanted.baseline, wanted.candidate, wanted.filters)
        _check_budget(wanted.budget, sum(sizes.values()))
        drawn = allocate(sizes, wanted.budget)
        rows = _in_order({name: _keys(cursor, name, drawn[name], wanted.seed) for name in STRATA}, sizes)
    return Drawn(_keep(store, wanted, at, (sizes, drawn, errors), rows), sizes, drawn, errors)


def _check_budget(budget: int, population: int) -> None:
    if not population:
        raise UsageError("no generation to draw: none matches, or a detector failed on each; see `leakdown replay`")
    if budget > population:
        raise UsageError(
            f"--budget {budget}: there are only {population:,} generations to label; ask for at most {population}"
        )


def _keys(cursor: Cursor, stratum: str, drawn: int, seed: int) -> list[str]:
    """The drawn generations of a stratum in the order of the draw."""
    given = {"stratum": stratum, "seed": seed, "drawn": drawn}
    return [key for (key,) in cursor.execute(_DRAW, given).fetchall()] if drawn else []


def _in_order(keys: Mapping[str, list[str]], sizes: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """Rows of `_COLUMNS`: the disagreements first, then the others, each time evenly mixed, so that the place does
    not tell the stratum and whoever stops early has looked at the same share of each."""
    rows = [
        (stratum not in DISAGREEMENTS, (rank - 0.5) / len(drawn), key, stratum, rank, len(drawn) / sizes[stratum])
        for stratum, drawn in keys.items()
        for rank, key in enumerate(drawn, 1)
    ]
    return [(place, *row[2:]) for place, row in enumerate(sorted(rows), 1)]


def _keep(
    store: Store,
    wanted: Request,
    at: datetime,
    strata: tuple[Mapping[str, int], Mapping[str, int], int],
    rows: list[tuple[Any, ...]],
) -> int:
    sizes, drawn, errors = strata
    arriving = pa.table({name: list(values) for name, values in zip(_COLUMNS, zip(*rows, strict=True), strict=True)})
    with store.transaction() as cursor:
        [sample_id] = one(cursor, "SELECT coalesce(max(sample_id), 0) + 1 FROM samples")
        told = {
            "sample": sample_id, "baseline": wanted.baseline.id, "candidate": wanted.candidate.id,
            "filters": filters_text(wanted.filters), "seed": wanted.seed, "budget": wanted.budget, "errors": errors,
            "at": at.replace(tzinfo=None),
        }  # fmt: skip
        cursor.execute(_SAMPLE, told)
        for name in STRATA:
            cursor.execute(
                "INSERT INTO sample_strata VALUES ($1, $2, $3, $4)", [sample_id, name, sizes[name], drawn[name]]
            )
        insert(cursor, _ITEMS, arriving, {"sample": sample_id})
    return int(sample_id)


def filters_text(filters: Filters) -> str:
    """One spelling of the filters for each population that they make: what is not asked for does not stand there."""
    asked = {name: value for name, value in asdict(filters).items() if value}
    if filters.where:
        asked["where"] = sorted({"=".join(pair) for pair in filters.where})
    return to_json(asked).decode()
