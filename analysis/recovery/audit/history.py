"""What the rules of the audit read: temporary tables of the leaks, and of the steps of the runs that leaked."""

from analysis.recovery.audit.rules import Asked
from analysis.recovery.outcomes import ALL, Among, follow
from ingest.store import Cursor

_STEPS = """
CREATE OR REPLACE TEMP TABLE steps AS
WITH judged AS (
    SELECT m.key, m.run_id, m.role, m.turn, m.round, m.attempt, m.status, m.upload_id, m.line, m.position,
        m.leak AND coalesce(t.leak, true) AS leak, m.reply IN ('structured', 'invalid_call') AS calls
    FROM marked m JOIN generations g ON g.key = m.key LEFT JOIN truth t ON t.verdict_key = g.verdict_key
    WHERE m.told AND m.role IN ('agent', 'subagent')
), once AS (
    FROM judged QUALIFY row_number() OVER (
        PARTITION BY run_id, role, turn, round, attempt ORDER BY leak DESC, upload_id, line, position) = 1
), followed AS (
    SELECT *, lead(key) OVER in_round AS retry,
        lead(round) OVER in_turn AS next_round, lead(attempt) OVER in_turn AS next_attempt,
        lead(status) OVER in_turn AS next_status
    FROM once WINDOW in_round AS (PARTITION BY run_id, role, turn, round ORDER BY attempt),
        in_turn AS (PARTITION BY run_id, role, turn ORDER BY round, attempt)
)
SELECT key, retry, next_round, next_attempt, next_status, leak AND NOT calls AS alone,
    {counts}
FROM followed WINDOW {windows}
"""
_SCOPES = {"round": "run_id, role, turn, round", "turn": "run_id, role, turn", "run": "run_id, role"}
_COUNTED = {"retries": "leak AND retry IS NOT NULL", "leaks": "leak AND NOT calls"}
_COUNTS = ", ".join(
    f"count(*) FILTER ({what}) OVER to_{scope} AS {name}_{scope}, "
    f"count(*) FILTER ({what}) OVER whole_{scope} AS all_{name}_{scope}"
    for scope in _SCOPES
    for name, what in _COUNTED.items()
)
_WINDOWS = ", ".join(
    f"to_{scope} AS (PARTITION BY {keys} ORDER BY turn, round, attempt), whole_{scope} AS (PARTITION BY {keys})"
    for scope, keys in _SCOPES.items()
)
_LEAKS = """
CREATE OR REPLACE TEMP TABLE leaks AS
SELECT g.key, g.run_id, g.generation_id, g.client, g.client_version, g.content, g.reasoning, g.tool_calls,
    g.reply IN ('structured', 'invalid_call') AS has_calls, g.extra, v.kind, v.channel, v.start_at, v.markup, v.calls,
    coalesce(o.outcome, 'unknown') AS outcome, g.round IS NOT NULL AND g.attempt IS NOT NULL AS placed
FROM (FROM facts WHERE {condition} AND {among}) g
JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
LEFT JOIN outcomes o ON o.key = g.key LEFT JOIN truth t ON t.verdict_key = g.verdict_key
WHERE v.tier IN ('certain', 'likely') AND coalesce(t.leak, true) AND g.pruning IS NULL
    AND coalesce(g.role, 'agent') IN ('agent', 'subagent')
"""


def prepare(cursor: Cursor, asked: Asked, among: Among = ALL) -> None:
    """Make the temporary tables of the runs in `among`, within a transaction.

    `leaks`: the leaks that are asked for. `steps`: of the runs that leaked, every attempt whose place is told (of
    several with one number a leaked one): its retry, what came next in the turn, whether it leaked with no call beside
    (`alone`), and how many leaks and retries of leaks its round, its turn and its run have had so far and in all.
    """
    condition, parameters = asked.filters.sql()
    follow(cursor, asked.detector, among)
    cursor.execute(_STEPS.format(counts=_COUNTS, windows=_WINDOWS))
    sql = _LEAKS.format(condition=condition, among=among.sql)
    cursor.execute(sql, {"detector": asked.detector, **parameters, **among.parameters})
