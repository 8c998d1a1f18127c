"""Detectors over stored outputs: at ingest, and over the history that a detector has not seen yet.

A text without a trigger cannot be a finding, so texts are searched for triggers first (Aho-Corasick over columns,
by Polars), and only the outputs that hold such a text reach Python.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl
import pyarrow as pa
from pydantic_core import from_json, to_json

from analysis.detectors import Detector, Finding, judge
from analysis.output import Call, OfferedTool, Output
from ingest.batches import Batch, Judgeable
from ingest.store import Cursor, Store, atomic, one
from ingest.verdict_rows import Judge, StoredVerdict, keep_verdicts

TEXT_ROWS = 16_384
"""Texts read from the store at a time."""
OUTPUT_ROWS = 4_096
"""Outputs judged between two commits."""


def judge_for(detector: Detector) -> Judge:
    """`detector` as what judges each batch that is ingested."""
    return Judge(detector.id, lambda batch: _of_batch(detector, batch))


def _of_batch(detector: Detector, batch: Batch) -> Iterator[StoredVerdict]:
    hashes = list(batch.texts)
    candidates = {hashes[at] for at in holding(pl.Series(batch.texts.values(), dtype=pl.String), detector.triggers)}
    for generation in batch.generations:
        entry = generation.entry
        if entry.content in candidates or entry.reasoning in candidates or entry.tool_calls in candidates:
            verdict = verdict_on(detector, generation.verdict_key, output_of(generation, batch))
            if verdict:
                yield verdict


def holding(texts: pl.Series, triggers: Sequence[str]) -> list[int]:
    """The positions of the texts that hold one of `triggers`."""
    return texts.str.contains_any(list(triggers)).arg_true().to_list()


def verdict_on(detector: Detector, verdict_key: bytes, output: Output) -> StoredVerdict | None:
    """What `detector` says of `output`; None if it is clean. A detector that raises is a counted result."""
    try:
        found = judge(detector, output)
    except Exception as fault:  # noqa: BLE001 - whatever a detector does, the other outputs go on
        return StoredVerdict(verdict_key, error=f"{type(fault).__name__}: {fault}")
    return _stored(verdict_key, found) if found else None


def _stored(verdict_key: bytes, found: Finding) -> StoredVerdict:
    return StoredVerdict(
        verdict_key=verdict_key,
        kind=found.kind,
        family=found.family,
        tier=found.tier,
        tool=found.tool,
        channel=found.channel,
        start=found.start,
        end=found.end,
        markup=found.markup,
        reason=found.reason,
        calls=to_json(found.as_json()["calls"]).decode(),
    )


def output_of(generation: Judgeable, batch: Batch) -> Output:
    """A generation as a detector sees it."""
    entry = generation.entry
    return _output(
        content=batch.texts[entry.content] if entry.content else None,
        reasoning=batch.texts[entry.reasoning] if entry.reasoning else None,
        calls=batch.texts[entry.tool_calls] if entry.tool_calls else None,
        tools=batch.tool_lists[entry.tools] if entry.tools else None,
        tools_known=entry.tools_known,
        inferred_names=generation.inferred_names,
        finish_reason=entry.finish_reason,
        mode=entry.mode,
    )


def _output(
    *,
    content: str | None,
    reasoning: str | None,
    calls: str | None,
    tools: str | None,
    tools_known: bool,
    inferred_names: Iterable[str] | None,
    finish_reason: str | None,
    mode: Any,
) -> Output:
    """An output from the columns of the store; `calls` and `tools` are JSON."""
    return Output(
        content=content,
        reasoning=reasoning,
        calls=tuple(_call(call) for call in from_json(calls)) if calls else (),
        tools=_tools(tools or "[]") if tools_known else None,
        inferred_names=frozenset(inferred_names or ()),
        finish_reason=finish_reason,
        call_mode=mode,
    )


@lru_cache(maxsize=1024)
def _tools(tools: str) -> tuple[OfferedTool, ...]:
    return tuple(OfferedTool(tool["name"], tool.get("parameters")) for tool in from_json(tools))


def _call(call: Mapping[str, Any]) -> Call:
    arguments = call.get("arguments")
    return Call(
        call["name"],
        arguments if arguments is None or isinstance(arguments, str) else to_json(arguments).decode(),
    )


_PENDING = """
CREATE OR REPLACE TEMP TABLE pending AS
SELECT verdict_key, any_value(content) AS content, any_value(reasoning) AS reasoning,
    any_value(tool_calls) AS tool_calls, any_value(tools) AS tools, any_value(tools_known) AS tools_known,
    any_value(inferred_names) AS inferred_names, any_value(finish_reason) AS finish_reason, any_value(mode) AS mode
FROM generations g
WHERE NOT EXISTS (FROM coverage c WHERE c.detector = $detector AND c.upload_id = g.upload_id)
GROUP BY verdict_key
"""
_TEXTS = """
SELECT t.hash::VARCHAR AS hash, t.text FROM texts t
WHERE EXISTS (
    FROM (SELECT unnest([content, reasoning, tool_calls]) AS hash FROM pending) used WHERE used.hash = t.hash
)
"""
_CANDIDATES = """
SELECT p.verdict_key, c.text AS content, r.text AS reasoning, k.text AS calls, l.tools, p.tools_known,
    p.inferred_names, p.finish_reason, p.mode
FROM pending p
LEFT JOIN texts c ON c.hash = p.content LEFT JOIN texts r ON r.hash = p.reasoning
LEFT JOIN texts k ON k.hash = p.tool_calls LEFT JOIN tool_lists l ON l.hash = p.tools
WHERE p.content IN (FROM candidates) OR p.reasoning IN (FROM candidates) OR p.tool_calls IN (FROM candidates)
"""


def judge_history(store: Store, detector: Detector, progress: Callable[[int], object] = lambda _: None) -> int:
    """Judge every stored output that `detector` has not seen; the number of verdict keys that were new to it.

    `progress` is told the texts searched so far. Interrupted, it keeps what it judged and begins anew.
    """
    with store.cursor() as cursor:
        cursor.execute(_PENDING, {"detector": detector.id})
        [pending] = one(cursor, "SELECT count(*) FROM pending")
        if pending:
            _collect_candidates(cursor, detector, progress)
            _judge_candidates(store, cursor, detector)
        with store.transaction() as writer:
            writer.execute(
                """
                INSERT INTO coverage SELECT $detector, upload_id FROM uploads u WHERE state = 'done'
                AND NOT EXISTS (FROM coverage c WHERE c.detector = $detector AND c.upload_id = u.upload_id)
                """,
                {"detector": detector.id},
            )
    return int(pending)


def _collect_candidates(cursor: Cursor, detector: Detector, progress: Callable[[int], object]) -> None:
    found: list[str] = []
    searched = 0
    for batch in cursor.sql(_TEXTS).to_arrow_reader(TEXT_ROWS):
        frame = pl.DataFrame(pl.from_arrow(batch))
        found += frame["hash"].gather(holding(frame["text"], detector.triggers)).to_list()
        searched += len(frame)
        progress(searched)
    cursor.register("found", pa.table({"hash": pa.array(found, pa.string())}))
    cursor.execute("CREATE OR REPLACE TEMP TABLE candidates AS SELECT hash::UUID AS hash FROM found")
    cursor.unregister("found")


def _judge_candidates(store: Store, cursor: Cursor, detector: Detector) -> None:
    reading = cursor.execute(_CANDIDATES)
    while rows := reading.fetchmany(OUTPUT_ROWS):
        verdicts = [_judge_row(detector, row) for row in rows]
        with store.writing() as writer, atomic(writer):
            keep_verdicts(writer, detector.id, [verdict for verdict in verdicts if verdict])


def _judge_row(detector: Detector, row: tuple[Any, ...]) -> StoredVerdict | None:
    key, content, reasoning, calls, tools, tools_known, inferred, finish, mode = row
    output = _output(
        content=content,
        reasoning=reasoning,
        calls=calls,
        tools=tools,
        tools_known=tools_known,
        inferred_names=inferred,
        finish_reason=finish,
        mode=mode,
    )
    return verdict_on(detector, key.bytes, output)
