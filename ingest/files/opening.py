"""An input opened: the members of an archive, or the one file that it is."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import BinaryIO

from ingest.files.archives import Member, members
from ingest.files.compression import Codec, Unpacked, codec
from ingest.files.containers import Source, unreadable
from ingest.files.contents import BUFFER, HEAD, Content, content, is_archive, joined


class Opened:
    """The members of one input, their bytes in all, and how far they have been read."""

    def __init__(self, source: Source, stack: ExitStack, stdin: BinaryIO | None = None) -> None:
        """UnreadableInput, InputError. The files stay open until `stack` is closed."""
        self._stack = stack
        self._files: list[tuple[BinaryIO, int]] = []
        self.members: list[Member] = []
        try:
            if source.path is None:
                self._add_pipe(source.name, stdin or sys.stdin.buffer)
            for part in source.parts() if source.path else ():
                assert part.path is not None  # noqa: S101 - only a pipe has none
                self._add(part.name, stack.enter_context(part.path.open("rb", buffering=BUFFER)))
        except OSError as fault:
            raise unreadable(source.name, fault) from None

    def position(self) -> int:
        """Bytes of the files that have been read so far."""
        return sum(size if file.closed else file.tell() for file, size in self._files)

    def size(self) -> int | None:
        """Bytes of the files; None for a pipe."""
        return sum(size for _, size in self._files) if self._files else None

    def _add(self, name: str, file: BinaryIO) -> None:
        if not file.seekable():
            self._add_pipe(name, file)
            return
        self._files.append((file, os.fstat(file.fileno()).st_size))
        head = file.read(HEAD)
        if is_archive(head):
            self.members += members(name, file)
        elif (packing := codec(head)) and (unpacked := self._archive_in(name, packing, file)):
            self.members += members(name, unpacked)
        else:
            self.members.append(Member(name, partial(_again, name, file)))

    def _archive_in(self, name: str, packing: Codec, file: BinaryIO) -> BinaryIO | None:
        """The archive that a compressed file holds (.tar.gz); None if it holds something else."""
        file.seek(0)
        pieces = iter(Unpacked(name, packing, iter(partial(file.read, packing.piece), b"")))
        start = b""
        while len(start) < HEAD and (piece := next(pieces, b"")):
            start += piece
        return self._spooled(chain([start], pieces)) if is_archive(start) else None

    def _add_pipe(self, name: str, stream: BinaryIO) -> None:
        """What comes once: read as it comes, or kept aside where it is an archive, whose directory is at its end."""
        head = stream.read(HEAD)
        pieces = chain([head], iter(partial(stream.read, BUFFER), b""))
        if is_archive(head):
            self.members += members(name, self._spooled(pieces))
        elif codec(head):
            self._add(name, self._spooled(pieces))
        else:
            self.members.append(Member(name, lambda: content(name, joined(pieces))))

    def _spooled(self, pieces: Iterator[bytes]) -> BinaryIO:
        aside = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        for piece in pieces:
            aside.write(piece)
        aside.seek(0)
        return aside


def _again(name: str, file: BinaryIO) -> Content:
    file.seek(0)
    return content(name, file)
