"""Uploads on their way in: the body on disk beside the store, and how far each has come."""

import asyncio
import errno
from collections import OrderedDict, deque
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from ingest.errors import Busy, Conflict, StoreFull, UsageError
from ingest.pipeline import Progress

REMEMBERED = 1_000
"""Arrivals with a client id whose end is remembered, and uploads of which the key is."""
CLIENT_ID = r"^[0-9.]*[A-Za-z_-][A-Za-z0-9._-]*$"
"""Not a number alone: those are the uploads' own."""
FILES = 100
"""Files of one multipart body."""
LONGEST_NAME = 1_000
"""Characters of a file's name."""
_PIECE = 1 << 20


@dataclass(slots=True)
class Arrival:
    """One upload on its way: `state` is receiving, reading, done or failed."""

    client_id: str | None = None
    state: str = "receiving"
    received_bytes: int = 0
    read_bytes: int = 0
    total_bytes: int | None = None
    bytes_per_second: float | None = None
    seconds_left: float | None = None
    lines: int = 0
    uploads: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    detail: str | None = None

    def as_json(self) -> dict[str, Any]:
        """How far it has come, and its end."""
        return asdict(self)

    def told(self, progress: Progress, seconds: float) -> None:
        """Note how far the file at hand has been read in so many seconds."""
        self.lines, self.read_bytes, self.total_bytes = progress.lines, progress.bytes, progress.total
        if seconds > 0 and progress.bytes:
            self.bytes_per_second = progress.bytes / seconds
            left = max(0, (progress.total or progress.bytes) - progress.bytes)
            self.seconds_left = left / self.bytes_per_second if progress.total else None


class Arrivals:
    """The arrivals with a client id, by whose they are (the id of a key, None without) and by it; the oldest are
    forgotten. `reading` is held by the one that is read.

    The store has one writer: those that wait for it wait here, where they hold no thread.
    """

    def __init__(self, at_once: int) -> None:
        """At most so many uploads at a time, which are received or wait."""
        self.reading = asyncio.Lock()
        self._at_once, self._under_way = at_once, 0
        self._by_id: OrderedDict[tuple[str | None, str], Arrival] = OrderedDict()
        self._brought: deque[tuple[int, str]] = deque(maxlen=REMEMBERED)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place for one upload. Busy where there is none."""
        if self._under_way >= self._at_once:
            raise Busy(f"{self._at_once} uploads are under way; send it again")
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def begin(self, client_id: str, by: str | None) -> Arrival:
        """A new arrival, or the one that ended well under this id. Conflict while one is under way."""
        earlier = self._by_id.get((by, client_id))
        if earlier and earlier.state in ("receiving", "reading"):
            raise Conflict(f"upload {client_id!r} is under way")
        if earlier and earlier.state == "done":
            return earlier
        self._by_id[by, client_id] = Arrival(client_id)
        while len(self._by_id) > REMEMBERED:
            self._by_id.popitem(last=False)
        return self._by_id[by, client_id]

    def get(self, client_id: str, by: str | None, *, anyone: bool) -> Arrival | None:
        """The arrival of this id, if it is remembered: one's own, else with `anyone` the latest."""
        own = self._by_id.get((by, client_id))
        others = (each for (_, name), each in reversed(list(self._by_id.items())) if name == client_id)
        return own or (next(others, None) if anyone else None)

    def note(self, upload_id: int | None, by: str | None) -> None:
        """Remember which key brought an upload; none is needed to remember what nobody asks a key for."""
        if upload_id is not None and by is not None:
            self._brought.append((upload_id, by))

    def brought(self, upload_id: int, by: str | None) -> bool:
        """Whether the key `by` brought the upload, as far back as is remembered."""
        return (upload_id, by) in list(self._brought)


@dataclass(frozen=True, slots=True)
class Received:
    """A file that arrived: what it was called, and where it lies."""

    name: str
    path: Path


@asynccontextmanager
async def received(request: Request, name: str, store: Path, arrival: Arrival) -> AsyncIterator[list[Received]]:
    """The files of a request's body, on disk while it lasts: one raw body called `name`, or each of a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    with _room(), TemporaryDirectory(dir=store.parent, prefix=f".{store.name}.arriving-") as folder:
        if kind == "multipart/form-data":
            yield await _form(request, Path(folder), arrival)
        elif kind == "application/x-www-form-urlencoded":
            raise UsageError(f"content type {kind}: send the file itself, or multipart/form-data")
        else:
            path = Path(folder, "0")
            await _write(path, request.stream(), arrival)
            yield [Received(name, path)]


@contextmanager
def _room() -> Iterator[None]:
    """A full disk as one line."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreFull("no space left for the body beside the store; nothing of it was kept") from None


async def _form(request: Request, folder: Path, arrival: Arrival) -> list[Received]:
    found: list[Received] = []
    async with request.form(max_files=FILES) as form:
        for _, value in form.multi_items():
            if isinstance(value, UploadFile):
                path = folder / str(len(found))
                await _write(path, _pieces(value), arrival)
                found.append(Received((value.filename or "upload")[:LONGEST_NAME], path))
    if not found:
        raise UsageError("the form holds no file")
    return found


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece


async def _write(path: Path, pieces: AsyncIterable[bytes], arrival: Arrival) -> None:
    with path.open("wb") as file:
        async for piece in pieces:
            await run_in_threadpool(file.write, piece)
            arrival.received_bytes += len(piece)
