"""Reports that are kept and hold what has to go: those of replays quote texts and name runs."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pydantic_core import from_json, to_json

from ingest.columns import Columns, table
from ingest.errors import Conflict
from ingest.store import Cursor, insert

PRUNED = "the text was pruned"
_EMPTY: dict[str, Any] = {"markup": "", "calls": [], "reason": PRUNED, "passages": [], "pieces": [], "error": PRUNED}
_NAMED: Columns = (("run_id", pa.string()), ("generation_id", pa.string()))
_AMONG = "SELECT DISTINCT run_id, generation_id FROM {table} SEMI JOIN named USING (run_id, generation_id)"
_NAMING = """
SELECT job_id, state IN ('queued', 'running') FROM jobs
WHERE contains(result, $id) OR contains(request, $id) OR contains(request, $filter)
"""
Place = tuple[str, str]


def blank(cursor: Cursor, table: str) -> int:
    """Take what is quoted of the generations in `table` (run_id, generation_id) out of every kept report; how many
    reports changed."""
    ids = cursor.execute("SELECT job_id FROM jobs WHERE contains(result, '\"generation_id\":')").fetchall()
    return sum(_blank_one(cursor, job_id, table) for (job_id,) in ids)


def _blank_one(cursor: Cursor, job_id: str, among: str) -> bool:
    [(text,)] = cursor.execute("SELECT result FROM jobs WHERE job_id = $1", [job_id]).fetchall()
    report = from_json(text)
    gone = _gone(cursor, {*_places(report)}, among)
    after = to_json(_without(report, gone)).decode() if gone else text
    if after == text:
        return False
    cursor.execute("UPDATE jobs SET result = $1 WHERE job_id = $2", [after, job_id])
    return True


def _gone(cursor: Cursor, named: set[Place], among: str) -> set[Place]:
    cursor.execute("CREATE OR REPLACE TEMP TABLE named (run_id VARCHAR, generation_id VARCHAR)")
    insert(cursor, "INSERT INTO named FROM arriving", table(_NAMED, sorted(named)))
    found = cursor.execute(_AMONG.format(table=among)).fetchall()
    return {(run_id, generation_id) for run_id, generation_id in found}


def _place(value: Any) -> Place | None:
    """The generation that a part of a report speaks of."""
    if not isinstance(value, dict):
        return None
    run_id, generation_id = value.get("run_id"), value.get("generation_id")
    return (run_id, generation_id) if isinstance(run_id, str) and isinstance(generation_id, str) else None


def _places(value: Any) -> Iterator[Place]:
    if place := _place(value):
        yield place
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _places(part)


def _without(value: Any, gone: set[Place], *, quoted: bool = False) -> Any:
    """`value` with nothing quoted where it speaks of a generation among `gone`."""
    quoted = quoted or _place(value) in gone
    if isinstance(value, dict):
        return {
            name: _EMPTY[name] if quoted and name in _EMPTY and part else _without(part, gone, quoted=quoted)
            for name, part in value.items()
        }
    return [_without(part, gone, quoted=quoted) for part in value] if isinstance(value, list) else value


def drop_naming(cursor: Cursor, run_id: str) -> int:
    """Delete the jobs whose question or report names a run; how many. Conflict while one of them is under way."""
    named = {"id": to_json(run_id).decode(), "filter": to_json(f"run_id={run_id}").decode()}
    jobs = cursor.execute(_NAMING, named).fetchall()
    if any(is_open for _, is_open in jobs):
        raise Conflict(f"a replay that is queued or running names the run {run_id!r}; cancel it, or wait for its end")
    for job_id, _ in jobs:
        cursor.execute("DELETE FROM jobs WHERE job_id = $1", [job_id])
    return len(jobs)
