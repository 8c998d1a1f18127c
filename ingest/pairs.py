"""Requests and responses of providers' APIs as callers log them, one exchange a record, under any wrapper keys."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import generations
from ingest.exchange import Exchange, answers, exchange, is_event
from ingest.formats import Item, Line, Mapped, Skipped, quarantined, share
from ingest.formats.native import is_native
from ingest.moments import moment
from ingest.openai_message import Fields, validated
from ingest.threads import Threads, digest

RUN_KEYS = ("run_id", "session_id", "trace_id", "conversation_id")
TIME_KEYS = ("timestamp", "created_at", "started_at", "startTime", "time", "ts")


def sniffer(body: str) -> Callable[[Sequence[Any]], float]:
    """A `sniff` for exchanges with the API called `body`."""
    return lambda values: share(values, lambda value: recognises(value, body))


def recognises(value: Any, body: str) -> bool:
    """Whether `value` holds a response of the API called `body`, or a request to it with an error for an answer."""
    if not isinstance(value, dict) or is_native(value):
        return False
    found = exchange(value)
    told = found.response is not None or (found.request is not None and found.error is not None)
    return told and found.body is not None and found.body.name == body


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One exchange a line, whatever its API: a proxy logs several into one file."""
    threads = Threads()
    for line in lines:
        yield item(line, threads)


def item(line: Line, threads: Threads) -> Item:
    """What became of one logged exchange."""
    if not isinstance(line.value, dict):
        return quarantined(line, "not an object with a request and a response")
    found = exchange(line.value)
    if found.response is None and found.error is None:
        return _unanswered(line, found)
    try:
        fields = list(_fields(found, threads, line.mended))
        if not fields:
            return Skipped(line.number, "a response without choices")
        return Mapped(line.number, tuple(validated(fields)), request_hash(found))
    except ValueError as fault:
        return quarantined(line, str(fault))


def _unanswered(line: Line, found: Exchange) -> Item:
    if is_event(found.record):
        return quarantined(line, "a part of a streamed response among whole ones: log it apart, or log whole responses")
    answer = any(isinstance(part, dict | list | str) and part for part in answers(found.record))
    if found.request is None or answer:
        return quarantined(line, "holds no response of an API that leakdown knows")
    return Skipped(line.number, "a request without a response")


def request_hash(found: Exchange) -> bytes | None:
    """The hash of the request of an exchange; None where it has none."""
    if found.request is None or found.body is None:
        return None
    return digest([found.body.history(found.request), found.body.offer(found.request).get("tools")])


def _fields(found: Exchange, threads: Threads, mended: bool) -> Iterator[Fields]:
    whole = {"run_id": _run_id(found, threads)} | _time(found)
    if found.body is None or found.response is None:
        asked = found.body.offer(found.request) if found.body and found.request else {}
        failed = {"status": "error", "content": None, "finish_fidelity": "absent", "error": found.error}
        yield asked | whole | failed
        return
    for each in generations(found.body, found.request, found.response, mended=mended):
        rebuilt = {"text_fidelity": "rebuilt"} if found.streamed and each.get("text_fidelity") == "exact" else {}
        yield whole | each | rebuilt


def _run_id(found: Exchange, threads: Threads) -> str:
    request = found.request or {}
    places = (found.record, found.record.get("metadata"), request.get("metadata"))
    named = (place.get(key) for place in places if isinstance(place, dict) for key in RUN_KEYS)
    run_id = next((name for name in named if isinstance(name, str) and name), None)
    return run_id or _thread(found, threads)


def _thread(found: Exchange, threads: Threads) -> str:
    messages = found.body.history(found.request) if found.body and found.request else []
    replies = found.body.answers(found.response) if found.body and found.response else []
    return threads.run_of(messages, replies or [{"error": found.error}])


def _time(found: Exchange) -> Fields:
    """The time that the wrapper tells; the response's own, where it has one, counts more."""
    times = (moment(found.record.get(key)) for key in TIME_KEYS)
    told = next((time for time in times if time), None)
    return {"started_at": told} if told else {}
