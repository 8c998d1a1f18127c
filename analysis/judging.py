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

from analysis.detectors import BLANKS, SHORT, Detector, Failure, Finding, judge_all
from analysis.output import Call, OfferedTool, Output
from ingest.batches import Batch, Judgeable
from ingest.store import Cursor, Store, atomic, one
from ingest.verdict_rows import Judge, StoredVerdict, keep_verdicts

TEXT_ROWS = 512
"""Texts searched at a time: 50 MB where a text has 100 kB. (DuckDB itself reads 2,048 of them.)"""
PART_OUTPUTS = 4_096
PART_BYTES = 32 * 2**20
"""What is judged between two commits: at most so many outputs, and so many bytes of text but for the last output's."""
UTF8_LONGEST = 4
"""Bytes of a code point."""


def judge_for(detector: Detector) -> Judge:
    """`detector` as what judges each batch that is ingested."""
    return Judge(detector.id, lambda batch: _of_batch(detector, batch))


def _of_batch(detector: Detector, batch: Batch) -> Iterator[StoredVerdict]:
    hashes, texts = list(batch.texts), pl.Series(batch.texts.values(), dtype=pl.String)
    inferred = (name for generation in batch.generations for name in generation.inferred_names)
    literals = triggers(detector, batch.tool_lists.values(), inferred)
    candidates = {hashes[at] for at in holding(texts, literals, detector.endings)}
    chosen: dict[bytes, Judgeable] = {}
    for generation in batch.generations:
        entry = generation.entry
        if entry.content in candidates or entry.reasoning in candidates or entry.tool_calls in candidates:
            chosen[generation.verdict_key] = generation
    yield from verdicts_on(detector, ((key, output_of(each, batch)) for key, each in chosen.items()))


def triggers(detector: Detector, tool_lists: Iterable[str], inferred: Iterable[str]) -> Sequence[str]:
    """The literals that make a text worth a look: the detector's own, and where it goes by name the offered names
    of all outputs in question (a superset for each)."""
    if not detector.by_name:
        return detector.triggers
    offered = {tool.name for tools in tool_lists for tool in _tools(tools)}
    return sorted({*detector.triggers, *offered, *inferred} - {""})


def holding(texts: pl.Series, triggers: Sequence[str], endings: Sequence[str] = ()) -> list[int]:
    """The positions of the texts that hold one of `triggers`, as it stands or as it stands in a JSON string, and of
    the short ones that end in one of `endings`.

    Structured calls are stored as JSON, with their arguments as strings in it.
    """
    in_json = [to_json(trigger).decode()[1:-1] for trigger in triggers]
    found = texts.str.contains_any([*{*triggers, *in_json}]).arg_true().to_list()
    return sorted({*found, *_ending(texts, endings)}) if endings else found


def _ending(texts: pl.Series, endings: Sequence[str]) -> list[int]:
    """Most texts are told by their length alone, which costs no look at them."""
    short = (texts.str.len_bytes() <= SHORT * UTF8_LONGEST).arg_true()
    stripped = texts.gather(short).str.strip_chars_end(BLANKS)
    found = {at for ending in endings for at in stripped.str.ends_with(ending).arg_true()}
    return [short[at] for at in found]


def verdicts_on(detector: Detector, outputs: Iterable[tuple[bytes, Output]]) -> Iterator[StoredVerdict]:
    """What `detector` says of the outputs, each with its verdict key; nothing of a clean one. A failure on an output
    is a counted result."""
    pairs = list(outputs)
    for (key, _), said in zip(pairs, judge_all(detector, [output for _, output in pairs]), strict=True):
        if isinstance(said, Failure):
            yield StoredVerdict(key, error=said.why)
        elif said:
            yield _stored(key, said)


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
    return output_of_columns(
        content=batch.texts[entry.content] if entry.content else None,
        reasoning=batch.texts[entry.reasoning] if entry.reasoning else None,
        calls=batch.texts[entry.tool_calls] if entry.tool_calls else None,
        tools=batch.tool_lists[entry.tools] if entry.tools else None,
        tools_known=entry.tools_known,
        inferred_names=generation.inferred_names,
        finish_reason=entry.finish_reason,
        mode=entry.mode,
    )


def output_of_columns(
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
    """An output from the columns of the store; `calls` and `tools` are JSON. An empty text is none: the verdict
    key cannot tell them apart, so a detector must not either."""
    return Output(
        content=content or None,
        reasoning=reasoning or None,
        calls=tuple(_call(call) for call in from_json(calls)) if calls else (),
        tools=_tools(tools or "[]") if tools_known else None,
        inferred_names=frozenset(inferred_names or ()),
        finish_reason=finish_reason,
        call_mode=mode,
    )


@lru_cache(maxsize=64)  # a list of tools may have a megabyte
def _tools(tools: str) -> tuple[OfferedTool, ...]:
    return tuple(OfferedTool(tool["name"], tool.get("parameters")) for tool in from_json(tools))


def _call(call: Mapping[str, Any]) -> Call:
    arguments = call.get("arguments")
    return Call(
        call["name"],
        arguments if arguments is None or isinstance(arguments, str) else to_json(arguments).decode(),
    )


_UNSEEN = """
SELECT upload_id FROM uploads u
WHERE state = 'done' AND NOT EXISTS (FROM coverage c WHERE c.detector = $detector AND c.upload_id = u.upload_id)
"""
_PENDING = """
CREATE OR REPLACE TEMP TABLE pending AS
SELECT verdict_key, any_value(content) AS content, any_value(reasoning) AS reasoning,
    any_value(tool_calls) AS tool_calls, any_value(tools) AS tools, any_value(tools_known) AS tools_known,
    any_value(inferred_names) AS inferred_names, any_value(finish_reason) AS finish_reason, any_value(mode) AS mode
FROM generations g
WHERE upload_id IN (SELECT unnest($uploads::INTEGER[])) AND NOT EXISTS (
    FROM generations seen JOIN coverage c ON c.detector = $detector AND c.upload_id = seen.upload_id
    WHERE seen.verdict_key = g.verdict_key
)
GROUP BY verdict_key
"""
_TEXTS = """
SELECT t.hash::VARCHAR AS hash, t.text FROM texts t
WHERE EXISTS (
    FROM (SELECT unnest([content, reasoning, tool_calls]) AS hash FROM pending) used WHERE used.hash = t.hash
)
"""
_CHOSEN = """
CREATE OR REPLACE TEMP TABLE chosen AS FROM pending
WHERE content IN (FROM candidates) OR reasoning IN (FROM candidates) OR tool_calls IN (FROM candidates)
"""
_HELD = """
CREATE OR REPLACE TEMP TABLE held AS SELECT t.hash, t.text, strlen(t.text) AS bytes FROM texts t
WHERE EXISTS (
    FROM (SELECT unnest([content, reasoning, tool_calls]) AS hash FROM chosen) used WHERE used.hash = t.hash
)
"""
"""The one more time that texts are decompressed. To join them in the end would be once for each channel, and all of
them at a time in memory."""
_PARTED = """
CREATE OR REPLACE TEMP TABLE parted AS
SELECT o.* REPLACE (c.rowid AS content, r.rowid AS reasoning, k.rowid AS tool_calls), coalesce(sum(greatest(
    $least, coalesce(c.bytes, 0) + coalesce(r.bytes, 0) + coalesce(k.bytes, 0) + coalesce(strlen(l.tools), 0)
)) OVER before // $most, 0)::INTEGER AS part
FROM chosen o
LEFT JOIN held c ON c.hash = o.content LEFT JOIN held r ON r.hash = o.reasoning
LEFT JOIN held k ON k.hash = o.tool_calls LEFT JOIN tool_lists l ON l.hash = o.tools
WINDOW before AS (
    ORDER BY coalesce(c.rowid, r.rowid, k.rowid), o.verdict_key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
)
"""
"""The outputs in the order of their texts, in parts that fit into memory, with the rows where their texts are held."""
_PART = """
SELECT verdict_key, content, reasoning, tool_calls, tools::VARCHAR, tools_known, inferred_names, finish_reason, mode
FROM parted WHERE part = $part
"""
_PART_TEXTS = """
SELECT rowid, text FROM held
WHERE rowid IN (SELECT unnest([content, reasoning, tool_calls]) FROM parted WHERE part = $part)
"""
_PART_TOOLS = """
SELECT hash::VARCHAR, tools FROM tool_lists WHERE hash IN (SELECT tools FROM parted WHERE part = $part)
"""
_COVERED = """
INSERT INTO coverage SELECT $detector, upload_id FROM uploads u WHERE upload_id IN (SELECT unnest($uploads::INTEGER[]))
AND NOT EXISTS (FROM coverage c WHERE c.detector = $detector AND c.upload_id = u.upload_id)
"""


def judge_history(store: Store, detector: Detector, progress: Callable[[int], object] = lambda _: None) -> int:
    """Judge every stored output that `detector` has not seen; the number of verdict keys that were new to it.

    `progress` is told the texts searched so far. Interrupted, it keeps what it judged and begins anew. An upload
    that arrives meanwhile is left for the next time.
    """
    with store.cursor() as cursor:
        uploads = [upload for (upload,) in cursor.execute(_UNSEEN, {"detector": detector.id}).fetchall()]
        if not uploads:
            return 0
        unseen = {"detector": detector.id, "uploads": uploads}
        cursor.execute(_PENDING, unseen)
        [pending] = one(cursor, "SELECT count(*) FROM pending")
        if pending:
            _collect_candidates(cursor, detector, progress)
            _judge_candidates(store, cursor, detector)
        with store.transaction() as writer:
            writer.execute(_COVERED, unseen)
    return int(pending)


def _collect_candidates(cursor: Cursor, detector: Detector, progress: Callable[[int], object]) -> None:
    found: list[str] = []
    searched = 0
    literals = triggers(detector, *_names(cursor)) if detector.by_name else detector.triggers
    for batch in cursor.sql(_TEXTS).to_arrow_reader(TEXT_ROWS):
        frame = pl.DataFrame(pl.from_arrow(batch))
        found += frame["hash"].gather(holding(frame["text"], literals, detector.endings)).to_list()
        searched += len(frame)
        progress(searched)
    cursor.register("found", pa.table({"hash": pa.array(found, pa.string())}))
    cursor.execute("CREATE OR REPLACE TEMP TABLE candidates AS SELECT hash::UUID AS hash FROM found")
    cursor.unregister("found")


def _names(cursor: Cursor) -> tuple[list[str], list[str]]:
    """The tool lists (as JSON) and the inferred names of the pending outputs."""
    tools = cursor.execute("SELECT tools FROM tool_lists WHERE hash IN (SELECT tools FROM pending)").fetchall()
    names = cursor.execute("SELECT DISTINCT unnest(inferred_names) FROM pending").fetchall()
    return [text for (text,) in tools], [name for (name,) in names]


def _judge_candidates(store: Store, cursor: Cursor, detector: Detector) -> None:
    cursor.execute(_CHOSEN)
    cursor.execute(_HELD)
    cursor.execute(_PARTED, {"least": PART_BYTES // PART_OUTPUTS, "most": PART_BYTES})
    for (part,) in cursor.execute("SELECT DISTINCT part FROM parted ORDER BY part").fetchall():
        verdicts = list(verdicts_on(detector, _outputs(cursor, {"part": part})))
        with store.writing() as writer, atomic(writer):
            keep_verdicts(writer, detector.id, verdicts)


def _outputs(cursor: Cursor, part: Mapping[str, int]) -> Iterator[tuple[bytes, Output]]:
    """The outputs of a part, with their verdict keys."""
    texts = dict(cursor.execute(_PART_TEXTS, part).fetchall())
    tool_lists = dict(cursor.execute(_PART_TOOLS, part).fetchall())
    for row in cursor.execute(_PART, part).fetchall():
        key, content, reasoning, calls, tools, tools_known, inferred, finish, mode = row
        yield (
            key.bytes,
            output_of_columns(
                content=texts.get(content),
                reasoning=texts.get(reasoning),
                calls=texts.get(calls),
                tools=tool_lists.get(tools),
                tools_known=tools_known,
                inferred_names=inferred,
                finish_reason=finish,
                mode=mode,
            ),
        )
