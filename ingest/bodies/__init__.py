"""Provider bodies: what a request, a response and the parts of a streamed response look like, one API a module.

Every log format that keeps whole requests and responses reads them here: `ingest.exchange` finds them in a record,
`generations` makes fields of them.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ingest.openai_message import Fields
from ingest.plugins import discover

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Body:
    """The bodies of one API.

    `assemble` makes whole responses of the events of streams, in the order of their first events; it keeps what
    it was given of a stream that was cut. `replies` gives the fields of one generation a choice: text, calls,
    finish reason, and what the response tells of model, engine, time and usage. `offer` gives what a request
    says: tools, tool choice, call mode and `model`. `history` and `answers` give the messages of a request and
    the replies of a response in the shape of chat completions, for `ingest.threads`. All raise ValueError with a
    reason for what they cannot read.
    """

    name: str
    is_request: Callable[[Object], bool]
    is_response: Callable[[Object], bool]
    is_event: Callable[[Object], bool]
    assemble: Callable[[Sequence[Object]], list[Object]]
    replies: Callable[[Object, bool], list[Fields]]
    offer: Callable[[Object], Fields]
    history: Callable[[Object], list[Object]]
    answers: Callable[[Object], list[Object]]


@cache
def bodies() -> tuple[Body, ...]:
    """All bodies, by module name."""
    return discover(sys.modules[__name__], Body)


def body_of(response: Object) -> Body | None:
    """The API that `response` is a whole response of; None for none known."""
    return next((body for body in bodies() if body.is_response(response)), None)


def generations(body: Body, request: Object | None, response: Object | None, *, mended: bool = False) -> list[Fields]:
    """The fields of the generations of one response, one a choice, without run and round.

    `mended` is that of the line. Usage and error count once where a response has several choices.
    """
    asked = {} if request is None else body.offer(request)
    replies = [] if response is None else body.replies(response, mended)
    return [_joined(asked, reply, position) for position, reply in enumerate(replies)]


def _joined(asked: Fields, reply: Fields, position: int) -> Fields:
    fields = {key: value for key, value in asked.items() if key != "model"} | reply
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
