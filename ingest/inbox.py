"""Messages that were sent by running applications, from their arrival until what they tell stands in an upload.

What was kept is never lost: a message is acknowledged once it is here, and leaves only some minutes after the
transaction that brought what it tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pydantic_core import from_json

from ingest.columns import Columns, table
from ingest.otlp.intake import Message, spelled
from ingest.store import Cursor, Store, insert, one

READ_AT_ONCE = 16 * 2**20
"""Bytes of messages that are read from the store at a time, but for the last one's."""

_COLUMNS: Columns = (
    ("service", pa.string()), ("message", pa.string()), ("bytes", pa.int64()), ("mended", pa.bool_()),
)  # fmt: skip
_PUT = "INSERT INTO otlp_messages BY NAME FROM arriving"
_LAST_AT_ONCE = """
SELECT max(number) FROM (
    SELECT number, sum(bytes) OVER (ORDER BY number) - bytes AS before FROM otlp_messages
    WHERE number > $after AND (upload_id IS NOT NULL) = $settled
) WHERE before < $most
"""
_READ = """
SELECT number, service, message, mended FROM otlp_messages
WHERE number > $after AND number <= $last AND (upload_id IS NOT NULL) = $settled ORDER BY number
"""
_SETTLED = "UPDATE otlp_messages SET upload_id = $upload WHERE number IN (SELECT unnest($numbers::BIGINT[]))"
_TOO_MANY = """
SELECT coalesce(max(number), 0) FROM (
    SELECT number, sum(bytes) OVER (ORDER BY number DESC) AS since FROM otlp_messages WHERE upload_id IS NOT NULL
) WHERE since > $most
"""
_FORGET = "DELETE FROM otlp_messages WHERE upload_id IS NOT NULL AND number <= $last"


@dataclass(frozen=True, slots=True)
class Kept:
    """A message in the inbox."""

    number: int
    service: str
    value: dict[str, Any]
    mended: bool


def put(store: Store, messages: Sequence[Message]) -> int:
    """Keep messages, all or none of them, without waiting for an upload under way; their bytes."""
    texts = [spelled(message) for message in messages]
    rows = [(each.service, text.decode(), len(text), each.mended) for each, text in zip(messages, texts, strict=True)]
    if rows:
        with store.brief() as cursor:
            insert(cursor, _PUT, table(_COLUMNS, rows))
    return sum(map(len, texts))


def read(store: Store, after: int, *, settled: bool) -> list[Kept]:
    """The next messages with a number above `after`, as many as are read at once: those whose tale stands in an
    upload, or those that wait."""
    asked = {"after": after, "settled": settled}
    with store.cursor() as cursor:
        [last] = one(cursor, _LAST_AT_ONCE, {**asked, "most": READ_AT_ONCE})
        rows = cursor.execute(_READ, {**asked, "last": last or 0}).fetchall()
    return [Kept(number, service, from_json(message), mended) for number, service, message, mended in rows]


def waiting_bytes(store: Store) -> int:
    """Bytes of the messages that were not read yet."""
    with store.cursor() as cursor:
        [size] = one(cursor, "SELECT coalesce(sum(bytes), 0) FROM otlp_messages WHERE upload_id IS NULL")
    return int(size)


def settled(cursor: Cursor, upload_id: int, numbers: Sequence[int]) -> None:
    """Note that what these messages tell stands in an upload. Within the transaction that brings it."""
    cursor.execute(_SETTLED, {"upload": upload_id, "numbers": list(numbers)})


def forget(store: Store, last: int, most: int) -> None:
    """Delete the messages up to the number `last` that were read, and the oldest of them beyond `most` bytes."""
    with store.cursor() as cursor:
        [too_many] = one(cursor, _TOO_MANY, {"most": most})
        [there] = one(cursor, "SELECT count(*) FROM otlp_messages WHERE upload_id IS NOT NULL AND number <= $1",
                      [max(last, too_many)])  # fmt: skip
    if there:
        with store.transaction() as writer:
            writer.execute(_FORGET, {"last": max(last, too_many)})
