"""HTTP/1.1 with limits on what costs a connection before or after any request: uvicorn's protocol, which has none."""

import asyncio
import sys
from dataclasses import dataclass
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.problems import problem

LONGEST_HEAD = 32 * 2**10
"""Bytes of a request's line and headers."""

LINGERING = 2.0
"""Seconds that a client which is refused may take to read why and to leave."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Connections at a time; seconds for the head of a request to come, and for a client to take what it is sent."""

    connections: int
    head: float
    idle: float


def protocol(patience: Patience) -> type[asyncio.Protocol]:
    """The protocol with these limits."""
    return type("Limited", (_Limited,), {"patience": patience})


class _Limited(H11Protocol):
    patience: Patience
    _head_due: asyncio.TimerHandle | None = None
    _taken_due: asyncio.TimerHandle | None = None
    _end_due: asyncio.TimerHandle | None = None
    _rest_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there, and has so long to say what it wants."""
        super().connection_made(transport)
        if len(self.connections) > 2 * self.patience.connections:
            transport.abort()
        elif len(self.connections) > self.patience.connections:
            self._refuse(503, f"{self.patience.connections} connections are open; send it again")
        else:
            self._head_due = self.loop.call_later(self.patience.head, self._late)

    def data_received(self, data: bytes) -> None:
        """A part of a request; the head of one must be whole in time, also the second on a connection."""
        if self._end_due:
            return  # it was answered
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            self._rest_due = _cancel(self._rest_due)
        if self.conn.their_state is not h11.IDLE:
            self._head_due = _cancel(self._head_due)
        elif not (self._head_due or self._end_due or self.transport.is_closing()):
            self._head_due = self.loop.call_later(self.patience.head, self._late)

    def on_response_complete(self) -> None:
        """The rest of a body that was answered before its end is passed over, for so long."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self._rest_due = _cancel(self._rest_due) or self.loop.call_later(self.patience.idle, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        for timer in (self._head_due, self._taken_due, self._end_due, self._rest_due):
            _cancel(timer)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take what it is sent."""
        super().pause_writing()
        self._taken_due = self._taken_due or self.loop.call_later(self.patience.idle, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        self._taken_due = _cancel(self._taken_due)

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP, or its head is too long."""
        status = getattr(sys.exception(), "error_status_hint", 400)
        too_long = f"the head of the request is over {LONGEST_HEAD:,} bytes"
        self._refuse(status, too_long if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else msg)

    def _late(self) -> None:
        self._head_due = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._refuse(408, f"the head of the request did not come within {self.patience.head:g} seconds")

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with a problem document and hang up, but not before the client could read that: a connection that is
        closed over what was not read yet is reset."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            answer = problem(status, HTTPStatus(status).phrase, detail, {"Connection": "close"})
            start = h11.Response(status_code=status, headers=answer.raw_headers, reason=HTTPStatus(status).phrase)
            for event in (start, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self._head_due = _cancel(self._head_due)
        self.transport.write_eof()
        self._end_due = self.loop.call_later(LINGERING, self.transport.close)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """No timer, in place of one."""
    if timer:
        timer.cancel()
    return None
