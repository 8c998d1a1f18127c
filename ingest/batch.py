"""A batch: what a stretch of lines brought, hashed, before any store is involved."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl
from pydantic import TypeAdapter

from ingest.formats import Quarantined
from ingest.identity import text_hash
from ingest.records import CallMode, Label, LeakedToolCall, Run, Tool


class Entry(NamedTuple):
    """A generation, hashed: what identifies it, what a detector may look at, and its row for the store.

    It holds no record: a batch of thousands keeps few objects alive, or garbage collection would cost more than
    reading. The texts stand in the batch.
    """

    line: int
    key: bytes
    run_id: str
    generation_id: str | None
    content: bytes | None
    reasoning: bytes | None
    tool_calls: bytes | None
    tools: bytes | None
    tools_known: bool
    finish_reason: str | None
    mode: CallMode
    told_names: tuple[str, ...] | None
    """The names that its run called, where the record itself tells them: a pack holds only a part of a run."""
    row: tuple[Any, ...]
    """The values of `columns.GENERATIONS` but for the verdict key and the inferred names."""


class Judgeable(NamedTuple):
    """An entry with what the rest of its batch tells: `inferred_names` are empty where the tools are known."""

    entry: Entry
    inferred_names: tuple[str, ...]
    verdict_key: bytes

    @property
    def row(self) -> tuple[Any, ...]:
        """The values of `columns.GENERATIONS`."""
        return (*self.entry.row, self.verdict_key, self.inferred_names or None)


@dataclass(slots=True)
class Batch:
    """What a stretch of lines brought. `texts` and `tool_lists` are by hash."""

    lines: int = 0
    generations: list[Judgeable] = field(default_factory=list)
    events: list[tuple[int, LeakedToolCall]] = field(default_factory=list)
    runs: list[tuple[int, Run]] = field(default_factory=list)
    labels: list[tuple[int, Label]] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    texts: dict[bytes, str] = field(default_factory=dict)
    tool_lists: dict[bytes, str] = field(default_factory=dict)
    _column: pl.Series | None = None

    def column(self) -> pl.Series:
        """The texts in their order, once all are kept: one copy, for what stores them and what searches them."""
        if self._column is None:
            self._column = pl.Series(self.texts.values(), dtype=pl.String)
        return self._column

    def keep(self, text: str | None) -> bytes | None:
        """Keep `text` and give its hash; None for None."""
        return None if text is None else _keep(self.texts, text)

    def keep_tools(self, tools: list[Tool] | None) -> bytes | None:
        """Keep a tool list as JSON and give its hash; None for None."""
        if tools is None:
            return None
        offer = _offer(tools)
        self.tool_lists[offer.key] = offer.text
        return offer.key


def _keep(kept: dict[bytes, str], text: str) -> bytes:
    key = text_hash(text)
    kept[key] = text
    return key


_TOOLS = TypeAdapter(list[Tool])
_MOST_OFFERS = 16


class _Offer(NamedTuple):
    """A tool list, its JSON and the hash of that."""

    tools: list[Tool]
    text: str
    key: bytes


_offers: dict[int, _Offer] = {}
"""By the identity of a list, which stays alive here: records that offer the same mostly share the list."""


def _offer(tools: list[Tool]) -> _Offer:
    if (known := _offers.get(id(tools))) is not None:
        return known
    text = _TOOLS.dump_json(tools, exclude_unset=True).decode()
    if len(_offers) >= _MOST_OFFERS:
        _offers.clear()
    return _offers.setdefault(id(tools), _Offer(tools, text, text_hash(text)))
