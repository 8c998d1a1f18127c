"""What became of leaked rounds, by series, kind or family: rates, what retries cost, and good answers thrown away.

Every leaked round of an agent or a sub-agent counts, printed calls too: ask by kind and they stand apart. A round
belongs to the series, kind and family of its first attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.filters import Filters
from analysis.recovery.outcomes import ALL, Among
from analysis.statistics.intervals import Mean, Rate, clustered_mean_from_sums, clustered_rate_from_sums
from ingest.errors import UsageError
from ingest.records import SERIES
from ingest.retention.prunings import COVERED
from ingest.store import Cursor

KEYS = (*SERIES, "kind", "family")
DEFAULT_BY = ("kind",)
Row = tuple[str | None, ...]

SHARES = ("retried", "recovered", "answered", "passed_off", "leaked_again")
"""Of the leaked rounds. `leaked_again`: at least one retry leaked too."""
_RATIOS = (
    *((name, "one", name) for name in SHARES),
    ("retry_leaked_again", "retries", "leaked_retries"),
    ("discarded", "nudged", "discarded"),
    ("extra_rounds", "recovered", "recovered_retries"),
    ("extra_tokens", "recovered_told", "recovered_tokens"),
)
"""Name, what it is out of, what is counted."""
_SPENT = """
CREATE OR REPLACE TEMP TABLE spent AS
WITH retries AS (
    SELECT f.key, g.usage FROM fates JOIN outcomes f USING (key)
    JOIN outcomes o ON o.run_id = f.run_id AND o.role = f.role AND o.side = f.side AND o.turn = f.turn
        AND o.round = f.round AND o.told AND o.attempt > 0
    JOIN generations g ON g.key = o.key WHERE fates.recovered
), counted AS (
    SELECT key, try_cast(usage ->> '$.input_tokens' AS HUGEINT) + try_cast(usage ->> '$.output_tokens' AS HUGEINT)
        AS tokens FROM retries
)
SELECT key, sum(tokens) AS tokens, count(tokens) = count(*) AS told FROM counted GROUP BY key
"""
_DISCARDED = """
CREATE OR REPLACE TEMP TABLE thrown_away AS
SELECT g.key, NOT t.leak AS clean FROM truth t JOIN generations g USING (verdict_key)
WHERE coalesce(g.status, 'ok') = 'ok' AND coalesce(g.role, 'agent') IN ('agent', 'subagent') AND EXISTS (
    FROM generations n WHERE n.run_id = g.run_id AND n.round = g.round AND n.attempt = coalesce(g.attempt, 0) + 1
        AND coalesce(n.role, 'agent') = coalesce(g.role, 'agent') AND n.turn IS NOT DISTINCT FROM g.turn
        AND coalesce(n.client, '') = coalesce(g.client, '')
)
"""
"""Labelled replies that another attempt of their round followed."""
_PER_RUN = f"""
WITH asked AS (
    SELECT {{keys}}, g.run_id, f.key IS NOT NULL AS one, coalesce(f.retries, 0) AS retries,
        coalesce(f.leaked_retries, 0) AS leaked_retries, coalesce(f.retried, false) AS retried,
        coalesce(f.recovered, false) AS recovered, coalesce(f.answered, false) AS answered,
        coalesce(f.passed_off, false) AS passed_off, coalesce(f.leaked_retries > 0, false) AS leaked_again,
        CASE WHEN f.recovered THEN f.retries ELSE 0 END AS recovered_retries,
        coalesce(f.recovered AND s.told, false) AS recovered_told,
        CASE WHEN f.recovered AND s.told THEN s.tokens ELSE 0 END AS recovered_tokens,
        d.key IS NOT NULL AS nudged, coalesce(d.clean, false) AS discarded
    FROM (FROM facts WHERE {{condition}} AND {{among}}) g LEFT JOIN fates f ON f.key = g.key
    LEFT JOIN spent s ON s.key = g.key LEFT JOIN thrown_away d ON d.key = g.key
    LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key AND v.error IS NULL
    WHERE coalesce(g.role, 'agent') IN ('agent', 'subagent') AND {COVERED} AND (f.key IS NOT NULL OR d.key IS NOT NULL)
), per_run AS (
    SELECT {{names}}, run_id, {{counted}} FROM asked GROUP BY {{names}}, run_id
)
SELECT {{names}}, {{sums}} FROM per_run GROUP BY {{names}}
"""  # noqa: S608 - our own names; the condition binds its values
_COUNTS = (
    "one", *SHARES, "retries", "leaked_retries", "recovered_retries", "recovered_told", "recovered_tokens", "nudged",
    "discarded",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RoundRates:
    """One row: leaked rounds of one series, kind or family. Tokens are of retries that tell them, all of a round."""

    by: dict[str, str | None]
    rates: dict[str, Rate]
    extra_rounds: Mean
    extra_tokens: Mean

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON: for each rate its hits, its value and interval; and every n."""
        found: dict[str, Any] = {**self.by, "leaked_rounds": self.rates["retried"].n}
        for name, rate in self.rates.items():
            ends = {f"{name}_rate": rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}
            found |= {name: rate.hits} | ends
        found |= {"retries": self.rates["retry_leaked_again"].n, "nudged_labelled": self.rates["discarded"].n}
        for name, mean in (("extra_rounds", self.extra_rounds), ("extra_tokens", self.extra_tokens)):
            found |= {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high, f"{name}_n": mean.n}
        return found


def checked(by: Sequence[str]) -> tuple[str, ...]:
    """`by` if rates can be told by it; UsageError."""
    if not by or len(set(by)) < len(by) or not set(by) <= set(KEYS):
        raise UsageError(f"--by {','.join(by)}: name one or more of {', '.join(KEYS)}, each once")
    return tuple(by)


@dataclass(slots=True)
class RoundSums:
    """The sums behind the rows by the keys `by`, of the generations that `filters` ask for; runs are added in parts.
    UsageError for keys that are none."""

    detector_id: str
    by: Sequence[str]
    filters: Filters
    _sums: dict[Row, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse keys that are none."""
        self.by = checked(self.by)

    def add(self, cursor: Cursor, among: Among = ALL) -> None:
        """The runs in `among`, which were in none before; on a cursor on which `follow` was called for them."""
        condition, parameters = self.filters.sql()
        cursor.execute(_SPENT)
        cursor.execute(_DISCARDED)
        sql = self._sql().format(condition=condition, among=among.sql)
        given = {"detector": self.detector_id, **parameters, **among.parameters}
        for row in cursor.execute(sql, given).fetchall():
            key, sums = row[: len(self.by)], [int(value) for value in row[len(self.by) :]]
            earlier = self._sums.get(key, [0] * len(sums))
            self._sums[key] = [each + more for each, more in zip(earlier, sums, strict=True)]

    def _sql(self) -> str:
        keys = (f"v.{name}" if name in ("kind", "family") else f"g.{name}" for name in self.by)
        return _PER_RUN.format(
            keys=", ".join(keys),
            names=", ".join(self.by),
            counted=", ".join(f"sum({name}::HUGEINT) AS {name}" for name in _COUNTS),
            sums=", ".join(_sums(n, y) for _, n, y in _RATIOS),
            condition="{condition}",
            among="{among}",
        )

    def rates(self) -> list[RoundRates]:
        """The rows, most leaked rounds first."""
        found = sorted(self._sums.items(), key=lambda item: (-item[1][1], [(each is None, each) for each in item[0]]))
        return [_row(self.by, key, sums) for key, sums in found]


def _sums(n: str, y: str) -> str:
    """Over runs: counted, out of, runs with any, and the sums of n*n, n*y and y*y."""
    return f"sum({y}), sum({n}), count(*) FILTER ({n} > 0), sum({n} * {n}), sum({n} * {y}), sum({y} * {y})"


def _row(by: Sequence[str], key: Row, sums: Sequence[int]) -> RoundRates:
    each = {name: sums[at * 6 : at * 6 + 6] for at, (name, _, _) in enumerate(_RATIOS)}
    means = {name: clustered_mean_from_sums(*each.pop(name)) for name in ("extra_rounds", "extra_tokens")}
    rates = {name: clustered_rate_from_sums(*values) for name, values in each.items()}
    return RoundRates(dict(zip(by, key, strict=True)), rates, **means)
