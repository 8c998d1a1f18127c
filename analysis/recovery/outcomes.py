"""The outcome of every leak, and the fate of every leaked round (first form: records that carry round and attempt).

A leak is judged by the next attempt of its round; the last attempt's leak by how the turn went on, and where it
did not, by how it ended. What the record does not tell is `unknown`, and so is a reply on which the detector
failed. A record without a turn is taken as part of the run's one turn.
"""

from ingest.store import Cursor

_MARKED = """
CREATE OR REPLACE TEMP TABLE marked AS
SELECT g.key, g.run_id, coalesce(g.turn, -1) AS turn, g.round, g.attempt, coalesce(g.role, 'agent') AS role,
    g.upload_id, g.line, g.position, coalesce(g.status, 'ok') AS status, g.reply,
    coalesce(v.tier IN ('certain', 'likely'), false) AS leak, v.error IS NOT NULL AS unjudged,
    g.round IS NOT NULL AND g.attempt IS NOT NULL AS told
FROM generations g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
WHERE EXISTS (
    FROM generations l JOIN verdicts w ON w.detector = $detector AND w.verdict_key = l.verdict_key
    WHERE l.run_id = g.run_id AND w.tier IN ('certain', 'likely')
) AND {run}
"""
_OUTCOMES = """
CREATE OR REPLACE TEMP TABLE outcomes AS
WITH judged AS (
    SELECT *, CASE
        WHEN leak THEN 'leaked_again' WHEN status IN ('error', 'failed') THEN 'errored'
        WHEN status = 'cancelled' THEN 'cancelled' WHEN unjudged THEN 'unknown'
        WHEN reply = 'structured' THEN 'structured'
        WHEN reply = 'words' AND status = 'ok' THEN 'answered' ELSE 'unknown' END AS as_follow_up,
        CASE status WHEN 'ok' THEN 'passed_off' WHEN 'error' THEN 'errored' WHEN 'failed' THEN 'errored'
        WHEN 'cancelled' THEN 'cancelled' ELSE 'unknown' END AS as_last_of_turn
    FROM marked WHERE told
), followed AS (
    SELECT *, lead(as_follow_up) OVER turn_order AS next_in_turn,
        row_number() OVER round_order AS attempt_from_last
    FROM judged
    WINDOW turn_order AS (PARTITION BY run_id, role, turn ORDER BY round, attempt, upload_id, line, position),
        round_order AS (
            PARTITION BY run_id, role, turn, round ORDER BY attempt DESC, upload_id DESC, line DESC, position DESC)
)
SELECT key, run_id, role, turn, round, attempt, leak, attempt_from_last, as_follow_up,
    CASE WHEN leak THEN coalesce(next_in_turn, as_last_of_turn) END AS outcome
FROM followed
UNION ALL BY NAME SELECT key, run_id, role, turn, round, attempt, leak, 'unknown' AS outcome
FROM marked WHERE leak AND NOT told
"""
_FATES = """
CREATE OR REPLACE TEMP TABLE fates AS
SELECT f.key, bool_or(o.attempt > 0) AS retried,
    bool_or(o.attempt_from_last = 1 AND NOT o.leak AND o.as_follow_up = 'structured') AS recovered,
    bool_or(o.attempt_from_last = 1 AND NOT o.leak AND o.as_follow_up = 'answered') AS answered,
    bool_or(o.attempt_from_last = 1 AND o.outcome IS NOT DISTINCT FROM 'passed_off') AS passed_off
FROM outcomes f JOIN outcomes o ON o.run_id = f.run_id AND o.role = f.role AND o.turn = f.turn AND o.round = f.round
WHERE f.attempt = 0 AND f.leak GROUP BY f.key
"""


def follow(cursor: Cursor, detector_id: str, run_id: str | None = None) -> None:
    """Make the temporary tables `outcomes` (key, outcome of each leak) and `fates` (key of each attempt 0 that
    leaked; retried, recovered, answered, passed_off of its round), by the verdicts of `detector_id`; of one run
    if it is named."""
    run = "true" if run_id is None else "g.run_id = $run"
    given = {"detector": detector_id} | ({} if run_id is None else {"run": run_id})
    cursor.execute(_MARKED.format(run=run), given)
    cursor.execute(_OUTCOMES)
    cursor.execute(_FATES)
