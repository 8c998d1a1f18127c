"""Which stored outputs a detector has to look at, and those outputs, in parts that fit into memory."""

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import NamedTuple

from analysis.candidate_outputs import Stored, room
from analysis.detectors import Detector
from analysis.output import Output
from analysis.trigger_index import select_texts
from analysis.triggers import Wanted
from ingest.store import Cursor, one

PART_OUTPUTS = 4_096
PART_BYTES = 32 * 2**20
"""What is judged between two commits: at most so many outputs, and so many bytes of text but for the last output's."""


class Part(NamedTuple):
    """Outputs to be judged together; `to_keep`: they are not among the candidate outputs yet, and there is room."""

    outputs: list[tuple[Stored, Output]]
    to_keep: bool


_HELD = "content IN (FROM held_words) OR reasoning IN (FROM held_words) OR tool_calls IN (FROM held_calls)"
_NAMING = " OR verdict_key IN (FROM naming) OR upload_id NOT IN (FROM searched_for_names)"
"""Where nobody looked for offered names, all may hold one."""
_ALL = "content IS NOT NULL OR reasoning IS NOT NULL OR tool_calls IS NOT NULL"
_CHOSEN = """
CREATE OR REPLACE TEMP TABLE chosen AS
SELECT verdict_key, any_value(content) AS content, any_value(reasoning) AS reasoning,
    any_value(tool_calls) AS tool_calls, any_value(tools) AS tools, any_value(tools_known) AS tools_known,
    any_value(inferred_names) AS inferred_names, any_value(finish_reason) AS finish_reason, any_value(mode) AS mode
FROM generations g
WHERE upload_id IN (SELECT unnest($uploads::INTEGER[])) AND g.pruning IS NULL AND ({worth_a_look}) AND NOT EXISTS (
    FROM generations seen JOIN coverage c ON c.detector = $detector AND c.upload_id = seen.upload_id
    WHERE seen.verdict_key = g.verdict_key
) AND NOT EXISTS (FROM judged_so_far j WHERE j.detector = $detector AND j.verdict_key = g.verdict_key)
GROUP BY verdict_key
"""
_PARTED = """
CREATE OR REPLACE TEMP TABLE {name} AS
SELECT o.*, coalesce(sum(greatest($least, o.bytes + coalesce(strlen(l.tools), 0))) OVER before // $most, 0)::INTEGER
    AS part
FROM ({outputs}) o LEFT JOIN tool_lists l ON l.hash = o.tools
WINDOW before AS (ORDER BY o.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
"""
"""In the order of their texts, with the part in which each is judged."""
_KEPT = "SELECT c.rowid AS place, c.tools, c.bytes FROM candidate_outputs c SEMI JOIN chosen USING (verdict_key)"
_KEPT_PART = """
SELECT unhex(replace(verdict_key::VARCHAR, '-', '')), content, reasoning, tool_calls,
    unhex(replace(tools::VARCHAR, '-', '')), tools_known, inferred_names, finish_reason, mode, code
FROM candidate_outputs WHERE rowid BETWEEN $first AND $last AND verdict_key IN (SELECT verdict_key FROM chosen)
ORDER BY rowid
"""
"""The keys as bytes: of a UUID the driver makes an object, at the price of a short verdict."""
_APART = """
CREATE OR REPLACE TEMP TABLE apart AS FROM chosen o
WHERE NOT EXISTS (FROM candidate_outputs c WHERE c.verdict_key = o.verdict_key)
"""
_APART_TEXTS = """
CREATE OR REPLACE TEMP TABLE apart_texts AS SELECT t.hash, t.text, strlen(t.text) AS bytes FROM texts t
WHERE EXISTS (
    FROM (SELECT unnest([content, reasoning, tool_calls]) AS hash FROM apart) used WHERE used.hash = t.hash
)
"""
"""The one more time that texts are decompressed. To join them in the end would be once for each channel, and all of
them at a time in memory."""
_PLACED = """
SELECT o.* REPLACE (c.rowid AS content, r.rowid AS reasoning, k.rowid AS tool_calls),
    row_number() OVER (ORDER BY coalesce(c.rowid, r.rowid, k.rowid), o.verdict_key) AS place,
    coalesce(c.bytes, 0) + coalesce(r.bytes, 0) + coalesce(k.bytes, 0) AS bytes
FROM apart o
LEFT JOIN apart_texts c ON c.hash = o.content LEFT JOIN apart_texts r ON r.hash = o.reasoning
LEFT JOIN apart_texts k ON k.hash = o.tool_calls
"""
"""With the rows where their texts are held."""
_APART_PART = """
SELECT unhex(replace(verdict_key::VARCHAR, '-', '')), content, reasoning, tool_calls,
    unhex(replace(tools::VARCHAR, '-', '')), tools_known, inferred_names, finish_reason, mode
FROM apart_parts WHERE part = $part ORDER BY place
"""
_APART_PART_TEXTS = """
SELECT rowid, text FROM apart_texts
WHERE rowid IN (SELECT unnest([content, reasoning, tool_calls]) FROM apart_parts WHERE part = $part)
"""
_TOOL_LISTS = """
SELECT unhex(replace(hash::VARCHAR, '-', '')), tools FROM tool_lists
WHERE hash IN (SELECT tools FROM {parts} WHERE part = $part)
"""
_SIZES = {"least": PART_BYTES // PART_OUTPUTS, "most": PART_BYTES}


def choose(cursor: Cursor, detector: Detector, uploads: Sequence[int]) -> int:
    """Note in `chosen` which outputs of `uploads` `detector` has to look at; their number. What it has judged, of them
    or in uploads that it has seen, is not chosen again."""
    wanted = Wanted.by(detector)
    if wanted.everything:
        worth_a_look = _ALL
    else:
        select_texts(cursor, wanted)
        worth_a_look = _HELD + (_NAMING if wanted.by_name else "")
    cursor.execute(_CHOSEN.format(worth_a_look=worth_a_look), {"detector": detector.id, "uploads": uploads})
    [count] = one(cursor, "SELECT count(*) FROM chosen")
    return int(count)


def parts(cursor: Cursor) -> Iterator[Part]:
    """The chosen outputs: those that are kept ready, and then the others, whose texts stand among all."""
    cursor.execute(_PARTED.format(name="kept_parts", outputs=_KEPT), _SIZES)
    ranges = "SELECT part, min(place), max(place) FROM kept_parts GROUP BY part ORDER BY part"
    for part, first, last in cursor.execute(ranges).fetchall():
        rows = cursor.execute(_KEPT_PART, {"first": first, "last": last}).fetchall()
        yield Part(_outputs(cursor, "kept_parts", part, starmap(Stored, rows)), to_keep=False)
    cursor.execute(_APART)
    [apart] = one(cursor, "SELECT count(*) FROM apart")
    if apart:
        yield from _parts_apart(cursor, to_keep=apart <= room(cursor))


def _parts_apart(cursor: Cursor, *, to_keep: bool) -> Iterator[Part]:
    cursor.execute(_APART_TEXTS)
    cursor.execute(_PARTED.format(name="apart_parts", outputs=_PLACED), _SIZES)
    for (part,) in cursor.execute("SELECT DISTINCT part FROM apart_parts ORDER BY part").fetchall():
        texts = dict(cursor.execute(_APART_PART_TEXTS, {"part": part}).fetchall())
        rows = cursor.execute(_APART_PART, {"part": part}).fetchall()
        stored = (Stored(key, texts.get(c), texts.get(r), texts.get(k), *rest) for key, c, r, k, *rest in rows)
        yield Part(_outputs(cursor, "apart_parts", part, stored), to_keep)


def _outputs(cursor: Cursor, name: str, part: int, stored: Iterator[Stored]) -> list[tuple[Stored, Output]]:
    found = cursor.execute(_TOOL_LISTS.format(parts=name), {"part": part}).fetchall()
    tool_lists = dict(found)
    return [(each, each.output(tool_lists)) for each in stored]
