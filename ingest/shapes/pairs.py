"""Requests and responses of providers' APIs as callers log them, one exchange a record, under any wrapper keys.

Events of streams may stand among them, one a record, bare or in a wrapper.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import body_of, joined, streamed
from ingest.formats import Item, Line, Mapped, Skipped, quarantined, share
from ingest.formats.native import is_native
from ingest.shapes.event_lines import EventLines, event_in
from ingest.shapes.exchange import RAW, Exchange, answers, exchange
from ingest.shapes.openai_message import Fields, unpacked, validated
from ingest.shapes.repeated import sent_back
from ingest.shapes.threads import Threads, digest
from ingest.shapes.wrappers import route_told, run_named, time_told


def sniffer(body: str) -> Callable[[Sequence[Any]], float]:
    """A `sniff` for exchanges with the API called `body`."""
    return lambda values: share(values, lambda value: recognises(value, body))


def recognises(value: Any, body: str) -> bool:
    """Whether `value` holds a response of the API called `body`, or a request to it with an error for an answer."""
    if not isinstance(value, dict) or is_native(value) or event_in(value) is not None:
        return False
    found = exchange(value)
    told = found.response is not None or (found.request is not None and found.error is not None)
    return told and found.body is not None and found.body.name == body


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One exchange a line, whatever its API: a proxy logs several into one file. Streams end where they end."""
    threads = Threads()
    events = EventLines(threads)
    for line in lines:
        if isinstance(line.value, dict) and events.takes(line.value):
            yield from events.add(line)
        else:
            yield item(line, threads)
    yield from events.rest()


def item(line: Line, threads: Threads) -> Item:
    """What became of one logged exchange."""
    if not isinstance(line.value, dict):
        return quarantined(line, "not an object with a request and a response")
    found = exchange(line.value)
    if found.response is None and found.error is None:
        return _unanswered(line, found)
    try:
        return _answered(line, found, threads)
    except ValueError as fault:
        return quarantined(line, str(fault))


def _answered(line: Line, found: Exchange, threads: Threads) -> Item:
    messages, asked = _asked(found)
    whole = _placed(found, messages, threads) | time_told(found.record) | sent_back(messages)
    fields = [whole | reply for reply in _replies(found, asked, line.mended)]
    if not fields:
        return Skipped(line.number, "a response without choices")
    request = None if found.request is None else threads.request(messages, asked.get("tools"))
    return Mapped(line.number, tuple(validated(fields)), request)


def _unanswered(line: Line, found: Exchange) -> Item:
    answer = any(isinstance(part, dict | list | str) and part for part in answers(found.record))
    if found.request is None or answer:
        return quarantined(line, "holds no response of an API that leakdown knows")
    return Skipped(line.number, "a request without a response")


def request_hash(found: Exchange) -> bytes | None:
    """The hash of the request of an exchange; None where it has none."""
    return None if found.request is None else _hash(*_asked(found))


def _asked(found: Exchange) -> tuple[list[Fields], Fields]:
    """The messages of the request and what it offers."""
    if found.request is None or found.asked is None:
        return [], {}
    return found.asked.history(found.request), found.asked.offer(found.request)


def _hash(messages: list[Fields], asked: Fields) -> bytes:
    return digest([messages, asked.get("tools")])


def _replies(found: Exchange, asked: Fields, mended: bool) -> list[Fields]:
    if found.body is None or found.response is None:
        failed = {"status": "error", "content": None, "finish_fidelity": "absent", "error": found.error}
        return [_routed(found, asked | failed)]
    replies = joined(asked, found.body.replies(found.response, mended))
    if RAW in found.record and len(replies) == 1:
        replies = [replies[0] | _before(found, replies[0])]
    return [_routed(found, streamed(reply) if found.streamed else reply) for reply in replies]


def _before(found: Exchange, reply: Fields) -> Fields:
    """What the reply was before the client made calls of its text, where it did: then that is how it calls."""
    raw = unpacked(found.record[RAW])
    body = body_of(raw) if isinstance(raw, dict) else None
    first = next(iter(body.replies(raw, False)), {}) if body else {}
    if not isinstance(text := first.get("content"), str) or text == reply.get("content"):
        return {}
    emulated = reply.get("tool_calls") and not first.get("tool_calls")
    return {"raw_text": text} | ({"call_mode": "text"} if emulated else {})


def _routed(found: Exchange, fields: Fields) -> Fields:
    """With the provider and the model of the wrapper: in some APIs the model stands in the address."""
    if found.record is found.response:
        return fields
    return fields | route_told(found.record, fields, model=found.request is not found.record)


def _placed(found: Exchange, messages: list[Fields], threads: Threads) -> Fields:
    """The run, and the place in it where the history tells it."""
    request, response = found.request or {}, found.response or {}
    previous = request.get("previous_response_id") or response.get("previous_response_id")
    run_id = run_named(found.record, request) or threads.issued(previous) or _thread(found, messages, threads)
    name = response.get("id") if isinstance(response.get("id"), str) else None
    if response.get("object") != "response":
        return {"run_id": run_id} | threads.place(run_id, messages, name)
    if name:
        threads.issue(name, run_id)
    after = threads.place_after(previous, messages, name) if messages else {}
    return {"run_id": run_id} | (after if previous else threads.place(run_id, messages, name))


def _thread(found: Exchange, messages: list[Fields], threads: Threads) -> str:
    replies = found.body.answers(found.response) if found.body and found.response else []
    return threads.run_of(messages, replies or [{"error": found.error}])
