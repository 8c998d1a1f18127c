"""The order of the rates on a page: series from large to small, the versions of one series next to each other."""

import re
from collections import defaultdict
from typing import Any

VERSIONS = ("engine_version", "template", "tool_parser", "client_version")
"""Keys that change while a series stays the same one."""

_NUMBER = re.compile(r"([0-9]{1,18})")


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


def natural(version: str | None) -> tuple[bool, list[str | int]]:
    """A key that sorts numbers in a text by their value, so 0.9 comes before 0.10; what is not known comes last."""
    # a pattern with one group makes every other part a number, so like is compared with like
    parts = _NUMBER.split(version or "")
    return version is None, [int(part) if at % 2 else part for at, part in enumerate(parts)]
