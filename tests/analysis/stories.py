"""Small run logs, written as records and really ingested, and detectors that find plain words."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.detectors import Detector, Finding, Tier
from analysis.judging import judge_for
from analysis.output import Output
from analysis.registry import current, register
from ingest.files.containers import Source
from ingest.pipeline import UploadResult, ingest
from ingest.records import Kind
from ingest.store import Store

Json = dict[str, Any]

TOOLS = [{"name": "ls"}, {"name": "read"}]
LEAK = "<tool_call>\n<function=ls>\n</function>\n</tool_call>"
"""A leak for each of the four seed detectors."""


def said(content: str | None, *place: int, run: str = "r", **fields: Any) -> Json:
    """A generation; `place` is its round and attempt, as far as they are told. A field set to ... is absent."""
    where = dict(zip(("round", "attempt"), place, strict=False))
    record = {"type": "generation", "run_id": run, "tools": TOOLS, "content": content, **where, **fields}
    return {name: value for name, value in record.items() if value is not ...}


def leaked(*place: int, **fields: Any) -> Json:
    """A generation that leaks a call."""
    return said(LEAK, *place, **fields)


def called(*place: int, arguments: str = "{}", **fields: Any) -> Json:
    """A generation with a structured call."""
    return said(None, *place, tool_calls=[{"name": "ls", "arguments": arguments}], **fields)


def label(generation_id: str, leak: bool | None, by: str = "ana", **fields: Any) -> Json:
    """A person's verdict."""
    return {"type": "label", "generation_id": generation_id, "leak": leak, "by": by, **fields}


def event_of(markup: str, **fields: Any) -> Json:
    """A client's report of a leak in run r."""
    return {"type": "leaked_tool_call", "run_id": "r", "markup": markup, "leak": 1, "retried": False, **fields}


def numbered(records: Iterable[Json]) -> list[Json]:
    """The records, generations without an id named g0, g1, … in their order."""
    found: list[Json] = []
    count = 0
    for record in records:
        if record["type"] == "generation":
            record = {"generation_id": f"g{count}", **record}
            count += 1
        found.append(record)
    return found


def add(store: Store, records: Iterable[Json], by: Detector | None = None) -> UploadResult:
    """Ingest `records` as one file, judged by `by`, else by the store's current detector."""
    path = store.path.parent / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    if by:
        register(store, by)
    return ingest(store, Source(path, path.name), judge_for(by or current(store)), format_name="native")


@contextmanager
def store_of(folder: Path, records: Iterable[Json], by: Detector | None = None) -> Iterator[Store]:
    """A new store with `records` in it, their generations `numbered`."""
    with Store.open(folder / "store.duckdb", create=True) as store:
        add(store, numbered(records), by)
        yield store


def dice(seed: int) -> random.Random:
    """A generator that throws the same each time."""
    return random.Random(seed)  # noqa: S311 - no cryptography


def rows(store: Store, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """What `sql` gives on a cursor of its own."""
    with store.cursor() as cursor:
        return cursor.execute(sql, list(values)).fetchall()


def verdicts(store: Store, of: Detector) -> list[tuple[Any, ...]]:
    """All verdicts of a detector, whole, in an order of their own."""
    return sorted(rows(store, "FROM verdicts WHERE detector = $1", of.id), key=repr)


Words = Mapping[str, tuple[Kind, Tier]]
BOOM = "BOOM"
"""What the word detectors fail on."""


def finds(name: str, words: Words, told: Callable[[Output], object] = lambda _: None) -> Detector:
    """A detector that takes the first of `words` in the content for a leak and raises on BOOM; `told` sees all."""

    def find(output: Output) -> Finding | None:
        told(output)
        text = output.content or ""
        if BOOM in text:
            raise ValueError(f"cannot read {text}")
        return next((_finding(text, word, *what) for word, what in words.items() if word in text), None)

    return detector(name, find, (*words, BOOM))


def detector(
    name: str, find: Callable[[Output], Finding | None], triggers: Sequence[str], version: int = 1
) -> Detector:
    """A detector without examples."""
    return Detector(name, version, "for tests", "tests", tuple(triggers), find, (), ())


def _finding(text: str, word: str, kind: Kind, tier: Tier) -> Finding:
    at = text.index(word)
    return Finding(
        kind=kind, family=None, tier=tier, tool=None, channel="content",
        start=at, end=at + len(word), markup=word, reason=f"{word} stands there",
    )  # fmt: skip


WORDS: Words = {
    "LEAK": ("leaked_call", "certain"),
    "CUT": ("truncated_call", "likely"),
    "PRINTED": ("printed_call", "certain"),
    "MAYBE": ("orphan_markup", "possible"),
}
