"""128-bit content hashes: what makes two texts, two outputs, two records the same.

BLAKE2b (RFC 7693) cut to 16 bytes: uploads are hostile, so a hash that collides on demand would let one text
stand in for another.
"""

from collections.abc import Iterable
from hashlib import blake2b

from ingest.records import CallMode

SIZE = 16
NONE = bytes(SIZE)
"""Stands where a channel is absent, null or empty: a detector cannot tell these apart."""


def digest(data: bytes) -> bytes:
    """The 16-byte hash of `data`."""
    return blake2b(data, digest_size=SIZE).digest()


def text_hash(text: str) -> bytes:
    """The 16-byte hash of a text without lone surrogates."""
    return blake2b(text.encode(), digest_size=SIZE).digest()


def fields_hash(*fields: object) -> bytes:
    """The hash of a row of plain values; their `repr` keeps None, "None", 1 and "1" apart."""
    return digest(repr(fields).encode("utf-8", "backslashreplace"))


def verdict_key(
    *,
    content: bytes | None,
    reasoning: bytes | None,
    tool_calls: bytes | None,
    tools: bytes | None,
    tools_known: bool,
    finish_reason: str | None,
    mode: CallMode,
    inferred_names: Iterable[str],
) -> bytes:
    """The hash of everything that a detector may look at; the first four are hashes of texts.

    Inferred names count only where the tools are unknown, as for a detector.
    """
    inferred = None if tools_known else sorted(inferred_names)
    rest = repr((tools_known, finish_reason, mode, inferred)).encode("utf-8", "backslashreplace")
    return digest(b"".join((content or NONE, reasoning or NONE, tool_calls or NONE, tools or NONE, rest)))
