"""The cells of a heat map from the rollups: any two of series fields, sizes of requests, and what leaks are like."""

from analysis.filters import Filters
from analysis.request_sizes import NUMBERS, in_words
from analysis.rollups.asking import RATES, Rolled, condition, rolled
from analysis.rollups.leaks import LEAK_SUMS
from analysis.rollups.sizes import COUNTED, LIKE, tables

_SUMS = ", ".join(f"sum({name}) AS {name}" for name in LEAK_SUMS)
_ALL = f"""
SELECT nullif(of_row, ''), nullif(of_column, ''), {_SUMS} FROM ({{parts}}) GROUP BY of_row, of_column
"""  # noqa: S608 - our own names
_LEAKING = """
WITH eligible AS (
    SELECT of_row, of_column, sum(eligible) AS n, sum(runs) AS runs, sum(nn) AS nn FROM ({parts})
    GROUP BY of_row, of_column
), leaking_runs AS (
    SELECT {keys}, {like}, run_id, simple, sum(leaks) AS leaks, any_value({n}) AS n
    FROM run_leaks d JOIN rollup_series s USING (series_id) WHERE {condition}
    GROUP BY of_row, of_column, leak_row, leak_column, run_id, simple
), other_runs AS (
    SELECT {keys}, run_id, sum(n) AS n FROM {runs} d JOIN rollup_series s USING (series_id)
    WHERE NOT simple AND {condition} GROUP BY of_row, of_column, run_id
), counted AS (
    FROM leaking_runs WHERE simple
    UNION ALL BY NAME
    SELECT l.* REPLACE (o.n AS n) FROM leaking_runs l JOIN other_runs o USING (of_row, of_column, run_id)
    WHERE NOT l.simple
), leaking AS (
    SELECT of_row, of_column, leak_row, leak_column, sum(leaks) AS leaks, sum(n * leaks) AS ny,
        sum(leaks * leaks) AS yy
    FROM counted GROUP BY of_row, of_column, leak_row, leak_column
)
SELECT nullif(of_row || leak_row, ''), nullif(of_column || leak_column, ''), leaks, n, runs, nn, ny, yy
FROM eligible JOIN leaking USING (of_row, of_column)
"""
"""A simple run has all its generations of a cell in one row's `n`; those of another run are in several rows."""


def cells(row: str, column: str, filters: Filters) -> Rolled:
    """Rows of the value of `row`, that of `column`, leaks, eligible, runs, and the sums of n*n, n*leaks and
    leaks*leaks; under filters that the rollups answer."""
    sizes = tuple(name for name in NUMBERS if name in (row, column))
    of = tables(sizes) if sizes else RATES
    keys = {"of_row": _eligible(row), "of_column": _eligible(column)}
    if not {row, column} & {*LIKE}:
        parts = rolled(keys, filters, "tools_known", LEAK_SUMS, of)
        return Rolled(_ALL.format(parts=parts.sql), parts.parameters)
    parts = rolled(keys, filters, "tools_known", ("eligible", "runs", "nn"), of)
    sql = _LEAKING.format(
        parts=parts.sql,
        keys=", ".join(f"{sql} AS {name}" for name, sql in keys.items()),
        like=f"{_leak(row)} AS leak_row, {_leak(column)} AS leak_column",
        n=f"d.{COUNTED[sizes]}",
        runs=of.runs,
        condition=f"{condition(filters).sql} AND tools_known",
    )
    return Rolled(sql, parts.parameters)


def _eligible(name: str) -> str:
    """Of every generation; of what leaks are like all are alike."""
    if name in LIKE:
        return "''"
    return f"coalesce({in_words(name, f'd.{name}') if name in NUMBERS else f's.{name}'}, '')"


def _leak(name: str) -> str:
    return f"coalesce(d.{name}, '')" if name in LIKE else "''"
