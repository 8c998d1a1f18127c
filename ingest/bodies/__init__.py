"""Provider bodies: what a request, a response and the parts of a streamed response look like, one API a module.

Every log format that keeps whole requests and responses reads them here: `ingest.shapes.exchange` finds them in a
record, `generations` makes fields of them. The predicates of different APIs exclude each other; a plain list of
messages, which several APIs take, counts as chat completions.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ingest.plugins import discover
from ingest.shapes.chat_requests import dialect
from ingest.shapes.openai_message import Fields
from ingest.shapes.streams import Stream, assembled

Object = dict[str, Any]
OFFER = ("tools", "tool_choice", "call_mode")
"""What a request says of tools: it counts more than the echo of it in a response."""


@dataclass(frozen=True, slots=True)
class Body:
    """The bodies of one API. Every request has the key `asks`, every response and event one of the
    keys `marks`.

    `stream` begins a stream, to which events are added; `stream_id` is the id of the response that an event tells,
    if it does. `replies` gives the fields of one generation a choice: text, calls, finish reason, and what the
    response tells of model, engine, time and usage. `offer` gives what a request says: tools, tool choice, call mode
    and `model`. `history` and `answers` give the messages of a request and the replies of a response in the shape
    of chat completions, for `ingest.shapes.threads`. All raise ValueError with a reason for what they cannot read.
    """

    name: str
    asks: str
    marks: frozenset[str]
    is_request: Callable[[Object], bool]
    is_response: Callable[[Object], bool]
    is_event: Callable[[Object], bool]
    stream: Callable[[], Stream]
    stream_id: Callable[[Object], Any]
    replies: Callable[[Object, bool], list[Fields]]
    offer: Callable[[Object], Fields]
    history: Callable[[Object], list[Object]]
    answers: Callable[[Object], list[Object]]

    def streams(self, events: Sequence[Object]) -> list[Stream]:
        """The streams that `events` are of, in the order of their first ones."""
        return assembled(events, self.stream, self.stream_id)

    def assemble(self, events: Sequence[Object]) -> list[Object]:
        """Whole responses of the events of streams, in that order; what came of one that was cut is kept."""
        return [stream.whole() for stream in self.streams(events)]


@cache
def bodies() -> tuple[Body, ...]:
    """All bodies, by module name."""
    return discover(sys.modules[__name__], Body)


def body_of(response: Object) -> Body | None:
    """The API that `response` is a whole response of; None for none known."""
    if _marks().isdisjoint(response):
        return None
    for body in bodies():
        if not body.marks.isdisjoint(response) and body.is_response(response):
            return body
    return None


def asked_of(request: Object) -> Body | None:
    """The API that `request` is a request to; None for none known."""
    if _asks().isdisjoint(request):
        return None
    if (name := dialect(request)) is not None:
        return next(body for body in bodies() if body.name == name)
    return next((body for body in bodies() if body.is_request(request)), None)


def event_of(value: Object) -> Body | None:
    """The API that `value` is an event of a stream of, and not a whole response; None for none known."""
    if _marks().isdisjoint(value):
        return None
    for body in bodies():
        if not body.marks.isdisjoint(value) and body.is_event(value) and not body.is_response(value):
            return body
    return None


@cache
def _asks() -> frozenset[str]:
    return frozenset(body.asks for body in bodies())


@cache
def _marks() -> frozenset[str]:
    return frozenset().union(*(body.marks for body in bodies()))


def offer(request: Object | None) -> Fields:
    """What `request` offers; nothing where it is missing or of no API known."""
    body = None if request is None else asked_of(request)
    return {} if body is None or request is None else body.offer(request)


def streamed(fields: Fields, *, told_whole: bool = False) -> Fields:
    """The fields of a generation that was put together from events: without a finish reason it was cut."""
    fields = dict(fields)
    if not told_whole and fields.get("text_fidelity") == "exact":
        fields["text_fidelity"] = "rebuilt"
    if fields.get("finish_fidelity") == "absent":
        fields.setdefault("status", "cut")
    return fields


def history(request: Object | None) -> list[Object]:
    """The messages of `request` in the shape of chat completions; none where it is missing."""
    body = None if request is None else asked_of(request)
    return [] if body is None or request is None else body.history(request)


def generations(body: Body, request: Object | None, response: Object | None, *, mended: bool = False) -> list[Fields]:
    """The fields of the generations of one response, one a choice, without run and round.

    The request may be to another API than that of the response: gateways translate. `mended` is that of the line.
    Usage and error count once where a response has several choices.
    """
    return [] if response is None else joined(offer(request), body.replies(response, mended))


def joined(asked: Fields, replies: list[Fields]) -> list[Fields]:
    """The replies of one response, with what its request offered."""
    return [_joined(asked, reply, position) for position, reply in enumerate(replies)]


def _joined(asked: Fields, reply: Fields, position: int) -> Fields:
    fields = reply | {key: asked[key] for key in OFFER if key in asked}
    requested = asked.get("model")
    if isinstance(requested, str) and fields.setdefault("model", requested) != requested:
        fields["requested_model"] = requested
    return fields if not position else _later(fields, position)


def _later(fields: Fields, position: int) -> Fields:
    """A later choice of a response: its id tells it apart, usage and error count once."""
    later = {key: value for key, value in fields.items() if key not in ("usage", "error")}
    if "generation_id" in later:
        later["generation_id"] = f"{later['generation_id']}#{position}"
    return later
