"""The outputs that a detector had to look at, kept whole and with the code regions of their content.

The next detector mostly has to look at the same few. It reads them in one go, where their texts stand among all others
in a store that has to be decompressed for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pyarrow as pa

from analysis import markdown
from analysis.markdown import Region
from analysis.output import Output
from analysis.output_columns import output_of_columns
from analysis.source_hash import source_hash
from ingest.batch import Batch, Judgeable
from ingest.columns import Columns, table
from ingest.records import CallMode
from ingest.store import Cursor, Store, insert, one, spread

LARGEST_SHARE = 1 / 4
"""Of all texts: were more outputs candidates, to keep them apart would double the store and win little."""
ALWAYS_ROOM = 4_096
"""Outputs that are kept however few there are in all."""

_KINDS = ("fence", "span")
_COLUMNS: Columns = (
    ("verdict_key", pa.uuid()), ("content", pa.string()), ("reasoning", pa.string()), ("tool_calls", pa.string()),
    ("tools", pa.uuid()), ("tools_known", pa.bool_()), ("inferred_names", pa.list_(pa.string())),
    ("finish_reason", pa.string()), ("mode", pa.string()), ("code", pa.list_(pa.int32())), ("code_by", pa.string()),
    ("bytes", pa.int32()),
)  # fmt: skip
_INSERT = """
INSERT INTO candidate_outputs BY NAME FROM arriving a
WHERE NOT EXISTS (FROM candidate_outputs c WHERE c.verdict_key = a.verdict_key)
"""
_COUNTS = "SELECT (SELECT count(hash) FROM texts), (SELECT count(verdict_key) FROM candidate_outputs)"
_EMPTY = "INSERT INTO candidate_outputs BY NAME SELECT NULL AS verdict_key"


class Stored(NamedTuple):
    """An output as the store has it. `tools` is the key of its tool list, `tool_calls` JSON; `code` is None where its
    code regions were not looked for."""

    verdict_key: bytes
    content: str | None
    reasoning: str | None
    tool_calls: str | None
    tools: bytes | None
    tools_known: bool
    inferred_names: tuple[str, ...] | None
    finish_reason: str | None
    mode: CallMode
    code: list[int] | None = None

    def output(self, tool_lists: Mapping[bytes, str]) -> Output:
        """It as a detector sees it."""
        output = output_of_columns(
            content=self.content,
            reasoning=self.reasoning,
            calls=self.tool_calls,
            tools=tool_lists[self.tools] if self.tools else None,
            tools_known=self.tools_known,
            inferred_names=self.inferred_names,
            finish_reason=self.finish_reason,
            mode=self.mode,
        )
        return output if self.code is None else output.with_code(_regions(self.code))


def arrived(generation: Judgeable, batch: Batch) -> Stored:
    """A generation of a batch."""
    entry, texts = generation.entry, batch.texts
    return Stored(
        generation.verdict_key,
        texts[entry.content] if entry.content else None,
        texts[entry.reasoning] if entry.reasoning else None,
        texts[entry.tool_calls] if entry.tool_calls else None,
        entry.tools,
        entry.tools_known,
        generation.inferred_names,
        entry.finish_reason,
        entry.mode,
    )


def room(cursor: Cursor) -> int:
    """How many more outputs may be kept."""
    [texts, kept] = one(cursor, _COUNTS)
    return ALWAYS_ROOM + int(texts * LARGEST_SHARE) - int(kept)


def keep(cursor: Cursor, outputs: Sequence[tuple[Stored, Output]]) -> None:
    """Keep the outputs that are not there yet, each with its code regions. Within the writer's transaction."""
    rows = [(*stored[:-1], _numbers(output.content_code), _code_by(), _bytes(stored)) for stored, output in outputs]
    if rows:
        kept = insert(cursor, _INSERT, table(_COLUMNS, rows))
        spread(cursor, _EMPTY, kept, sum(_bytes(stored) for stored, _ in outputs) if kept else 0)


def forget_outdated(store: Store) -> None:
    """Delete what was kept with code regions that are found otherwise now."""
    with store.cursor() as cursor:
        [outdated] = one(cursor, "SELECT count(*) FROM candidate_outputs WHERE code_by <> $1", [_code_by()])
    if outdated:
        with store.transaction() as writer:
            writer.execute("DELETE FROM candidate_outputs WHERE code_by <> $1", [_code_by()])


def _numbers(regions: Iterable[Region]) -> list[int]:
    return [number for each in regions for number in (each.start, each.end, _KINDS.index(each.kind))]


def _regions(numbers: list[int]) -> tuple[Region, ...]:
    starts, ends, kinds = numbers[::3], numbers[1::3], numbers[2::3]
    return tuple(
        Region(start, end, "span" if kind else "fence") for start, end, kind in zip(starts, ends, kinds, strict=True)
    )


@cache
def _code_by() -> str:
    return source_hash(markdown.__name__)


def _bytes(stored: Stored) -> int:
    return sum(len(text.encode()) for text in (stored.content, stored.reasoning, stored.tool_calls) if text)
