"""What the heat map needs beside series: the generations of each run by the sizes of their requests, its leaks by what
they are like, and the sums of simple runs by size. Only of generations whose tools are known, as the heat map is."""

from analysis.request_sizes import NUMBERS, TABLE
from analysis.rollups.asking import Tables
from analysis.rollups.counts import SAME_SERIES
from ingest.retention.prunings import COVERED, JUDGED
from ingest.store import Cursor

LIKE = ("family", "kind", "channel", "tool")
"""What leaks are like."""
SPLITS = {
    ("tools_offered",): "tools_offered",
    ("prompt_tokens",): "prompt_tokens",
    ("tools_offered", "prompt_tokens"): "both",
}
"""By which sizes there are sums, and what `split` says there."""
COUNTED = {(): "n", ("tools_offered",): "n_tools", ("prompt_tokens",): "n_prompt", tuple(NUMBERS): "n_both"}
"""The column of `run_leaks` that counts the generations of the run that are alike in these sizes."""

_LEAK = "v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call'"
_SIZES = ", ".join(f"{sql} AS {name}" for name, sql in NUMBERS.items())
_COUNTED = f"""
SELECT g.run_id, s_.series_id, g.started_at::DATE AS day, {_SIZES}, {{counts}}
FROM facts g {{join}} verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
JOIN rollup_series s_ ON {SAME_SERIES.replace("s.", "s_.")}
LEFT JOIN {TABLE}
WHERE g.eligible AND g.tools_known AND {COVERED} AND {JUDGED} AND {{condition}} GROUP BY ALL
"""  # noqa: S608 - our own names; the condition binds its values
_SAME_ROW = "r.run_id = c.run_id AND r.series_id = c.series_id AND r.day IS NOT DISTINCT FROM c.day"
_RUN_SIZES = f"""
INSERT INTO run_sizes BY NAME
SELECT c.*, r.simple FROM ({_COUNTED}) c JOIN run_rates r ON {_SAME_ROW} ORDER BY c.series_id, c.day, c.run_id
"""  # noqa: S608 - our own names
_SAME_SIZES = " AND ".join(f"r.{name} IS NOT DISTINCT FROM c.{name}" for name in NUMBERS)
_RUN_LEAKS = f"""
INSERT INTO run_leaks BY NAME
WITH c AS MATERIALIZED ({_COUNTED}), sized AS (
    SELECT * EXCLUDE (leaks) RENAME (n AS n_both), sum(n) OVER of_run AS n,
        sum(n) OVER (of_run_tools) AS n_tools, sum(n) OVER (of_run_prompt) AS n_prompt
    FROM run_sizes WHERE run_id IN (SELECT run_id FROM c)
    WINDOW of_run AS (PARTITION BY run_id, series_id, day),
        of_run_tools AS (PARTITION BY run_id, series_id, day, tools_offered),
        of_run_prompt AS (PARTITION BY run_id, series_id, day, prompt_tokens)
)
SELECT c.*, r.simple, r.n, r.n_tools, r.n_prompt, r.n_both FROM c JOIN sized r ON {_SAME_ROW} AND {_SAME_SIZES}
ORDER BY c.series_id, c.day, c.run_id
"""  # noqa: S608 - our own names
_DAY_SIZES = """
INSERT INTO day_sizes BY NAME
SELECT '{split}' AS split, series_id, day, {sizes}, sum(n) AS eligible, count(*) AS runs, sum(n * n) AS nn,
    sum(leaks) AS leaks, sum(n * leaks) AS n_leaks, sum(leaks * leaks) AS leaks_2
FROM (
    SELECT run_id, series_id, day, {sizes}, sum(n) AS n, sum(leaks) AS leaks FROM run_sizes
    WHERE simple AND {held} GROUP BY ALL
) GROUP BY ALL
"""


def count_sizes(cursor: Cursor, detector_id: str, among: str) -> None:
    """The runs for which the condition `among` holds; their rows of `run_rates` must stand."""
    given = {"detector": detector_id}
    counts = f"count(*) AS n, count(*) FILTER ({_LEAK}) AS leaks"
    cursor.execute(_RUN_SIZES.format(counts=counts, join="LEFT JOIN", condition=among), given)
    like = ", ".join(f"v.{name}" for name in LIKE) + ", count(*) AS leaks"
    cursor.execute(_RUN_LEAKS.format(counts=like, join="JOIN", condition=f"{_LEAK} AND {among}"), given)


def sum_sizes(cursor: Cursor, held: str) -> None:
    """The sums of the simple runs for whose rows the condition `held` holds."""
    for sizes, split in SPLITS.items():
        cursor.execute(_DAY_SIZES.format(split=split, sizes=", ".join(sizes), held=held))


def tables(sizes: tuple[str, ...]) -> Tables:
    """Where generations are counted by `sizes`, one or more in the order of `SPLITS`."""
    return Tables(f"(FROM day_sizes WHERE split = '{SPLITS[sizes]}')", "run_sizes", ("n", "leaks"))
