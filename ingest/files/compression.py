"""Compressed bytes, gzip and zstd, unfolded piece by piece, with what was readable of a damaged stream."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import zstandard

from ingest.errors import TooLarge

RATIO_LIMIT = 1000
"""Bytes out of a decompressor for each byte into it …"""
RATIO_FREE = 64 << 20
"""… which holds only after this many bytes of output: short runs of one letter are harmless."""
TOTAL_LIMIT = 256 << 30
"""Bytes that one compressed input may unfold to."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A compression: `start` gives a decoder of one member (gzip) or frame (zstd).

    `piece` bounds memory: it is the bytes fed at once, and a decoder gives all their output at once, which
    is at most 4 MiB for 4 KiB of deflate (1032 for one) and 44 MiB for 1 KiB of zstd (128 KiB for three).
    """

    name: str
    start: Callable[[], Any]
    piece: int
    padding: bytes


GZIP = Codec("gzip", lambda: zlib.decompressobj(wbits=31), 4096, b"\0")
ZSTD = Codec("zstd", lambda: zstandard.ZstdDecompressor().decompressobj(), 1024, b"")
DEFLATE = Codec("zip", lambda: zlib.decompressobj(wbits=-15), 4096, b"")
"""What a zip holds: deflate without a header of its own."""
DAMAGE = (zlib.error, zstandard.ZstdError)


def codec(head: bytes) -> Codec | None:
    """What `head`, the first bytes of a stream, is compressed with; None for nothing known."""
    if head.startswith(b"\x1f\x8b"):
        return GZIP
    skippable = head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50
    return ZSTD if head.startswith(b"\x28\xb5\x2f\xfd") or skippable else None


class Unpacked:
    """The decompressed pieces of `chunks`, all members or frames of them.

    Iteration ends where the stream is cut or corrupt, and `fault` then says so. TooLarge for a stream
    that unfolds beyond the limits.
    """

    def __init__(self, name: str, codec: Codec, chunks: Iterable[bytes]) -> None:
        self.fault: str | None = None
        self._name = name
        self._codec = codec
        self._chunks = chunks
        self._read = self._written = 0

    def __iter__(self) -> Iterator[bytes]:
        decoder, inside = self._codec.start(), False
        for chunk in self._chunks:
            self._read += len(chunk)
            while chunk := chunk if inside else chunk.lstrip(self._codec.padding):
                inside, before = True, _copy(decoder)
                try:
                    piece = decoder.decompress(chunk)
                except DAMAGE as damage:
                    self.fault = f"the {self._codec.name} stream is corrupt here ({damage}); what follows is lost"
                    yield from _before_damage(before, chunk)
                    return
                self._check(len(piece))
                if piece:
                    yield piece
                if not decoder.eof:
                    break
                chunk, decoder, inside = decoder.unused_data, self._codec.start(), False
        if inside:
            self.fault = f"the {self._codec.name} stream ends early here (a cut copy?)"

    def _check(self, size: int) -> None:
        self._written += size
        if self._written > TOTAL_LIMIT:
            raise TooLarge(f"{self._name}: unfolds to more than {TOTAL_LIMIT >> 30} GiB; split it")
        if self._written > RATIO_FREE and self._written > RATIO_LIMIT * self._read:
            raise TooLarge(f"{self._name}: unfolds more than {RATIO_LIMIT}-fold, like a bomb; decompress it yourself")


def _copy(decoder: Any) -> Any:
    """A second decoder in the same state; None for zstd, whose blocks are all or nothing anyway."""
    return decoder.copy() if hasattr(decoder, "copy") else None


def _before_damage(decoder: Any, chunk: bytes) -> Iterator[bytes]:
    """The output of `chunk` up to the damage in it, which the failed call has dropped."""
    if decoder is None:
        return
    try:
        for position in range(len(chunk)):
            yield decoder.decompress(chunk[position : position + 1])
    except DAMAGE:
        return
