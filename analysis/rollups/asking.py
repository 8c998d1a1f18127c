"""What the rollups answer, and how: the rows to add up, by any series keys and days."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time

from analysis.filters import Filters
from analysis.rollups.counts import COUNTS, SUMS, TOLD, summed

_PARTS = """
SELECT {keys}, {sums} FROM {days} d JOIN rollup_series s USING (series_id) WHERE {condition} AND {some}
UNION ALL BY NAME
SELECT {names}, {of_runs} FROM (
    SELECT {keys}, run_id, {counts} FROM {runs} d JOIN rollup_series s USING (series_id)
    WHERE NOT simple AND {condition} AND {any} GROUP BY {names}, run_id
) GROUP BY {names}
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the sums of simple runs stand, and the counts of each run."""

    days: str
    runs: str
    counts: tuple[str, ...]


RATES = Tables("day_rates", "run_rates", COUNTS)


@dataclass(frozen=True, slots=True)
class Rolled:
    """A part of the rollups as SQL, with its parameters."""

    sql: str
    parameters: dict[str, object]


def answers(filters: Filters) -> bool:
    """Whether the rollups can answer under `filters`: globs on what a series tells, and whole days."""
    ends = [at for at in (filters.since, filters.until) if at]
    return all(key in TOLD for key, _ in filters.where) and all(map(_begins_a_day, ends))


def _begins_a_day(moment: datetime) -> bool:
    return moment.astimezone(UTC).time() == time()


def condition(filters: Filters) -> Rolled:
    """`filters` as a condition over `rollup_series` and a `day`; they must be ones that the rollups answer."""
    where, parameters = filters.where_sql()
    ends = {name: at for name, at in (("since", filters.since), ("until", filters.until)) if at}
    signs = {"since": ">=", "until": "<"}
    days = [f"coalesce(day {signs[name]} ${name}, false)" for name in ends]
    held = " AND ".join([where, *days])
    return Rolled(held, {**parameters, **{name: at.astimezone(UTC).date() for name, at in ends.items()}})


def rolled(
    keys: dict[str, str], filters: Filters, also: str = "true", sums: Iterable[str] = SUMS, of: Tables = RATES
) -> Rolled:
    """Rows of `keys` (name: SQL over the columns of `rollup_series` and those that both tables have) and `sums`, to be
    added up: a run is in one row alone for the same keys. Where only `unjudged` would be more than nothing, that has to
    be asked for."""
    wanted, held = {name: SUMS[name] for name in sums}, condition(filters)
    all_rows = "unjudged" in wanted
    sql = _PARTS.format(
        keys=", ".join(f"{sql} AS {name}" for name, sql in keys.items()),
        names=", ".join(keys),
        sums=", ".join(wanted),
        of_runs=summed(wanted),
        counts=", ".join(f"sum({name}) AS {name}" for name in of.counts),
        condition=f"{held.sql} AND {also}",
        days=of.days,
        runs=of.runs,
        some="true" if all_rows else "eligible > 0",
        any="true" if all_rows else "n > 0",
    )
    return Rolled(sql, held.parameters)
