"""Zip and tar archives: their members as contents, in bounded memory. Nothing is ever unpacked to the disk.

zipfile reads the directory; members are decompressed here, since zstd (method 93) is unknown to it before
Python 3.14, and so that one limit holds for every decompression.
"""

import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from ingest.errors import InputError
from ingest.files.compression import DEFLATE, ZSTD, Unpacked
from ingest.files.contents import BUFFER, Content, of_pieces, whole

DIRECTORY_LIMIT = 32 << 20
"""Bytes of a zip's directory: about 300,000 members."""
MEMBERS = 200_000
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_STORED, _DEFLATE, _ZSTD = 0, 8, (20, 93)


@dataclass(frozen=True, slots=True)
class Member:
    """A file to read: its name as shown, and its content, opened anew at each call."""

    name: str
    open: Callable[[], Content]


def members(name: str, file: BinaryIO) -> list[Member]:
    """The files in an archive, shallow ones first, then by name. InputError with a reason for one that is damaged,
    encrypted, too large or holds a name that points outside of it."""
    file.seek(0)
    found = _zip(name, file) if file.read(2) == b"PK" else _tar(name, file)
    for inner, _ in found:
        _check_name(name, inner)
    shown = [(inner, Member(f"{name}/{inner}", open_)) for inner, open_ in found if not _hidden(inner)]
    if not shown:
        raise InputError(f"{name}: an archive without files to read; name another one")
    return [member for inner, member in sorted(shown, key=lambda pair: (pair[0].count("/"), pair[0]))]


def _hidden(inner: str) -> bool:
    parts = PurePosixPath(inner).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def _check_name(name: str, inner: str) -> None:
    if not inner:
        raise InputError(f"{name}: holds a member without a name; pack it anew")
    parts = inner.replace("\\", "/").split("/")
    if inner.startswith(("/", "\\")) or ".." in parts or inner[1:2] == ":":
        raise InputError(f"{name}: holds a member named {inner[:80]!r}, which points outside of it; pack it anew")
    if parts[-1] == "data.pkl":
        raise InputError(f"{name}: a PyTorch checkpoint: reading it would run what is in it, so it never is")


def _zip(name: str, file: BinaryIO) -> list[tuple[str, Callable[[], Content]]]:
    if (size := _directory_size(file)) is None or size > DIRECTORY_LIMIT:
        many = "a directory of more than 32 MiB" if size else "no directory (a cut copy?)"
        raise InputError(f"{name}: a zip archive with {many}; pack fewer files, or unpack it and give the folder")
    try:
        with zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.filename.endswith("/") and info.file_size]
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as fault:
        raise InputError(f"{name}: a damaged zip archive ({fault}); copy it again") from None
    return [(info.filename, _zip_opener(name, file, info)) for info in infos]


def _directory_size(file: BinaryIO) -> int | None:
    """Bytes of the central directory (APPNOTE 4.3.16, 4.3.14); None if there is none."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - (1 << 16) - 100))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        return None
    size: int = struct.unpack_from("<L", tail, at + 12)[0]
    at64 = tail.rfind(_END64, 0, at)
    if size == 0xFFFFFFFF and at64 >= 0 and len(tail) >= at64 + 48:
        size = struct.unpack_from("<Q", tail, at64 + 40)[0]
    return size


def _zip_opener(name: str, file: BinaryIO, info: zipfile.ZipInfo) -> Callable[[], Content]:
    def open_() -> Content:
        shown = f"{name}/{info.filename}"
        if info.flag_bits & 1:
            raise InputError(f"{shown}: encrypted; unpack it with its password first")
        header = b""
        if info.header_offset >= 0:  # what a damaged directory tells may be anything
            file.seek(info.header_offset)
            header = file.read(30)
        if len(header) < 30:
            raise InputError(f"{shown}: the archive does not hold it where it says (a cut copy?)")
        names, extra = struct.unpack_from("<HH", header, 26)
        raw = _stretch(file, info.header_offset + 30 + names + extra, info.compress_size)
        return _zip_content(shown, info, raw)

    return open_


def _zip_content(shown: str, info: zipfile.ZipInfo, raw: Iterator[bytes]) -> Content:
    packed: Unpacked | None = None
    pieces = raw
    if info.compress_type != _STORED:
        packing = DEFLATE if info.compress_type == _DEFLATE else ZSTD if info.compress_type in _ZSTD else None
        if packing is None:
            raise InputError(f"{shown}: packed by zip method {info.compress_type}, which is not read; use deflate")
        packed = Unpacked(shown, packing, raw)
        pieces = iter(packed)
    checked = Checked(pieces, info.CRC)
    return of_pieces(shown, iter(checked), lambda: (packed and packed.fault) or checked.fault)


class Checked:
    """Pieces on their way, and once they have ended whether they had the checksum of their archive."""

    def __init__(self, pieces: Iterator[bytes], crc: int) -> None:
        self._pieces, self._crc = pieces, crc
        self.fault: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        crc = 0
        for piece in self._pieces:
            crc = zlib.crc32(piece, crc)
            yield piece
        if crc != self._crc:
            self.fault = "the archive's checksum does not fit what stands before; something of it may be wrong"


def _stretch(file: BinaryIO, start: int, length: int, piece: int = 1024) -> Iterator[bytes]:
    """`length` bytes from `start`; the file's place is set at each read, since others read it too."""
    end = start + length
    while start < end:
        file.seek(start)
        if not (found := file.read(min(piece, end - start))):
            return
        start += len(found)
        yield found


def _tar(name: str, file: BinaryIO) -> list[tuple[str, Callable[[], Content]]]:
    found: list[tuple[str, Callable[[], Content]]] = []
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for info in archive:
                if info.isreg() and info.size:
                    found.append((info.name, _tar_opener(name, file, info)))
                if len(found) > MEMBERS:
                    raise InputError(f"{name}: a tar archive of more than {MEMBERS:,} files; pack fewer")
    except (tarfile.TarError, ValueError, OSError) as fault:
        raise InputError(f"{name}: a damaged tar archive ({fault}); copy it again") from None
    return found


def _tar_opener(name: str, file: BinaryIO, info: tarfile.TarInfo) -> Callable[[], Content]:
    pieces = partial(_stretch, file, info.offset_data, info.size, BUFFER)
    return lambda: of_pieces(f"{name}/{info.name}", pieces(), whole)
