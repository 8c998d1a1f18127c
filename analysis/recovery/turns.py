"""Turns built from stored rows: every round in which the detector found a leak, as a policy would have seen it.

A turn comes once for each of its leaked rounds, with that round in full and what stood before it in numbers, so that
a turn of any length takes the memory of one round. Attempts stand in the order of their numbers, whatever the order
of lines and times. What is odd about a record is marked and kept; a generation whose record tells no round or no
attempt is a round of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any

from pydantic_core import from_json

from analysis.detectors import Finding
from analysis.filters import Filters
from analysis.output import Call, Output
from analysis.recovery.outcomes import ALL, Among, follow
from analysis.recovery.pieces import asked
from analysis.recovery.stored_outputs import Part, parts
from analysis.recovery.turn import Attempt, Mark, Round, Turn, Used
from ingest.store import Cursor

MOST_ATTEMPTS = 64
"""Attempts of a round that are read: what follows is no retry any more, and its texts may be many."""

_ROUNDS = """
CREATE OR REPLACE TEMP TABLE leaked_rounds AS
WITH placed AS (
    SELECT * REPLACE (CASE WHEN told THEN round END AS round), CASE WHEN told THEN NULL ELSE key END AS alone,
        (upload_id, line, position) AS place
    FROM marked WHERE role IN ('agent', 'subagent')
), rounds AS (
    SELECT run_id, role, side, turn, round, alone, min(place) AS place, count(*) AS attempts,
        count(DISTINCT attempt) FILTER (attempt > 0 AND told) AS retries, count(*) FILTER (leak) AS leaks,
        bool_or(leak AND {asked}) AS asked
    FROM placed GROUP BY ALL
), counted AS (
    SELECT *, lag(round) OVER turn_order AS previous,
        count(*) OVER in_turn AS turn_rounds, coalesce(sum(retries) OVER in_turn, 0)::BIGINT AS turn_retries,
        coalesce(sum(leaks) OVER in_turn, 0)::BIGINT AS turn_leaks,
        count(*) OVER in_run AS run_rounds, coalesce(sum(retries) OVER in_run, 0)::BIGINT AS run_retries,
        coalesce(sum(leaks) OVER in_run, 0)::BIGINT AS run_leaks
    FROM rounds
    WINDOW turn_order AS (PARTITION BY run_id, role, side, turn ORDER BY round NULLS FIRST, place),
        in_turn AS (turn_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        in_run AS (PARTITION BY run_id, role, side ORDER BY turn, round NULLS FIRST, place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT row_number() OVER (ORDER BY run_id, role, side, turn, round NULLS FIRST, place) AS group_no, *
FROM counted WHERE leaks > 0 AND asked
"""
_WANTED = """
CREATE OR REPLACE TEMP TABLE wanted AS
SELECT r.group_no, m.key, m.upload_id, m.line FROM leaked_rounds r JOIN marked m
    ON m.run_id = r.run_id AND m.role = r.role AND m.side = r.side AND m.turn = r.turn
    AND ((m.told AND r.alone IS NULL AND m.round = r.round) OR (NOT m.told AND r.alone = m.key))
QUALIFY row_number() OVER (PARTITION BY r.group_no ORDER BY m.attempt, m.upload_id, m.line, m.position) <= $most
"""
_ATTEMPTS = """
SELECT w.group_no, w.key::VARCHAR AS key, g.status, coalesce(g.attempt, 0) AS attempt, g.reply, g.tool_choice,
    g.started_at, v.kind, v.family, v.tier, v.tool, v.channel, v.start_at, v.end_at, v.markup, v.reason, v.calls,
    v.error, t.leak AS truth, g.model, g.provider, g.engine, g.client, g.pruning
FROM wanted w JOIN facts g USING (key, upload_id, line)
LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
LEFT JOIN truth t ON t.verdict_key = g.verdict_key
WHERE w.group_no BETWEEN $first AND $last
ORDER BY w.group_no, coalesce(g.attempt, 0), g.started_at NULLS LAST, g.upload_id, g.line, g.position
"""
_HEADS = """
SELECT group_no, run_id, role, nullif(turn, -1) AS turn, round, alone IS NOT NULL AS alone, previous, attempts,
    turn_rounds, turn_retries, turn_leaks, run_rounds, run_retries, run_leaks
FROM leaked_rounds WHERE group_no BETWEEN $first AND $last
"""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A series without version, template and parser."""

    model: str | None
    provider: str | None
    engine: str | None
    client: str | None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn up to one leaked round, which is its only one here; where it stands, and what people say of its outputs.

    `number`: the turn's, None where the record tells none. `truth`: by an attempt's key, where there is a truth.
    """

    turn: Turn
    run_id: str
    role: str
    number: int | None
    line: Line
    truth: Mapping[str, bool]
    pruned: bool = False
    """Whether a text of it is here no more: no policy can say what it would have done."""

    @property
    def round(self) -> Round:
        """The leaked round."""
        return self.turn.rounds[-1]


def stored_turns(
    cursor: Cursor, detector_id: str, filters: Filters | None = None, among: Among = ALL
) -> Iterator[StoredTurn]:
    """The leaked rounds by the verdicts of `detector_id`, in order by run, role, turn and round, of the runs in
    `among`; also the temporary tables of `follow`. `filters` ask for rounds by their leaks."""
    wanted = asked(filters or Filters(), among)
    follow(cursor, detector_id, among)
    cursor.execute(_ROUNDS.format(asked=wanted.sql), wanted.parameters)
    cursor.execute(_WANTED, {"most": MOST_ATTEMPTS})
    for part in parts(cursor):
        span = {"first": part.first, "last": part.last}
        heads = {head["group_no"]: head for head in _rows(cursor, _HEADS, span)}
        attempts = _rows(cursor, _ATTEMPTS, {"detector": detector_id, **span})
        for group, rows in groupby(attempts, lambda row: row["group_no"]):
            yield _turn(heads[group], [*rows], part)


def _rows(cursor: Cursor, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
    found = cursor.execute(sql, parameters)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _turn(head: Row, rows: list[Row], part: Part) -> StoredTurn:
    attempts = tuple(_attempt(row, *part.outputs[row["key"]]) for row in rows)
    first = rows[0]
    in_turn = Used(head["turn_rounds"], head["turn_retries"], head["turn_leaks"])
    in_run = Used(head["run_rounds"], head["run_retries"], head["run_leaks"])
    return StoredTurn(
        turn=Turn((Round(attempts, head["round"], frozenset(_marks(head, rows))),), first["engine"], in_turn,
                  Used(in_run.rounds - in_turn.rounds, in_run.retries - in_turn.retries, in_run.leaks - in_turn.leaks)),
        run_id=head["run_id"],
        role=head["role"],
        number=head["turn"],
        line=Line(first["model"], first["provider"], first["engine"], first["client"]),
        truth={row["key"]: row["truth"] for row in rows if row["truth"] is not None},
        pruned=any(row["pruning"] is not None for row in rows),
    )  # fmt: skip


def _attempt(row: Row, output: Output, raw_text: str | None) -> Attempt:
    return Attempt(
        output=output,
        finding=_finding(row) if row["tier"] else None,
        status=row["status"] or "ok",
        number=row["attempt"],
        reply=row["reply"],
        judged=row["error"] is None,
        tool_choice=_tool_choice(row["tool_choice"]),
        raw_text=raw_text,
        key=row["key"],
    )


def _finding(row: Row) -> Finding:
    calls = tuple(Call(call["name"], call["arguments"]) for call in from_json(row["calls"] or "[]"))
    names = ("kind", "family", "tier", "tool", "channel", "markup", "reason")
    return Finding(**{name: row[name] for name in names}, start=row["start_at"], end=row["end_at"], calls=calls)


def _tool_choice(stored: str | None) -> str | None:
    """`auto`, `none`, `required`; `named` where the request named a tool. A source may wrap it in an object."""
    value = from_json(stored) if stored else None
    if isinstance(value, dict):
        value = value.get("type") if "function" not in value and "name" not in value else "named"
    return value if value is None or isinstance(value, str) else "named"


def _marks(head: Row, rows: list[Row]) -> Iterator[Mark]:
    """What is odd about a round, as far as its record tells rounds and attempts at all."""
    if head["alone"]:
        yield "place_untold"
        return
    numbers = [row["attempt"] for row in rows]
    if numbers[0] > 0:
        yield "first_attempt_missing"
    if any(later > earlier + 1 for earlier, later in pairwise(numbers)):
        yield "attempt_missing"
    if len(set(numbers)) < len(numbers):
        yield "same_attempt"
    yield from _marks_of_times([row["started_at"] for row in rows if row["started_at"]])
    if head["previous"] is not None and head["round"] > head["previous"] + 1:
        yield "round_missing"
    if head["attempts"] > len(rows):
        yield "attempts_left_out"


def _marks_of_times(times: list[datetime]) -> Iterator[Mark]:
    if any(earlier == later for earlier, later in pairwise(times)):
        yield "same_time"
    if any(earlier > later for earlier, later in pairwise(times)):
        yield "times_disagree"
