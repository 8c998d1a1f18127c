"""What a user points at: files, folders, globs and standard input, as numbered and bounded byte lines.

Lines end at `\\n` alone, since
a JSON string may hold every other line separator.
"""

import glob
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from ingest.errors import UnreadableInput
from ingest.files.contents import BUFFER, Content, content

MEBIBYTE = 1 << 20
LINE_LIMIT = 64 * MEBIBYTE
"""Bytes of a line; a longer one is passed over, not loaded."""
KEPT_OF_LONG = 800
JOINT = " + "
"""Stands between the names of files that are one input."""
SIDECAR = "leakdown.toml"
"""A file in a folder of logs that says of them what they cannot (`ingest.files.sidecar`)."""


@dataclass(frozen=True, slots=True)
class Source:
    """One input; `path` is None for standard input, `name` is what to show.

    `more` are files that are read together with it, as one upload, since each holds what another lacks.
    """

    path: Path | None
    name: str
    more: tuple["Source", ...] = ()

    def parts(self) -> tuple["Source", ...]:
        """The files of the input, each with its own name."""
        return (replace(self, name=self.name.split(JOINT)[0], more=()), *self.more) if self.more else (self,)


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
        raise unreadable(str(path), fault) from None
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
            found += [Path(root, name) for name in names if not name.startswith(".") and name != SIDECAR]
    except OSError as fault:
        raise unreadable(str(fault.filename or folder), fault) from None
    sources = [source for path in sorted(found) if path.is_file() for source in _readable(path)]
    if not sources:
        raise UnreadableInput(f"{folder}: a folder without files to read; name another one")
    return sources


def _raise(fault: OSError) -> None:
    raise fault


def unreadable(name: str, fault: OSError) -> UnreadableInput:
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
            yield from lines(content(source.name, stdin or sys.stdin.buffer), limit)
        else:
            with closing(source.path.open("rb", buffering=BUFFER)) as stream:
                yield from lines(content(source.name, stream), limit)
    except OSError as fault:
        raise unreadable(source.name, fault) from None


def lines(found: Content, limit: int = LINE_LIMIT) -> Iterator[RawLine]:
    """The lines of a content."""
    readline, number, fault = found.stream.readline, 0, None
    while data := readline(limit + 1):
        number += 1
        if data.endswith(b"\n"):
            data = data[:-2] if data.endswith(b"\r\n") else data[:-1]  # not kept twice meanwhile: it may be huge
            yield RawLine(number, data)
        elif len(data) > limit:
            data = data[:KEPT_OF_LONG]
            _skip_line(readline, limit)
            yield RawLine(number, data, f"longer than {size(limit)}")
        else:
            fault = found.broken()
            yield RawLine(number, data, fault)
    if fault is None and (fault := found.broken()):
        yield RawLine(number + 1, b"", fault)


def _skip_line(readline: Callable[[int], bytes], limit: int) -> None:
    while (chunk := readline(min(limit, BUFFER))) and not chunk.endswith(b"\n"):
        pass


def size(limit: int) -> str:
    """A limit in words."""
    return f"{limit:,} bytes" if limit % MEBIBYTE else f"{limit // MEBIBYTE} MiB"
