"""Runs and generations to look at: lists by page, one run with its attempts in order."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, NaiveDatetime, TypeAdapter
from pydantic_core import from_json

from analysis.detectors import Detector
from analysis.faults.rules import fault
from analysis.faults.stored import stored_leak
from analysis.filters import Filters
from analysis.output_columns import output_of_columns
from analysis.paging import MOST, Page, limited, page_of, position
from analysis.paging import PAGE as PAGE
from analysis.recovery.policies import Configured
from analysis.recovery.run_decisions import run_decisions
from analysis.rollups import up_to_date
from analysis.rollups.runs import RUN_TOTALS, place
from ingest.errors import NotFound
from ingest.records import SERIES
from ingest.store import Cursor, Store

_SERIES = ", ".join(f"g.{name}" for name in SERIES)
_VERDICT = "v.kind, v.family, v.tier, v.tool, v.channel, v.start_at AS start, v.end_at AS end, v.markup, v.reason"
_LEAK = "coalesce(v.tier IN ('certain', 'likely'), false)"


_RUNS = """
SELECT run_id, started_at, generations, leaks, models, engines, versions, clients FROM ({per_run})
WHERE (NOT $leaking OR leaks > 0)
    AND ($after IS NULL OR (coalesce(started_at, 'epoch'), run_id) < ($after_time, $after))
ORDER BY coalesce(started_at, 'epoch') DESC, run_id DESC LIMIT $limit
"""
_GENERATIONS = f"""
SELECT g.generation_id, g.run_id, g.turn, g.round, g.attempt, g.started_at, {_SERIES},
    g.mode, g.role, g.status, g.finish_reason, g.eligible, g.tools_known, g.reply, {_LEAK} AS leak,
    {_VERDICT}, t.leak AS truth, p.pruned_at,
    g.upload_id, g.line, g.position
FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
LEFT JOIN truth t ON t.verdict_key = g.verdict_key
LEFT JOIN prunings p ON p.pruning_id = g.pruning
WHERE {{condition}} AND ($leak IS NULL OR {_LEAK} = $leak)
    AND ($after_upload IS NULL OR (g.upload_id, g.line, g.position) > ($after_upload, $after_line, $after_position))
ORDER BY g.upload_id, g.line, g.position LIMIT $limit
"""  # noqa: S608 - our own names; the condition binds its values
_RUN = f"""
WITH of_run AS MATERIALIZED (SELECT * FROM facts WHERE {{place}}
), used AS MATERIALIZED (
    SELECT hash, text FROM texts t
    WHERE EXISTS (
        FROM (SELECT unnest([content, reasoning, tool_calls, raw_text]) AS hash FROM of_run) u WHERE u.hash = t.hash
    )
)
SELECT g.generation_id, g.run_id, g.turn, g.round, g.attempt, g.started_at, {_SERIES},
    g.mode, g.role, g.status, g.finish_reason, g.finish_fidelity, g.text_fidelity, g.tool_choice, g.inferred_names,
    g.eligible, g.tools_known, g.reply,
    c.text AS content, r.text AS reasoning, k.text AS tool_calls, l.tools AS tools, w.text AS raw_text, g.usage,
    {_LEAK} AS leak, {_VERDICT},
    g.linked_by, o.outcome, o.evidence, t.leak AS truth, g.upload_id, g.line, g.key::VARCHAR AS key,
    p.pruned_at, g.tools_offered
FROM of_run g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
LEFT JOIN truth t ON t.verdict_key = g.verdict_key LEFT JOIN outcomes o ON o.key = g.key
LEFT JOIN used c ON c.hash = g.content LEFT JOIN used r ON r.hash = g.reasoning
LEFT JOIN used k ON k.hash = g.tool_calls LEFT JOIN used w ON w.hash = g.raw_text
LEFT JOIN tool_lists l ON l.hash = g.tools LEFT JOIN prunings p ON p.pruning_id = g.pruning
ORDER BY g.turn NULLS FIRST, g.round NULLS FIRST, g.attempt NULLS FIRST, g.started_at, g.upload_id, g.line, g.position
LIMIT $limit
"""  # noqa: S608 - our own names
"""The texts of the run are sought first: a join for each of its columns would go through all texts each time."""
_EVENTS = """
WITH of_run AS MATERIALIZED (SELECT key, generation_id FROM generations WHERE {place}
), told AS MATERIALIZED (FROM events WHERE run_id = $run OR generation IN (SELECT key FROM of_run)
), elsewhere AS (
    SELECT key, generation_id FROM generations
    WHERE key IN (SELECT generation FROM told WHERE generation NOT IN (SELECT key FROM of_run))
)
SELECT e.round, e.reported_at AS at, e.markup, e.leak, e.retried, e.detector, g.generation_id, p.pruned_at
FROM told e LEFT JOIN (FROM of_run UNION ALL FROM elsewhere) g ON g.key = e.generation
LEFT JOIN prunings p ON p.pruning_id = e.pruning ORDER BY e.round, e.leak
"""
"""An event may name another run than its generation's."""
_JSON = ("tool_calls", "tools", "usage", "tool_choice")
_EPOCH = "1970-01-01T00:00:00"
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_RUN_PLACE = TypeAdapter(tuple[NaiveDatetime, str])
_GENERATION_PLACE = TypeAdapter(tuple[_Count, _Count, _Count])
"""Where a page ends: what a cursor holds."""


def runs(
    store: Store,
    detector: Detector,
    filters: Filters,
    *,
    leaking: bool = False,
    after: str | None = None,
    limit: int = PAGE,
) -> Page:
    """Runs, latest first, with their leaks by `detector`; only `leaking` ones if asked. UsageError for a bad cursor."""
    moment, run = position(after, _RUN_PLACE) or (None, None)
    values: dict[str, object] = {"leaking": leaking, "after": run, "after_time": moment, "limit": limited(limit) + 1}
    if filters == Filters():
        with up_to_date(store, detector) as cursor:
            found = _rows(cursor, _RUNS.format(per_run="FROM run_totals"), values)
    else:
        condition, parameters = filters.sql()
        values |= {**parameters, "detector": detector.id}
        with store.cursor() as cursor:
            found = _rows(cursor, _RUNS.format(per_run=RUN_TOTALS.format(condition=condition)), values)
    return page_of(found, limit, lambda row: ((row["started_at"] or _EPOCH).removesuffix("Z"), row["run_id"]))


def generations(
    store: Store,
    detector: Detector,
    filters: Filters,
    *,
    leak: bool | None = None,
    after: str | None = None,
    limit: int = PAGE,
) -> Page:
    """Generations in the order in which they came, with the verdict of `detector`. UsageError for a bad cursor."""
    condition, parameters = filters.sql()
    upload, line, place = position(after, _GENERATION_PLACE) or (None, None, None)
    values = {
        **parameters,
        "detector": detector.id,
        "leak": leak,
        "after_upload": upload,
        "after_line": line,
        "after_position": place,
        "limit": limited(limit) + 1,
    }
    with store.cursor() as cursor:
        found = _rows(cursor, _GENERATIONS.format(condition=condition), values)
    return page_of(found, limit, lambda row: (row["upload_id"], row["line"], row["position"]))


def run(store: Store, detector: Detector, run_id: str, policies: Sequence[Configured] = ()) -> dict[str, Any]:
    """One run: its generations in order (at most MOST), each with text, verdict and outcome, and if it leaked with what
    each of `policies` decides on it and the marks of its round; and the events of the run.

    NotFound if there is neither a generation nor an event of it.
    """
    with up_to_date(store, detector) as cursor:
        where = place(cursor, run_id)
        decided = run_decisions(cursor, detector, where, policies)  # and the outcomes, as a table
        given = {"detector": detector.id, "limit": MOST + 1, **where.parameters}
        found = _rows(cursor, _RUN.format(place=where.sql), given)
        events = _rows(cursor, _EVENTS.format(place=where.sql), {**where.parameters})
    if not found and not events:
        raise NotFound(f"no run {run_id!r}")
    for row in found:
        row["fault"] = fault_of(row)
        row.update({name: from_json(row[name]) for name in _JSON if row[name] is not None})
        row.update(decided.get(row.pop("key"), {"decisions": [], "marks": []}))
    return {
        "run_id": run_id,
        "detector": detector.id,
        "generations": found[:MOST],
        "more": len(found) > MOST,
        "events": events,
    }


def fault_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Whose fault the leak of a generation is, from its row with its texts; None where nothing leaked, and where they
    were pruned."""
    if not row["leak"] or row["pruned_at"]:
        return None
    output = output_of_columns(
        content=row["content"],
        reasoning=row["reasoning"],
        calls=row["tool_calls"],
        tools=row["tools"],
        tools_known=row["tools_known"],
        inferred_names=row["inferred_names"],
        finish_reason=row["finish_reason"],
        mode=row["mode"],
    )
    return fault(stored_leak(row, output, row["raw_text"])).as_json()


def _rows(cursor: Cursor, sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    reading = cursor.execute(sql, values)
    names = [column[0] for column in reading.description or ()]
    return [dict(zip(names, map(_plain, row), strict=True)) for row in reading.fetchall()]


def _plain(value: Any) -> Any:
    return f"{value.isoformat()}Z" if isinstance(value, datetime) else value
