"""What OTLP exporters send: kept at once, acknowledged, and read into the store every few seconds."""

import asyncio
import logging
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge
from starlette.exceptions import HTTPException

from api.settings import Settings
from ingest import inbox
from ingest.errors import LeakdownError, TooLarge
from ingest.files.compression import GZIP, ZSTD, Codec, Unpacked
from ingest.otlp.intake import Message, Signal, Taken, taken
from ingest.redaction import Redactor
from ingest.rolling import Rolling, Times
from ingest.store import Store

AT_ONCE = 32
"""Requests that are received at a time …"""
DECODED_AT_ONCE = 2
"""… of which so many are decoded."""
PACKINGS = {
    "gzip": GZIP,
    "zstd": ZSTD,
    "deflate": Codec("deflate", lambda: zlib.decompressobj(wbits=15), 4096, b""),
}
_LOG = logging.getLogger("leakdown.otlp")


class Telemetry:
    """The inbox of one service, and the thread that reads it."""

    def __init__(
        self, store: Store, settings: Settings, redact: tuple[str, ...] | None, registry: CollectorRegistry
    ) -> None:
        self.store, self.limit, self._seconds = store, settings.otlp_body_limit, settings.otlp_seconds
        self._most_waiting = settings.otlp_waiting_limit
        self._redactor = None if redact is None else Redactor(redact)
        self._rolling = Rolling(store, Times(settings.otlp_wait), redacted=redact is not None)
        self.decoding = asyncio.Semaphore(DECODED_AT_ONCE)
        self._receiving = self._waiting = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="otlp", daemon=True)
        self._rejected = Counter(
            "leakdown_otlp_rejected", "Spans and log records that could not be read.", ("signal",), registry=registry
        )
        gauge = Gauge("leakdown_otlp_waiting_bytes", "Bytes sent by exporters and not read yet.", registry=registry)
        gauge.set_function(lambda: self._waiting)

    def start(self) -> None:
        """Begin with what an earlier life left."""
        self._waiting = inbox.waiting_bytes(self.store)
        self._thread.start()

    def stop(self) -> None:
        """Read what has come, as much as is read at once, and end."""
        self._stop.set()
        self._thread.join()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for one request. HTTPException 429 where there is none, 503 while too much waits to be read."""
        if self._receiving >= AT_ONCE:
            raise HTTPException(429, f"{AT_ONCE} exports are being received; send it again")
        if self._waiting >= self._most_waiting:
            raise HTTPException(503, f"{self._waiting:,} bytes wait to be read into the store; send it again")
        self._receiving += 1
        try:
            yield
        finally:
            self._receiving -= 1

    def take(self, path: Path, packing: str, signal: Signal, *, as_json: bool) -> Taken:
        """Keep a request, whose body lies at `path`. When this returns it is in the store. ValueError for what cannot
        be decoded, TooLarge."""
        found = taken(self._unpacked(path, packing), signal, as_json=as_json)
        self._rejected.labels(signal).inc(found.rejected)
        self._waiting += inbox.put(self.store, [self._redacted(each) for each in found.messages])
        return found

    def _unpacked(self, path: Path, packing: str) -> bytes:
        if packing in ("", "identity"):
            return path.read_bytes()
        codec, body = PACKINGS[packing], bytearray()
        with path.open("rb") as file:
            pieces = Unpacked("the body", codec, iter(lambda: file.read(codec.piece), b""))
            for piece in pieces:
                body += piece
                if len(body) > self.limit:
                    raise TooLarge(f"the body unfolds to more than {self.limit:,} bytes")
        if pieces.fault:
            raise ValueError(pieces.fault)
        return bytes(body)

    def _redacted(self, message: Message) -> Message:
        if self._redactor is None:
            return message
        return Message(message.service, self._redactor.value(message.value), message.mended)

    def _run(self) -> None:
        while not self._stop.wait(0 if self._rolling.behind else self._seconds):
            if self._waiting or self._rolling.busy:
                self._fold()
        self._fold()

    def _fold(self) -> None:
        from analysis.judging import judge_for
        from analysis.registry import current
        from analysis.rollups import refresh

        try:
            detector = current(self.store)
            if self._rolling.fold(lambda: judge_for(detector)):
                refresh(self.store, detector)
            self._waiting = inbox.waiting_bytes(self.store)
        except LeakdownError as fault:
            _LOG.warning("what OTLP exporters sent is not read: %s; it is kept, and tried again", fault)
        except Exception:  # noqa: BLE001 - the next one must run, and what came is in the inbox
            _LOG.exception("what OTLP exporters sent is not read; it is kept, and tried again")
