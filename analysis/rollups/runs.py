"""What there is to know of a run at a glance: the row of a list of runs."""

from ingest.retention.prunings import COVERED
from ingest.store import Cursor, one


def _values(column: str) -> str:
    """The values of a column as a sorted list, each once; list_distinct drops what is not given."""
    return f"list_sort(list_distinct(list(DISTINCT g.{column})))"


RUN_TOTALS = f"""
SELECT g.run_id, min(g.started_at) AS started_at, count(*) AS generations,
    count(*) FILTER (v.tier IN ('certain', 'likely')) AS leaks,
    {_values("model")} AS models, {_values("engine")} AS engines,
    {_values("engine_version")} AS versions, {_values("client")} AS clients
FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
WHERE {COVERED} AND {{condition}} GROUP BY g.run_id
"""  # noqa: S608 - our own names; the condition binds its values


def totals(cursor: Cursor) -> tuple[int, int]:
    """How many runs and generations there are; `cursor` is one of `up_to_date`."""
    runs, generations = one(cursor, "SELECT count(*), coalesce(sum(generations), 0) FROM run_totals")
    return int(runs), int(generations)
