"""What there is to know of a run at a glance: the row of a list of runs."""

from analysis.recovery.outcomes import Among
from ingest.retention.prunings import COVERED
from ingest.store import Cursor, one


def _values(column: str) -> str:
    """The values of a column as a sorted list, each once; list_distinct drops what is not given."""
    return f"list_sort(list_distinct(list(DISTINCT g.{column})))"


RUN_TOTALS = f"""
SELECT g.run_id, min(g.started_at) AS started_at, count(*) AS generations,
    count(*) FILTER (v.tier IN ('certain', 'likely')) AS leaks,
    {_values("model")} AS models, {_values("engine")} AS engines,
    {_values("engine_version")} AS versions, {_values("client")} AS clients,
    min(g.upload_id) AS first_upload, max(g.upload_id) AS last_upload, min(g.line) AS first_line,
    max(g.line) AS last_line
FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
WHERE {COVERED} AND {{condition}} GROUP BY g.run_id
"""  # noqa: S608 - our own names; the condition binds its values

COUNT_RUNS = f"""
INSERT INTO run_totals BY NAME
SELECT *, md5_number_lower(run_id) AS run_hash FROM ({RUN_TOTALS}) ORDER BY run_hash
"""  # noqa: S608 - our own names
_PLACE = """
SELECT first_upload, last_upload, first_line, last_line FROM run_totals
WHERE run_hash = md5_number_lower($1) AND run_id = $1
"""


def place(cursor: Cursor, run_id: str) -> Among:
    """Of a run, on a cursor of `up_to_date`: the condition names the uploads and lines, so that no others are read."""
    sql, names = "run_id = $run", ("first_upload", "last_upload", "first_line", "last_line")
    for row in cursor.execute(_PLACE, [run_id]).fetchall():
        sql += " AND upload_id BETWEEN $first_upload AND $last_upload AND line BETWEEN $first_line AND $last_line"
        return Among(sql, {"run": run_id, **dict(zip(names, row, strict=True))})
    return Among(sql, {"run": run_id})


def totals(cursor: Cursor) -> tuple[int, int]:
    """How many runs and generations there are; `cursor` is one of `up_to_date`."""
    runs, generations = one(cursor, "SELECT count(*), coalesce(sum(generations), 0) FROM run_totals")
    return int(runs), int(generations)
