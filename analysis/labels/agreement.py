"""How far people agree, two at a time, and how far weak evidence agrees with them."""

from typing import Any

from analysis.labels.coverage import of_store
from analysis.labels.evidence import against_truth
from analysis.statistics.agreement import cohen
from analysis.statistics.intervals import Rate, rate
from ingest.store import Store

_PEOPLE = """
SELECT by_whom, count(*), count(*) FILTER (leak), count(*) FILTER (NOT leak), count(*) FILTER (leak IS NULL)
FROM last_words WHERE NOT resolution GROUP BY by_whom ORDER BY by_whom
"""
_PAIRS = """
SELECT a.by_whom, b.by_whom, count(*) FILTER (a.leak AND b.leak), count(*) FILTER (a.leak AND NOT b.leak),
    count(*) FILTER (NOT a.leak AND b.leak), count(*) FILTER (NOT a.leak AND NOT b.leak),
    count(*) FILTER (a.leak IS NULL OR b.leak IS NULL)
FROM last_words a JOIN last_words b ON b.verdict_key = a.verdict_key AND b.by_whom > a.by_whom
WHERE NOT a.resolution AND NOT b.resolution GROUP BY a.by_whom, b.by_whom ORDER BY a.by_whom, b.by_whom
"""


def agreement(store: Store) -> dict[str, Any]:
    """As JSON: `coverage` of the store, `people` with what they said last, `pairs` who labelled the same outputs, and
    `evidence`, weak evidence against truth."""
    with store.cursor() as cursor:
        people = cursor.execute(_PEOPLE).fetchall()
        pairs = cursor.execute(_PAIRS).fetchall()
    names = ("by", "labels", "leak", "clean", "unsure")
    return {
        "coverage": of_store(store),
        "people": [dict(zip(names, row, strict=True)) for row in people],
        "pairs": [_pair(*row) for row in pairs],
        "evidence": against_truth(store),
    }


def _pair(
    first: str, second: str, both_leak: int, first_only: int, second_only: int, both_clean: int, unsure: int
) -> dict[str, Any]:
    """Two people on the outputs of which both said leak or not; those where one is unsure are counted apart."""
    kappa = cohen(both_leak, first_only, second_only, both_clean)
    return {
        "first": first,
        "second": second,
        "n": kappa.n,
        "both_leak": both_leak,
        "first_only": first_only,
        "second_only": second_only,
        "both_clean": both_clean,
        "unsure": unsure,
        **share("agreement", rate(both_leak + both_clean, kappa.n)),
        "kappa": kappa.value,
        "kappa_low": kappa.low,
        "kappa_high": kappa.high,
    }


def share(name: str, of: Rate) -> dict[str, float | None]:
    """A rate under `name`, with its interval."""
    return {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}
