"""A store of any number of generations over 400 series and 180 days, written straight into its tables.

Runs of ten generations, one after the other over the days; every fiftieth output leaks, and half of those are retried;
a twentieth has no list of tools; two people have labelled every four-thousandth. An upload a day. Texts are
few, since no page reads more than a screenful.
"""

import json
from hashlib import md5
from pathlib import Path

from analysis.registry import current
from ingest.store import Cursor, Store

DAYS = 180
SERIES_COUNT = 400
PART = 1_000_000
"""Generations of one transaction."""
TOOL_LISTS = (1, 4, 12, 30)
"""How many tools the lists offer."""

_TEXTS = """
INSERT INTO texts BY NAME SELECT md5('text' || i)::UUID AS hash, 'All is well, ' || i AS text FROM range(1000) t(i)
"""
_TOOLS = "INSERT INTO tool_lists VALUES (md5('tools' || $1)::UUID, $2)"
_UPLOADS = """
INSERT INTO uploads BY NAME
SELECT nextval('upload_ids')::INTEGER AS upload_id, 'day-' || i || '.jsonl' AS path, 'native' AS format,
    'done' AS state, $first::TIMESTAMP + to_days(i::INTEGER) AS created_at, '{}' AS settings, '{}' AS origins,
    $n // $days AS lines, $n // $days AS mapped, 0 AS skipped, 0 AS duplicate, 0 AS quarantined,
    $n // $days AS generations, $n // $days AS new_generations, 0 AS events
FROM range($days) t(i)
"""
_GENERATIONS = """
INSERT INTO generations BY NAME
WITH numbered AS (
    SELECT i, i // 10 AS run, i % 10 AS place, hash(i) % 50 = 0 AS leak,
        i % 10 > 0 AND hash(i - 1) % 100 = 0 AS retry, hash(i // 10) % $series AS series,
        i * $days // $n AS day
    FROM range($from, $to) t(i)
)
SELECT md5('key' || i)::UUID AS key, md5('output' || i)::UUID AS verdict_key, $first_upload + day AS upload_id,
    i AS line, 0 AS position, 'run-' || md5(run::VARCHAR) AS run_id, 'g' || i AS generation_id, 0 AS turn,
    place - retry::INTEGER AS round, retry::INTEGER AS attempt,
    $first::TIMESTAMP + to_microseconds((run::DOUBLE * 10 / $n * $days * 86400e6)::BIGINT) + to_seconds(place * 30)
        AS started_at,
    'model-' || series % 20 AS model, 'self' AS provider, ['vllm', 'sglang', 'llama.cpp', 'ollama', 'lm-studio']
        [(series // 20 % 5 + 1)::BIGINT] AS engine, '0.' || series // 100 AS engine_version, 'chat' AS template,
    'hermes' AS tool_parser, ['goat', 'foundry'][(series % 2 + 1)::BIGINT] AS client, '1.0' AS client_version,
    'native' AS call_mode, 'ok' AS status, 'agent' AS role, 'stop' AS finish_reason,
    md5('text' || i % 1000)::UUID AS content,
    CASE WHEN i % 200 >= 10 THEN md5('tools' || [1, 4, 12, 30][(hash(run) % 4 + 1)::BIGINT])::UUID END AS tools,
    '{"input_tokens":' || hash(i) % 50000 || '}' AS usage, i % 200 >= 10 AS tools_known, 'native' AS mode,
    NOT retry AS eligible, CASE WHEN leak OR hash(i) % 3 = 0 THEN 'words' ELSE 'structured' END AS reply
FROM numbered ORDER BY i
"""
_VERDICTS = """
INSERT INTO verdicts BY NAME
SELECT $detector AS detector, md5('output' || i)::UUID AS verdict_key,
    ['leaked_call', 'printed_call', 'truncated_call', 'malformed_call'][(hash(i) // 50 % 4 + 1)::BIGINT] AS kind,
    'hermes' AS family, 'certain' AS tier, 'read_file' AS tool, 'content' AS channel, 0 AS start_at, 3 AS end_at,
    'All' AS markup, 'for the bench' AS reason, '[]' AS calls
FROM range($from, $to) t(i) WHERE hash(i) % 50 = 0
"""
_EVENTS = """
INSERT INTO events BY NAME
SELECT md5('event' || i)::UUID AS key, $first_upload AS upload_id, i AS line,
    'run-' || md5((i // 10)::VARCHAR) AS run_id, 'All' AS markup, 1 AS leak, false AS retried,
    md5('key' || i)::UUID AS generation
FROM range($from, $to) t(i) WHERE hash(i) % 50 = 0 AND hash(i) % 1000 = 0
"""
_LABELS = """
INSERT INTO labels BY NAME
SELECT md5('label' || i || who)::UUID AS key, $first_upload AS upload_id, i AS line, 'g' || i AS generation_id,
    'run-' || md5((i // 10)::VARCHAR) AS run_id, (hash(i) % 50 = 0) <> (who = 'bo' AND hash(i) % 30 = 0) AS leak,
    who AS by_whom, $first::TIMESTAMP AS labelled_at, md5('output' || i)::UUID AS verdict_key
FROM range($from, $to) t(i), (VALUES ('ana'), ('bo')) p(who) WHERE hash(i * 7) % 4000 = 0
"""


def run_id(number: int) -> str:
    """The id of a run, which as most real ones is no number in a row."""
    return f"run-{md5(str(number).encode()).hexdigest()}"  # noqa: S324 - no secret


def write(store: Path, generations: int, first_day: str) -> None:
    """Make `store` with so many generations, the first of `first_day`, all judged by the default detector."""
    with Store.open(store, create=True) as opened:
        detector = current(opened).id
        with opened.transaction() as cursor:
            _frame(cursor, generations, first_day)
        for start in range(0, generations, PART):
            given = {"from": start, "to": min(start + PART, generations)}
            with opened.transaction() as cursor:
                in_time = {"series": SERIES_COUNT, "days": DAYS, "n": generations, "first": first_day}
                cursor.execute(_GENERATIONS, {**given, **in_time, "first_upload": 1})
                cursor.execute(_VERDICTS, {**given, "detector": detector})
                cursor.execute(_EVENTS, {**given, "first_upload": 1})
                cursor.execute(_LABELS, {**given, "first_upload": 1, "first": first_day})
        with opened.transaction() as cursor:
            cursor.execute("INSERT INTO coverage SELECT $1, upload_id FROM uploads", [detector])
            cursor.execute("INSERT INTO searched_for_names SELECT upload_id FROM uploads")


def _frame(cursor: Cursor, generations: int, first_day: str) -> None:
    """All but the generations."""
    cursor.execute(_UPLOADS, {"n": generations, "days": DAYS, "first": first_day})
    cursor.execute(_TEXTS)
    for size in TOOL_LISTS:
        tools = [{"name": f"tool_{at}", "parameters": {"type": "object"}} for at in range(size)]
        cursor.execute(_TOOLS, [size, json.dumps(tools)])


def records(count: int, first: int) -> bytes:
    """An upload of so many new generations, as native records; `first` is the number of the first."""
    offered = [{"name": "ls"}]
    return b"".join(
        json.dumps(
            {
                "type": "generation", "run_id": f"new-{first}-{at // 10}", "generation_id": f"n{first + at}",
                "round": at % 10, "attempt": 0, "started_at": "2026-11-29T12:00:00Z", "model": f"model-{at // 10 % 20}",
                "engine": "vllm", "tools": offered, "content": f"Said anew {first + at}",
            }
        ).encode() + b"\n"
        for at in range(count)
    )  # fmt: skip
