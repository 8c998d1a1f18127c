"""Outputs read back from the store in groups, a part at a time: as much as fits into memory, a group never torn.

The caller makes the temporary table `wanted` (`group_no`, and `key`, `upload_id` and `line` of a generation, which say
where to look for it), in the order in which it reads.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analysis.output import Output
from analysis.output_columns import output_of_columns
from ingest.store import Cursor

PART_GROUPS = 4_096
PART_BYTES = 32 * 2**20
"""What is read at a time: at most so many groups, and so many bytes of text but for the last group's."""

_SOUGHT = """
CREATE OR REPLACE TEMP TABLE sought AS
SELECT w.group_no, g.key, g.content, g.reasoning, g.tool_calls, g.raw_text, g.tools, g.tools_known,
    g.inferred_names, g.finish_reason, g.mode
FROM wanted w JOIN generations g USING (key, upload_id, line)
"""
_FOUND = """
CREATE OR REPLACE TEMP TABLE found AS SELECT t.hash, t.text, strlen(t.text) AS bytes FROM texts t
WHERE EXISTS (
    FROM (SELECT unnest([content, reasoning, tool_calls, raw_text]) AS hash FROM sought) used WHERE used.hash = t.hash
)
"""
"""Texts are decompressed once; to join them for each part would be once a part."""
_PARTED = """
CREATE OR REPLACE TEMP TABLE parted_groups AS
WITH rows AS (
    SELECT s.group_no, coalesce(c.bytes, 0) + coalesce(r.bytes, 0) + coalesce(k.bytes, 0) + coalesce(w.bytes, 0)
        + coalesce(strlen(l.tools), 0) AS bytes
    FROM sought s LEFT JOIN found c ON c.hash = s.content LEFT JOIN found r ON r.hash = s.reasoning
    LEFT JOIN found k ON k.hash = s.tool_calls LEFT JOIN found w ON w.hash = s.raw_text
    LEFT JOIN tool_lists l ON l.hash = s.tools
), groups AS (SELECT group_no, greatest($least, sum(bytes)) AS bytes FROM rows GROUP BY group_no)
SELECT group_no, coalesce(
    sum(bytes) OVER (ORDER BY group_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) // $most, 0)::BIGINT AS part
FROM groups
"""
_PARTS = "SELECT min(group_no), max(group_no) FROM parted_groups GROUP BY part ORDER BY part"
_ROWS = """
SELECT key::VARCHAR, content::VARCHAR, reasoning::VARCHAR, tool_calls::VARCHAR, raw_text::VARCHAR, tools::VARCHAR,
    tools_known, inferred_names, finish_reason, mode
FROM sought WHERE group_no BETWEEN $first AND $last
"""
_TEXTS = """
SELECT hash::VARCHAR, text FROM found WHERE hash IN (
    SELECT unnest([content, reasoning, tool_calls, raw_text]) FROM sought WHERE group_no BETWEEN $first AND $last)
"""
_TOOLS = """
SELECT hash::VARCHAR, tools FROM tool_lists
WHERE hash IN (SELECT tools FROM sought WHERE group_no BETWEEN $first AND $last)
"""


@dataclass(frozen=True, slots=True)
class Part:
    """The groups from `first` to `last`: the outputs and the raw texts of their generations, by key."""

    first: int
    last: int
    outputs: Mapping[str, tuple[Output, str | None]]


def parts(cursor: Cursor) -> Iterator[Part]:
    """The parts of `wanted`, in the order of its groups. The cursor may be used between two of them."""
    cursor.execute(_SOUGHT)
    cursor.execute(_FOUND)
    cursor.execute(_PARTED, {"least": PART_BYTES // PART_GROUPS, "most": PART_BYTES})
    for first, last in cursor.execute(_PARTS).fetchall():
        yield Part(first, last, dict(_outputs(cursor, {"first": first, "last": last})))


def _outputs(cursor: Cursor, span: Mapping[str, int]) -> Iterator[tuple[str, tuple[Output, str | None]]]:
    texts = dict(cursor.execute(_TEXTS, span).fetchall())
    tool_lists = dict(cursor.execute(_TOOLS, span).fetchall())
    for key, content, reasoning, calls, raw, tools, known, names, finish, mode in cursor.execute(
        _ROWS, span
    ).fetchall():
        output = output_of_columns(
            content=texts.get(content),
            reasoning=texts.get(reasoning),
            calls=texts.get(calls),
            tools=tool_lists.get(tools),
            tools_known=known,
            inferred_names=names,
            finish_reason=finish,
            mode=mode,
        )
        yield key, (output, texts.get(raw))
