"""The bytes of one file or archive member: decompressed, without a byte order mark, refused where they are no text.

Content decides, never a name: gzip and zstd are known by their first bytes.
"""

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from ingest.errors import InputError, UnreadableInput
from ingest.files.compression import Codec, Unpacked, codec
from ingest.files.refusals import binary_kind

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD = 512
"""Bytes that tell what a file is: the magic of a tar stands at 257."""
PEEK = 64 << 10
"""Bytes that tell how a text is framed."""
BUFFER = 256 << 10
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


Broken = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes to read. `head` is their start, up to PEEK, which `stream` gives again; `broken` tells, once the stream
    has ended, why it ended early."""

    name: str
    head: bytes
    stream: io.BufferedReader
    broken: Broken


def whole() -> None:
    """Nothing is wrong with what was read."""


def content(name: str, stream: BinaryIO) -> Content:
    """What `stream` holds from where it stands.

    UnreadableInput for UTF-16; InputError for an archive, another binary file, a bomb, or what is compressed twice.
    """
    head = _read(stream, PEEK)
    if packing := codec(head):
        chunks = chain([head], iter(partial(stream.read, packing.piece), b""))
        return _plain(name, *_unpacked(name, packing, chunks))
    text = _text(name, head)
    if isinstance(stream, io.BufferedReader) and stream.seekable():
        stream.seek(-len(text), os.SEEK_CUR)
        return Content(name, text, stream, whole)
    return Content(name, text, joined(chain([text], iter(partial(stream.read, BUFFER), b""))), whole)


def of_pieces(name: str, pieces: Iterator[bytes], broken: Broken) -> Content:
    """What an archive's member holds, given its bytes and what is wrong with them once they have ended."""
    head = _gathered(pieces)
    if packing := codec(head):
        return _plain(name, *_unpacked(name, packing, chain([head], pieces)))
    return _plain(name, chain([head], pieces), broken)


def _unpacked(name: str, packing: Codec, chunks: Iterator[bytes]) -> tuple[Iterator[bytes], Broken]:
    small = (chunk[at : at + packing.piece] for chunk in chunks for at in range(0, len(chunk), packing.piece))
    unpacked = Unpacked(name, packing, small)
    return iter(unpacked), lambda: unpacked.fault


def _plain(name: str, pieces: Iterator[bytes], broken: Broken) -> Content:
    """Bytes that must be plain by now."""
    head = _gathered(pieces)
    if codec(head):
        raise InputError(f"{name}: compressed twice, which is not supported; decompress it once")
    text = _text(name, head)
    return Content(name, text[:PEEK], joined(chain([text], pieces)), broken)


def _gathered(pieces: Iterator[bytes]) -> bytes:
    """The first PEEK bytes or more of `pieces`."""
    head: list[bytes] = []
    size = 0
    while size < PEEK and (piece := next(pieces, b"")):
        head.append(piece)
        size += len(piece)
    return b"".join(head)


def is_archive(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file, begin a zip or a tar archive."""
    return head.startswith(b"PK\x03\x04") or head.startswith(b"ustar", 257)


def _read(stream: BinaryIO, size: int) -> bytes:
    """`size` bytes, or what there is: a pipe gives less at a time."""
    found = stream.read(size)
    while 0 < len(found) < size and (more := stream.read(size - len(found))):
        found += more
    return found


def _text(name: str, head: bytes) -> bytes:
    """`head` without its byte order mark; an error for what is no text by its first bytes."""
    if head.startswith(UTF16_BOMS):
        raise UnreadableInput(f"{name}: UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")
    if is_archive(head):
        raise InputError(f"{name}: an archive within another, which is not read; unpack the outer one")
    if why := binary_kind(head):
        raise InputError(f"{name}: {why}")
    return head.removeprefix(UTF8_BOM)


def joined(pieces: Iterator[bytes]) -> io.BufferedReader:
    """An iterator of byte strings as a stream."""
    return io.BufferedReader(_Pieces(pieces), BUFFER)


class _Pieces(io.RawIOBase):
    """An iterator of byte strings as a raw stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        while not self._rest:
            if (piece := next(self._pieces, None)) is None:
                return 0
            self._rest = memoryview(piece)
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
