"""Why no generation counts: what `rates` says in place of an empty table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.filters import Filters
    from ingest.store import Store

_REASONS = """
SELECT CASE
    WHEN NOT coalesce({condition}, false) THEN 'do not match the filter'
    WHEN coalesce(attempt, 0) > 0 THEN 'are retries'
    WHEN coalesce(role, 'agent') NOT IN ('agent', 'subagent') THEN 'are not of an agent'
    WHEN status IN ('error', 'cancelled') AND reply = 'empty' THEN 'ended without output'
    WHEN mode = 'text' THEN 'have calls as text by design'
    ELSE 'had no tools to call' END AS reason, count(*) AS n
FROM facts WHERE NOT (eligible AND coalesce({condition}, false)) GROUP BY reason ORDER BY n DESC, reason
"""
"""The order is that of the definition of eligible; the first reason that holds is told."""


def explanation(store: "Store", filters: "Filters") -> str:
    """One line for a person: how many generations there are, and why none of them is eligible."""
    condition, parameters = filters.sql()
    with store.cursor() as cursor:
        reasons = dict(cursor.execute(_REASONS.format(condition=condition), parameters).fetchall())
        [(events,)] = cursor.execute("SELECT count(*) FROM events").fetchall()
    return _said(store.path.name, reasons, events)


def _said(store: str, reasons: Mapping[str, int], events: int) -> str:
    total = sum(reasons.values())
    if not total and events:
        return f"no rate: {store} holds {events:,} events and no generation, and events alone have no denominator"
    if not total:
        return f"no rate: no generation in {store} yet; `leakdown ingest PATH` brings some"
    why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    return (
        f"no rate: none of {total:,} generations is eligible ({why}). Eligible are first attempts of an agent, "
        "with native calls and tools offered"
    )
