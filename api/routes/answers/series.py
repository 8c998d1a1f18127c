"""What the route of series answers: the keys that stay."""

from api.routes.answers.base import Answer, Count, Share


class Cell(Answer):
    """A row's value against a column's; null is "not told". `eligible`: what the leaks are of."""

    row: str | None
    column: str | None
    leaks: Count
    eligible: Count
    leak_rate: Share | None
    leak_low: Share | None
    leak_high: Share | None
    runs: Count


class Beyond(Answer):
    """Values that are not among the rows and columns."""

    rows: Count
    columns: Count


class Matrix(Answer):
    """The cells that there are."""

    detector: str
    row: str
    column: str
    rows: list[str | None]
    columns: list[str | None]
    cells: list[Cell]
    left_out: Beyond
