"""A drawn sample as JSON: what was drawn, how much of it is labelled, which bounds it can reach."""

from datetime import datetime
from typing import Any

from pydantic_core import from_json

from analysis.sampling.cells import STRATA
from analysis.sampling.drawing import Drawn
from analysis.sampling.items import items
from analysis.sampling.reach import budgets, reach
from ingest.errors import NotFound
from ingest.store import Cursor, Store

Json = dict[str, Any]

_SAMPLES = """
SELECT sample_id, baseline, candidate, filters, seed, budget, errors, created_at FROM samples
WHERE $sample IS NULL OR sample_id = $sample ORDER BY sample_id DESC LIMIT {most}
"""
LISTED = 50
"""Samples that a list has."""


def sample(store: Store, sample_id: int) -> Json:
    """One sample. NotFound."""
    found = _read(store, sample_id)
    if not found:
        raise NotFound(f"no sample {sample_id}; `leakdown label sample` draws one")
    return found[0]


def samples(store: Store) -> list[Json]:
    """The latest samples, latest first."""
    return _read(store, None)


def _read(store: Store, sample_id: int | None) -> list[Json]:
    with store.cursor() as cursor:
        rows = cursor.execute(_SAMPLES.format(most=LISTED), {"sample": sample_id}).fetchall()
        return [_sample(cursor, *row) for row in rows]


def _sample(
    cursor: Cursor,
    sample_id: int,
    baseline: str,
    candidate: str,
    filters: str,
    seed: int,
    budget: int,
    errors: int,
    created: datetime,
) -> Json:
    drawn = _strata(cursor, sample_id, errors)
    keys = {each.verdict_key: each.state for each in items(cursor, sample_id)}
    return {
        "sample": sample_id,
        "baseline": baseline,
        "candidate": candidate,
        "where": from_json(filters).get("where", []),
        "seed": seed,
        "budget": budget,
        "created_at": f"{created.isoformat()}Z",
        "generations": sum(drawn.sizes.values()),
        "errors": errors,
        "drawn": sum(drawn.drawn.values()),
        "outputs": len(keys),
        "labelled": sum(state not in ("waiting", "gone") for state in keys.values()),
        "strata": [_row(drawn, name) for name in STRATA],
        "reach": reach(drawn.sizes, drawn.drawn),
        "budgets": budgets(drawn.sizes),
    }


def _strata(cursor: Cursor, sample_id: int, errors: int) -> Drawn:
    sql = "SELECT stratum, generations, drawn FROM sample_strata WHERE sample_id = $1"
    rows = cursor.execute(sql, [sample_id]).fetchall()
    return Drawn(sample_id, {name: n for name, n, _ in rows}, {name: drawn for name, _, drawn in rows}, errors)


def _row(of: Drawn, name: str) -> Json:
    size, drawn = of.sizes[name], of.drawn[name]
    return {"stratum": name, "generations": size, "drawn": drawn, "probability": drawn / size if size else None}
