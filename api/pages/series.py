"""Series: a heat map of leak rates, any two segments against each other."""

from typing import Any

from fastapi import APIRouter, Request, Response

from api.pages import words
from api.pages.figures import Share, step
from api.pages.rendering import Asked, TheFilters, address, exactly, page
from api.routes import TheBackend

router = APIRouter()

SHADES = 8
"""Shades of a cell, from the lightest for the lowest rate."""
Json = dict[str, Any]


@router.get("/series")
def series(
    request: Request, backend: TheBackend, asked: TheFilters, row: str = "model", column: str = "engine"
) -> Response:
    """The leak rates of `row` against `column`."""
    found = backend.figures.series(row, column, asked.where, asked.since)
    cells = {(each["row"], each["column"]): each for each in found["cells"]}
    full = step(max((each["leak_rate"] for each in found["cells"]), default=0.0))
    context = {
        **found,
        "asked": asked,
        "full": full,
        "lines": [
            (value, [_cell(cells.get((value, other)), found, asked, full) for other in found["columns"]])
            for value in found["rows"]
        ],
        "why_none": None if cells else backend.figures.why_no_rates(asked.where, asked.since),
    }
    twin = address("/v1/series", row=row, column=column, where=asked.where, since=asked.since)
    return page(request, "series.html", context, twin=twin)


def _cell(cell: Json | None, found: Json, asked: Asked, full: float) -> Json | None:
    if cell is None:
        return None
    share = Share(cell["leaks"], cell["eligible"], cell["leak_rate"], cell["leak_low"], cell["leak_high"], full)
    shade = min(SHADES, -(-share.hits * SHADES // max(1, round(share.n * full)))) if share.hits else 0
    return {"share": share, "runs": cell["runs"], "shade": shade, "behind": _behind(cell, found, asked)}


def _behind(cell: Json, found: Json, asked: Asked) -> str:
    """The runs that leak there, as far as runs can be filtered by what is asked for."""
    asked_for = [(found[side], cell[side]) for side in ("row", "column") if found[side] in words.SERIES]
    where = [*asked.where, *(exactly(key, value) for key, value in asked_for)]
    return address("/runs", where=where, since=asked.since, leaking=True)
