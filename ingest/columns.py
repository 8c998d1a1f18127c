"""Records as Arrow tables: the columns of the store, one row a record."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa
from pydantic_core import to_json

from ingest.facts import Reply, eligible, tools_known
from ingest.formats import Quarantined
from ingest.identity import NONE, SIZE, fields_hash
from ingest.records import SERIES, Generation, Label, LeakedToolCall, Native, Run

Columns: TypeAlias = tuple[tuple[str, pa.DataType], ...]

_TEXT, _INT, _BIG, _BOOL, _LIST = pa.string(), pa.int32(), pa.int64(), pa.bool_(), pa.list_(pa.string())
_TIME, _HASH = pa.timestamp("us"), pa.uuid()
_SERIES: Columns = tuple((name, _TEXT) for name in SERIES)

GENERATIONS: Columns = (
    ("key", _HASH), ("line", _BIG), ("position", _INT),
    ("run_id", _TEXT), ("generation_id", _TEXT), ("turn", _INT), ("round", _INT), ("attempt", _INT),
    ("linked_by", _TEXT), ("started_at", _TIME), *_SERIES,
    ("call_mode", _TEXT), ("status", _TEXT), ("role", _TEXT),
    ("finish_reason", _TEXT), ("finish_fidelity", _TEXT), ("text_fidelity", _TEXT), ("tool_choice", _TEXT),
    ("content", _HASH), ("reasoning", _HASH), ("tool_calls", _HASH), ("tools", _HASH), ("raw_text", _HASH),
    ("usage", _TEXT), ("tags", _TEXT), ("extra", _TEXT), ("nulls", _LIST),
    ("tools_known", _BOOL), ("mode", _TEXT), ("eligible", _BOOL), ("reply", _TEXT),
    ("verdict_key", _HASH), ("inferred_names", _LIST),
)  # fmt: skip
EVENTS: Columns = (
    ("key", _HASH), ("line", _BIG), ("run_id", _TEXT), ("generation_id", _TEXT), ("round", _INT),
    ("reported_at", _TIME), ("markup", _TEXT), ("leak", _INT), ("retried", _BOOL), ("detector", _TEXT),
    ("extra", _TEXT), ("nulls", _LIST),
)  # fmt: skip
RUNS: Columns = (
    ("key", _HASH), ("line", _BIG), ("run_id", _TEXT), *_SERIES,
    ("tags", _TEXT), ("extra", _TEXT), ("nulls", _LIST),
)  # fmt: skip
LABELS: Columns = (
    ("key", _HASH), ("line", _BIG), ("generation_id", _TEXT), ("run_id", _TEXT), ("leak", _BOOL),
    ("kind", _TEXT), ("by_whom", _TEXT), ("labelled_at", _TIME), ("note", _TEXT),
    ("resolution", _BOOL), ("extra", _TEXT), ("nulls", _LIST),
)  # fmt: skip
KEYS: Columns = (("key", _HASH), ("verdict_key", _HASH))
TEXTS: Columns = (("hash", _HASH), ("text", _TEXT))
QUARANTINE: Columns = (("line", _BIG), ("reason", _TEXT), ("excerpt", _TEXT))


def table(columns: Columns, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """An Arrow table of `rows`, each with the values of `columns` in order."""
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [_array(column, kind) for column, (_, kind) in zip(values, columns, strict=True)]
    return pa.table(arrays, names=[name for name, _ in columns])


def texts(hashes: Collection[bytes], words: pl.Series) -> pa.Table:
    """An Arrow table of TEXTS that shares its texts with `words`."""
    arrays = [_hashes([*hashes]), words.to_arrow(compat_level=pl.CompatLevel.newest())]
    return pa.table(arrays, names=[name for name, _ in TEXTS])


_PLAIN = {_TEXT: pl.String, _INT: pl.Int32, _BIG: pl.Int64, _BOOL: pl.Boolean, _TIME: pl.Int64}


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """By Polars: the first `pa.array` of a process imports pandas, which takes a third of a second."""
    if kind == _HASH:
        return _hashes(values)
    if isinstance(kind, pa.ListType):
        return _lists(values, kind.value_type)
    array = pl.Series(values, dtype=_PLAIN[kind]).to_arrow()
    return array.view(kind) if kind == _TIME else array


def _hashes(values: Sequence[bytes | None]) -> pa.Array:
    present = pl.Series([value is not None for value in values], dtype=pl.Boolean).to_arrow()
    data = pa.py_buffer(b"".join(value or NONE for value in values))
    storage = pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIZE), len(values), [present.buffers()[1], data])
    return pa.ExtensionArray.from_storage(_HASH, storage)


def _lists(values: Sequence[Sequence[Any] | None], kind: pa.DataType) -> pa.Array:
    """A list that begins nowhere is a null."""
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    offsets = pl.Series([*starts, ends[-1]], dtype=pl.Int32).to_arrow()
    parts = _array([part for value in values for part in value or ()], kind)
    return pa.ListArray.from_arrays(offsets, parts)


def generation_row(
    g: Generation, key: bytes, line: int, position: int, hashes: Sequence[bytes | None], reply: Reply
) -> tuple[Any, ...]:
    """The values of GENERATIONS but for the last two, which wait for the whole batch; `hashes` are those of
    content, reasoning, tool_calls, tools, raw_text."""
    return (
        key, line, position,
        g.run_id, g.generation_id, g.turn, g.round, g.attempt,
        g.linked_by, _micros(g.started_at), *_series(g),
        g.call_mode, g.status, g.role,
        g.finish_reason, g.finish_fidelity, g.text_fidelity, _json(g.tool_choice),
        *hashes,
        g.usage and g.usage.model_dump_json(exclude_unset=True), _json(g.tags), _extra(g), _nulls(g),
        tools_known(g), g.effective_call_mode, eligible(g, reply), reply,
    )  # fmt: skip


def event_row(line: int, event: LeakedToolCall) -> tuple[Any, ...]:
    """The values of EVENTS."""
    return (
        _content_key(event), line, event.run_id, event.generation_id, event.round,
        _micros(event.at), event.markup, event.leak, event.retried, event.detector,
        _extra(event), _nulls(event),
    )  # fmt: skip


def run_row(line: int, run: Run) -> tuple[Any, ...]:
    """The values of RUNS."""
    return (_content_key(run), line, run.run_id, *_series(run), _json(run.tags), _extra(run), _nulls(run))


def label_row(line: int, label: Label) -> tuple[Any, ...]:
    """The values of LABELS."""
    return (
        _content_key(label), line, label.generation_id, label.run_id, label.leak,
        label.kind, label.by, _micros(label.at), label.note,
        label.resolution, _extra(label), _nulls(label),
    )  # fmt: skip


def quarantine_row(item: Quarantined) -> tuple[Any, ...]:
    """The values of QUARANTINE."""
    return (item.line, item.why, item.excerpt)


def _content_key(record: Native) -> bytes:
    return fields_hash(record.model_dump_json(exclude_unset=True))


def _series(record: Generation | Run) -> tuple[str | None, ...]:
    return (
        record.model, record.provider, record.engine, record.engine_version,
        record.template, record.tool_parser, record.client, record.client_version,
    )  # fmt: skip


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _micros(moment: datetime | None) -> int | None:
    """DuckDB's TIMESTAMP has no zone and counts microseconds; ours are all UTC."""
    return (moment - _EPOCH) // _MICROSECOND if moment else None


def _json(value: Any) -> str | None:
    return None if value is None else to_json(value).decode()


def _extra(record: Native) -> str | None:
    return _json(record.model_extra) if record.model_extra else None


def _nulls(record: Native) -> list[str] | None:
    """The declared fields that are null in the source, which is not the same as absent."""
    values = record.__dict__  # declared fields alone; unknown ones stand in model_extra
    return sorted([name for name in record.model_fields_set if values.get(name, "") is None]) or None
