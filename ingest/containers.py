"""What a user points at: files, folders, globs and standard input, as numbered and bounded byte lines.

Content decides, never a name: gzip and zstd are known by their first bytes. Lines end at `\\n` alone, since
a JSON string may hold every other line separator.
"""

import glob
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ingest.compression import Unpacked, codec
from ingest.errors import InputError, UnreadableInput

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MEBIBYTE = 1 << 20
LINE_LIMIT = 64 * MEBIBYTE
"""Bytes of a line; a longer one is passed over, not loaded."""
HEAD = 512
"""Bytes that tell what a file is: the magic of a tar stands at 257."""
BUFFER = 256 << 10
KEPT_OF_LONG = 800
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
ARCHIVES = (
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\xfd7zXZ\0", "an xz file"),
    (4, b"1AY&SY", "a bzip2 file"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """One input; `path` is None for standard input, `name` is what to show."""

    path: Path | None
    name: str


STDIN = Source(None, "standard input")


@dataclass(slots=True)
class RawLine:
    """One line: its number from 1, its bytes without the line ending, and what is wrong with it, if anything.

    With a fault, `data` is what could be read of the line. Not frozen: a million of these are made a second.
    """

    number: int
    data: bytes
    fault: str | None = None


def expand(arguments: Sequence[str]) -> list[Source]:
    """The inputs that command-line arguments name, in their order, each once.

    A folder gives its regular files, sorted, at any depth; names that start with a dot are left out, folders
    of such a name too. A pattern counts only where no file of that very name exists. `-` is standard input.
    UnreadableInput for an argument that gives nothing to read.
    """
    return list(dict.fromkeys(chain.from_iterable(map(_expanded, arguments))))


def _expanded(argument: str) -> list[Source]:
    if argument == "-":
        return [STDIN]
    if not os.path.lexists(argument) and glob.has_magic(argument):
        matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not matches:
            raise UnreadableInput(f"{argument}: the pattern matches nothing; check it, or quote it less")
        return [source for match in matches for source in _readable(Path(match))]
    return _readable(Path(argument))


def _readable(path: Path) -> list[Source]:
    try:
        mode = path.stat().st_mode
    except OSError as fault:
        raise _unreadable(str(path), fault) from None
    if stat.S_ISDIR(mode):
        return _files(path)
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise UnreadableInput(f"{path}: a device or socket, not a file; pipe its data to `-`")
    if not os.access(path, os.R_OK):
        raise UnreadableInput(f"{path}: no permission to read it; change its mode or its owner")
    return [Source(path, str(path))]


def _files(folder: Path) -> list[Source]:
    found: list[Path] = []
    try:
        for root, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [Path(root, name) for name in names if not name.startswith(".")]
    except OSError as fault:
        raise _unreadable(str(fault.filename or folder), fault) from None
    sources = [source for path in sorted(found) if path.is_file() for source in _readable(path)]
    if not sources:
        raise UnreadableInput(f"{folder}: a folder without files to read; name another one")
    return sources


def _raise(fault: OSError) -> None:
    raise fault


def _unreadable(name: str, fault: OSError) -> UnreadableInput:
    match fault:
        case FileNotFoundError():
            return UnreadableInput(f"{name}: no such file or folder; check the path")
        case PermissionError():
            return UnreadableInput(f"{name}: no permission to read it; change its mode or its owner")
        case _:
            return UnreadableInput(f"{name}: cannot be read ({fault.strerror or fault}); check the disk or copy it")


def read_lines(source: Source, *, stdin: BinaryIO | None = None, limit: int = LINE_LIMIT) -> Iterator[RawLine]:
    """The lines of `source`, decompressed.

    A line of more than `limit` bytes comes with a fault and its start; memory stays below about twice
    `limit`. A compressed stream that is cut or corrupt gives the lines before the damage, then one with a
    fault. UnreadableInput if it cannot be read or is UTF-16; InputError for an archive or a bomb.
    """
    try:
        if source.path is None:
            yield from _content_lines(source.name, stdin or sys.stdin.buffer, limit)
        else:
            with source.path.open("rb", buffering=BUFFER) as stream:
                yield from _content_lines(source.name, stream, limit)
    except OSError as fault:
        raise _unreadable(source.name, fault) from None


def _content_lines(name: str, stream: BinaryIO, limit: int) -> Iterator[RawLine]:
    head = stream.read(HEAD)
    if packing := codec(head):
        chunks = chain([head], _chunks(stream, packing.piece))
        return _unpacked_lines(name, Unpacked(name, packing, chunks), limit)
    text = _text(name, head)
    if isinstance(stream, io.BufferedReader) and stream.seekable():
        stream.seek(-len(text), os.SEEK_CUR)
        return _lines(stream, limit)
    return _lines(_joined(chain([text], _chunks(stream, BUFFER))), limit)


def _unpacked_lines(name: str, unpacked: Unpacked, limit: int) -> Iterator[RawLine]:
    pieces = iter(unpacked)
    head = b""
    while len(head) < HEAD and (piece := next(pieces, b"")):
        head += piece
    if codec(head):
        raise InputError(f"{name}: compressed twice, which is not supported; decompress it once")
    return _lines(_joined(chain([_text(name, head)], pieces)), limit, lambda: unpacked.fault)


def _chunks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    return iter(partial(stream.read, size), b"")


def _text(name: str, head: bytes) -> bytes:
    """`head` without its byte order mark; an error for what is no UTF-8 text by its first bytes."""
    if head.startswith(UTF16_BOMS):
        raise UnreadableInput(f"{name}: UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")
    for offset, magic, what in ARCHIVES:
        if head.startswith(magic, offset):
            raise InputError(f"{name}: {what}, which is not supported yet; unpack it to JSON Lines")
    return head.removeprefix(UTF8_BOM)


def _lines(stream: io.BufferedReader, limit: int, broken: Callable[[], str | None] = lambda: None) -> Iterator[RawLine]:
    """The lines of `stream`; `broken` tells, once it has ended, why it ended early."""
    readline, number, fault = stream.readline, 0, None
    while data := readline(limit + 1):
        number += 1
        if data.endswith(b"\n"):
            yield RawLine(number, data[:-2] if data.endswith(b"\r\n") else data[:-1])
        elif len(data) > limit:
            data = data[:KEPT_OF_LONG]
            _skip_line(readline, limit)
            yield RawLine(number, data, f"longer than {_size(limit)}")
        else:
            fault = broken()
            yield RawLine(number, data, fault)
    if fault is None and (fault := broken()):
        yield RawLine(number + 1, b"", fault)


def _skip_line(readline: Callable[[int], bytes], limit: int) -> None:
    while (chunk := readline(min(limit, BUFFER))) and not chunk.endswith(b"\n"):
        pass


def _size(limit: int) -> str:
    return f"{limit:,} bytes" if limit % MEBIBYTE else f"{limit // MEBIBYTE} MiB"


def _joined(pieces: Iterator[bytes]) -> io.BufferedReader:
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
