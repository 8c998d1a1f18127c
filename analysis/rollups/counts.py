"""What is counted of eligible generations: per run, and in sums over runs. For the rollups and for those who count the
raw rows alike."""

from ingest.records import SERIES
from ingest.retention.prunings import COVERED, JUDGED

TOLD = (*SERIES, "role", "mode")
"""What a row of `rollup_series` tells of its generations, beside whether their tools are known."""
SERIES_KEYS = {name: f"g.{name}" for name in (*SERIES, "mode")} | {"role": "coalesce(g.role, 'agent')"}
"""The same as SQL over `facts g`."""
SAME_SERIES = " AND ".join(
    f"s.{name} IS NOT DISTINCT FROM {sql}" for name, sql in (SERIES_KEYS | {"tools_known": "g.tools_known"}).items()
)
"""Whether a row of `rollup_series s` is that of a generation of `facts g`."""
SHARES = ("structured", "printed", "leaks", "plain")
"""What an eligible generation came out as, each beside its rate: a valid structured call, a printed call, a leak, a
clean answer in words. What is none of them is `other`: an invalid call, an empty reply, an error, a failure of the
detector."""

PER_RUN = f"""
WITH came AS (
    SELECT {{keys}}, g.judged, g.tools_known, g.run_id, v.error, f.key AS leaked_round, f.retried, f.recovered,
        f.answered, f.passed_off, CASE WHEN NOT judged THEN 'unjudged'
        WHEN v.tier IN ('certain', 'likely') THEN CASE v.kind WHEN 'printed_call' THEN 'printed' ELSE 'leak' END
        WHEN v.error IS NOT NULL OR coalesce(g.status, 'ok') IN ('error', 'failed', 'cancelled') THEN 'other'
        WHEN g.reply = 'structured' THEN 'structured'
        WHEN g.reply = 'words' AND coalesce(g.status, 'ok') = 'ok' THEN 'plain' ELSE 'other' END AS came
    FROM (SELECT *, {JUDGED} AS judged FROM facts g
        WHERE eligible AND {COVERED} AND {{condition}}) g
    LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    LEFT JOIN fates f ON f.key = g.key
)
SELECT {{names}}, tools_known, run_id, count(*) FILTER (judged) AS n,
    count(*) FILTER (came = 'structured') AS structured, count(*) FILTER (came = 'printed') AS printed,
    count(*) FILTER (came = 'leak') AS leaks, count(*) FILTER (came = 'plain') AS plain,
    count(error) FILTER (judged) AS errors,
    count(leaked_round) FILTER (came = 'leak') AS rounds,
    count(*) FILTER (retried AND came = 'leak') AS retried,
    count(*) FILTER (recovered AND came = 'leak') AS recovered,
    count(*) FILTER (answered AND came = 'leak') AS answered,
    count(*) FILTER (passed_off AND came = 'leak') AS passed_off,
    count(*) FILTER (NOT judged) AS unjudged
FROM came GROUP BY ALL
"""  # noqa: S608 - our own names; the condition binds its values
"""Needs `fates` (`analysis.recovery.outcomes.follow`). `names` are what `keys` are called."""

COUNTS = ("n", *SHARES, "errors", "rounds", "retried", "recovered", "answered", "passed_off", "unjudged")
"""The counts of a row of `PER_RUN`."""


def _of_share(name: str) -> dict[str, str]:
    return {name: f"sum({name})", f"n_{name}": f"sum(n * {name})", f"{name}_2": f"sum({name} * {name})"}


SUMS = {
    "eligible": "sum(n)",
    "errors": "sum(errors)",
    "runs": "count(*) FILTER (n > 0)",
    "nn": "sum(n * n)",
    **{sum_: sql for share in SHARES for sum_, sql in _of_share(share).items()},
    "rounds": "sum(rounds)",
    "leaked_runs": "count(*) FILTER (rounds > 0)",
    "rr": "sum(rounds * rounds)",
    "rc": "sum(rounds * recovered)",
    "cc": "sum(recovered * recovered)",
    **{name: f"sum({name})" for name in ("retried", "recovered", "answered", "passed_off", "unjudged")},
}
"""What the rates and their intervals by run are made of, as SQL over rows of runs."""


def summed(sums: dict[str, str]) -> str:
    """The sums as columns of a SELECT."""
    return ", ".join(f"{sql} AS {name}" for name, sql in sums.items())
