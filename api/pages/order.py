"""The order of the rates on a page: series from large to small, the versions of one series next to each other."""

from collections import defaultdict
from typing import Any

from analysis.version_order import VERSIONS, natural


def by_series(rows: list[dict[str, Any]], keys: list[str]) -> list[dict[str, Any]]:
    """`rows` with those that differ only in a version together, the series with most eligible generations first."""
    of_series = [key for key in keys if key not in VERSIONS]
    if not of_series:
        return rows
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        series[tuple(row[key] for key in of_series)].append(row)
    largest = sorted(series.values(), key=lambda each: -sum(row["eligible"] for row in each))
    versions = [key for key in keys if key in VERSIONS]
    return [row for each in largest for row in sorted(each, key=lambda row: [natural(row[key]) for key in versions])]
