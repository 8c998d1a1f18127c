"""The outcome of every leak with the evidence for it, and the fate of every leaked round.

A leak is judged by the next attempt of its round; the last attempt's leak by how the turn went on, and where it
did not, by how it ended. What the record does not tell is `unknown`; so is a reply on which the detector failed or that
was pruned before it could judge it, every leak of a place that several generations claim, and one that was reprimanded
before the record ended. Numbers that a record lacks: no turn is part of the run's one turn, no attempt is 0, and no
round at all in a run is the order in the run, as far as lines and times agree on it. Several clients that write one
run are told apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from ingest.retention.prunings import COVERED, JUDGED
from ingest.store import Cursor

Outcome = Literal["structured", "answered", "leaked_again", "passed_off", "errored", "cancelled", "unknown"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Evidence = Literal[
    "explicit_attempt", "attempt_group", "host_instruction", "nudge", "reprimand", "identical_request", "after_error",
    "next_round", "order", "end_of_turn", "end_of_run", "status", "none",
]  # fmt: skip
"""What an outcome rests on. The first seven: what makes the next generation an attempt of the same round. `next_round`:
the next round of the turn; `order`: the next in a run whose record numbers nothing; `end_of_turn`, `end_of_run`:
nothing follows; `status`: the leaked reply's own; `none`: the record does not tell."""
EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)

_CHOSEN = f"""
CREATE OR REPLACE TEMP TABLE chosen AS
SELECT g.key, g.run_id, coalesce(g.role, 'agent') AS role, g.client, g.turn, g.round, g.attempt, g.linked_by,
    g.upload_id, g.line, g.position, g.started_at, coalesce(g.status, 'ok') AS status, g.reply,
    coalesce(v.tier IN ('certain', 'likely'), false) AS leak, v.error IS NOT NULL OR NOT {JUDGED} AS unjudged,
    coalesce(contains(g.extra, '"reprimand":'), false)
        AND coalesce(TRY(json_extract_string(g.extra, '$.reprimand')), '') <> '' AS reprimanded
FROM generations g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
WHERE EXISTS (
    FROM generations l JOIN verdicts w ON w.detector = $detector AND w.verdict_key = l.verdict_key
    WHERE l.run_id = g.run_id AND w.tier IN ('certain', 'likely') AND {{among}}
) AND {COVERED} AND {{among}}
"""  # noqa: S608 - our own names
_MARKED = """
CREATE OR REPLACE TEMP TABLE marked AS
WITH ordered AS (
    SELECT *, max(started_at) OVER before > started_at AS back, max(upload_id) OVER before < upload_id AS next_file
    FROM chosen WINDOW before AS (PARTITION BY run_id, role ORDER BY upload_id, line, position
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), runs AS (
    SELECT run_id, role, count(*) AS generations, count(round) AS rounds, count(turn) AS turns,
        count(DISTINCT client) AS clients,
        NOT (coalesce(bool_or(back), false) OR (coalesce(bool_or(next_file), false) AND count(started_at) < count(*)))
            AS in_order
    FROM ordered GROUP BY run_id, role
), sided AS (
    SELECT c.*, r.rounds = 0 AND r.clients < 2 AND r.in_order AS by_order, r.generations > 1 AS in_company,
        r.turns NOT IN (0, r.generations) AS turns_mixed,
        CASE WHEN r.clients > 1 THEN coalesce(c.client, '') ELSE '' END AS side,
        r.clients > 1 AND c.client IS NULL AS stray
    FROM chosen c JOIN runs r USING (run_id, role)
), numbered AS (
    SELECT * REPLACE (
            coalesce(turn, -1) AS turn, coalesce(attempt, 0) AS attempt,
            CASE WHEN by_order THEN count(*) FILTER (coalesce(attempt, 0) = 0) OVER so_far - 1 ELSE round END AS round
        ), (by_order OR round IS NOT NULL) AND NOT stray AS placed,
        round IS NOT NULL AND NOT stray AND (attempt IS NOT NULL OR linked_by IS NOT NULL) AS told,
        lead(linked_by) OVER line_order AS next_link
    FROM sided WINDOW line_order AS (PARTITION BY run_id, role, side ORDER BY upload_id, line, position),
        so_far AS (line_order ROWS UNBOUNDED PRECEDING)
)
SELECT *, placed AND count(*) OVER (PARTITION BY run_id, role, side, turn, round, attempt) > 1 AS doubled FROM numbered
"""
_OUTCOMES = """
CREATE OR REPLACE TEMP TABLE outcomes AS
WITH judged AS (
    SELECT *, CASE
        WHEN doubled THEN 'unknown'
        WHEN leak THEN 'leaked_again' WHEN status IN ('error', 'failed') THEN 'errored'
        WHEN status = 'cancelled' THEN 'cancelled' WHEN unjudged THEN 'unknown'
        WHEN reply = 'structured' THEN 'structured'
        WHEN reply = 'words' AND status = 'ok' THEN 'answered' ELSE 'unknown' END AS as_follow_up,
        CASE WHEN status IN ('error', 'failed') THEN 'errored' WHEN status = 'cancelled' THEN 'cancelled'
        WHEN status <> 'ok' OR reprimanded OR turns_mixed OR next_link IS NOT DISTINCT FROM 'unclear' THEN 'unknown'
        WHEN by_order AND NOT in_company THEN 'unknown' ELSE 'passed_off' END AS as_last_of_turn,
        CASE WHEN linked_by IN ('attempt_group', 'host_instruction', 'nudge', 'reprimand', 'identical_request',
            'after_error') THEN linked_by END AS linked_as
    FROM marked WHERE placed
), followed AS (
    SELECT *, lead(as_follow_up) OVER turn_order AS next_in_turn,
        CASE WHEN lead(round) OVER turn_order = round THEN coalesce(
                lead(linked_as) OVER turn_order, CASE WHEN reprimanded THEN 'reprimand' ELSE 'explicit_attempt' END)
            WHEN by_order THEN 'order' ELSE 'next_round' END AS link,
        row_number() OVER round_order AS attempt_from_last
    FROM judged
    WINDOW turn_order AS (PARTITION BY run_id, role, side, turn ORDER BY round, attempt, upload_id, line, position),
        round_order AS (PARTITION BY run_id, role, side, turn, round
            ORDER BY attempt DESC, upload_id DESC, line DESC, position DESC)
), told AS (
    SELECT *, CASE WHEN doubled THEN 'unknown' ELSE coalesce(next_in_turn, as_last_of_turn) END AS leak_outcome
    FROM followed
)
SELECT key, run_id, role, side, turn, round, attempt, leak, told, doubled, attempt_from_last, as_follow_up,
    CASE WHEN leak THEN leak_outcome END AS outcome,
    CASE WHEN NOT leak THEN NULL WHEN doubled THEN 'none' WHEN next_in_turn IS NOT NULL THEN link
        WHEN status <> 'ok' THEN 'status' WHEN reprimanded THEN 'reprimand' WHEN leak_outcome = 'unknown' THEN 'none'
        WHEN by_order THEN 'end_of_run' ELSE 'end_of_turn' END AS evidence
FROM told
UNION ALL BY NAME
SELECT key, run_id, role, side, turn, round, attempt, leak, false AS told, 'unknown' AS outcome, 'none' AS evidence
FROM marked WHERE leak AND NOT placed
"""
_FATES = """
CREATE OR REPLACE TEMP TABLE fates AS
SELECT f.key, count(*) FILTER (o.attempt > 0) AS retries, retries > 0 AS retried,
    NOT bool_or(o.doubled) AND bool_or(o.attempt_from_last = 1 AND NOT o.leak AND o.as_follow_up = 'structured')
        AS recovered,
    NOT bool_or(o.doubled) AND bool_or(o.attempt_from_last = 1 AND NOT o.leak AND o.as_follow_up = 'answered')
        AS answered,
    NOT bool_or(o.doubled) AND bool_or(o.attempt_from_last = 1 AND o.outcome IS NOT DISTINCT FROM 'passed_off')
        AS passed_off,
    count(*) FILTER (o.attempt > 0 AND o.leak) AS leaked_retries
FROM outcomes f JOIN outcomes o
    ON o.run_id = f.run_id AND o.role = f.role AND o.side = f.side AND o.turn = f.turn AND o.round = f.round
WHERE f.attempt = 0 AND f.leak AND f.told AND o.told GROUP BY f.key
"""
"""`told` alone: where rounds and attempts are a mere order nobody could see a retry, and a rate would say there was
none."""


@dataclass(frozen=True, slots=True)
class Among:
    """Runs, as a condition over `generations` with its parameters."""

    sql: str = "true"
    parameters: Mapping[str, object] = field(default_factory=dict)


ALL = Among()


def follow(cursor: Cursor, detector_id: str, among: Among = ALL) -> None:
    """Make the temporary tables `outcomes` (key, outcome and evidence of each leak) and `fates` (key of each attempt 0
    that leaked; retries, how many of them leaked, and what became of its round: retried, recovered, answered,
    passed_off), by the verdicts of `detector_id`; of the runs in `among`."""
    cursor.execute(_CHOSEN.format(among=among.sql), {"detector": detector_id, **among.parameters})
    for sql in (_MARKED, _OUTCOMES, _FATES):
        cursor.execute(sql)
