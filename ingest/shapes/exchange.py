"""A request to a provider's API and its response, found in a log record under whatever keys they stand.

Loggers invent wrappers: `{request, response}`, `{input, output}`, `{request: {body}, response: {body}}`,
`"request.body"`, `{messages, response, model_parameters}`, JSON in strings, the bare response. The shape of
the inner objects decides, in the record, in its values, and one level deeper.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ingest.bodies import Body, asked_of, bodies, body_of, event_of
from ingest.files.sse import events_of
from ingest.shapes.openai_message import unpacked

Object = dict[str, Any]

RAW = "raw_response"
"""Where OpenHands keeps the reply before it made calls of its text; the reply that counts stands beside."""
_PARAMETERS = ("tools", "functions", "tool_choice", "function_call")
"""Keys of a request that a logger may put into an object of their own, beside the messages."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a record holds: either part may be missing. `error` is what came instead of an answer.

    `streamed`: the response was put together from the pieces of a stream. `asked` is the API of the request, which
    may be another than `body`, that of the response.
    """

    record: Object
    body: Body | None
    request: Object | None
    response: Object | None
    error: Any
    streamed: bool = False
    asked: Body | None = None


def exchange(record: Object) -> Exchange:
    """The request and the response in `record`."""
    near = list(_objects(record, _as_is))
    body, response = _response(near)
    asked, request = _request(near, body)
    if request is None or response is None:
        near = list(_objects(record, unpacked))
        if response is None:
            body, response = _response(near)
        if request is None:
            asked, request = _request(near, body)
    streamed = False
    if response is None:
        body, response, streamed = _streamed(near, request is not None)
        if request is None:
            asked, request = _request(near, body)
    if request is record:
        request = _with_parameters(record, response)
        asked = asked_of(request)
    error = _error(near, request) if response is None else None
    return Exchange(record, body or asked, request, response, error, streamed, asked)


def _as_is(value: Any) -> Any:
    return value


def _objects(record: Object, open_: Callable[[Any], Any]) -> Iterator[Object]:
    """`record`, the objects that are its values, and the objects that are theirs."""
    yield record
    if RAW in record and "response" in record:
        record = {key: value for key, value in record.items() if key != RAW}
    values = [value for value in map(open_, record.values()) if isinstance(value, dict)]
    yield from values
    for value in values:
        yield from (inner for inner in map(open_, value.values()) if isinstance(inner, dict))


def _response(objects: list[Object]) -> tuple[Body | None, Object | None]:
    """The first whole response of any API."""
    for value in objects:
        if (body := body_of(value)) is not None:
            return body, value
    return None, None


def _request(objects: list[Object], body: Body | None) -> tuple[Body | None, Object | None]:
    """The first request to `body`, or one with messages, since gateways translate those; any, beside no response."""
    translated: tuple[Body | None, Object | None] = None, None
    for value in objects:
        asked = asked_of(value)
        if asked is not None and (body is None or asked is body):
            return asked, value
        if asked is not None and translated[0] is None and "messages" in value:
            translated = asked, value
    return translated


def _streamed(objects: list[Object], asked: bool) -> tuple[Body | None, Object | None, bool]:
    """A response that was logged as the events of its stream: in a list, or as the text that came.

    Beside a request (`asked`) a single event counts as such a stream too. The last value is False where an event
    told the whole response.
    """
    for value in objects:
        for inner in value.values():
            if events := events_of(inner):
                body = next((each for each in bodies() if any(map(each.is_event, events[:3]))), None)
                if body is not None:
                    return _first(body, events)
    for value in objects if asked else ():
        if (body := event_of(value)) is not None:
            return _first(body, [value])
    return None, None, False


def _first(body: Body, events: list[Object]) -> tuple[Body, Object, bool]:
    stream = body.streams(events)[0]
    whole = stream.whole()
    return body, whole, not stream.told_whole


def _with_parameters(record: Object, response: Object | None) -> Object:
    """A record that is a request itself, with the parameters that stand in an object beside its messages."""
    beside = [value for value in record.values() if isinstance(value, dict) and value is not response]
    found = {key: value[key] for value in reversed(beside) for key in _PARAMETERS if key in value}
    return {**found, **record}


def answers(record: Object) -> Iterator[Any]:
    """What stands in `record` under the key of a response or output, whatever its shape."""
    for key, value in record.items():
        name = key.lower()
        if ("response" in name or "output" in name) and name != "response_format":
            yield unpacked(value)


def _error(objects: list[Object], request: Object | None) -> Any:
    """The error in one of `objects`, with a message or code; a mere text is enough beside a request."""
    for value in objects:
        match value:
            case {"error": {"message": _} | {"code": _} as error}:
                return error
            case {"error": str() as error} if error and request is not None:
                return error
    return None
