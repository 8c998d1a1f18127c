"""Series: leak rates of any two segments against each other."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from analysis.segments import SEGMENTS
from api.routes import Since, TheBackend, Where
from api.routes.answers.series import Matrix

router = APIRouter(tags=["series"])

_KNOWN = f"One of {', '.join(SEGMENTS)}."
Row = Annotated[str, Query(description=f"The segment of the rows. {_KNOWN}")]
Column = Annotated[str, Query(description=f"The segment of the columns. {_KNOWN}")]


@router.get("/v1/series", response_model=Matrix)
def get_series(
    backend: TheBackend, where: Where, row: Row = "model", column: Column = "engine", since: Since = None
) -> dict[str, Any]:
    """The leak rate of each value of one segment against each of another, with n and 95 % interval."""
    return backend.figures.series(row, column, where, since)
