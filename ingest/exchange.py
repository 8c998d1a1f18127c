"""A request to a chat-completions API and its response, found in a log record under whatever keys they stand.

Loggers invent wrappers: `{request, response}`, `{input, output}`, `{request: {body}, response: {body}}`,
`"request.body"`, `{messages, response, model_parameters}`, JSON in strings, the bare response. The shape of
the inner objects decides, in the record, in its values, and one level deeper.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ingest.openai_message import unpacked

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a record holds: either part may be missing. `error` is what came instead of an answer."""

    record: Object
    request: Object | None
    response: Object | None
    error: Any

    def tools(self) -> tuple[str, Any] | None:
        """The key and value of the request's tool list; None if it has none.

        Where the request's keys stand beside the response, its parameters may be an object beside it too.
        """
        places = [self.request or {}]
        if self.request is self.record:
            places += [
                value for value in self.record.values() if isinstance(value, dict) and value is not self.response
            ]
        return next(((key, place[key]) for place in places for key in ("tools", "functions") if key in place), None)


def exchange(record: Object) -> Exchange:
    """The request and the response in `record`."""
    near = list(_objects(record, _as_is))
    request, response = _first(near, is_request), _first(near, is_response)
    if request is None or response is None:
        far = list(_objects(record, unpacked))
        request, response = request or _first(far, is_request), response or _first(far, is_response)
        near = far
    return Exchange(record, request, response, _error(near, request) if response is None else None)


def _as_is(value: Any) -> Any:
    return value


def _objects(record: Object, open_: Callable[[Any], Any]) -> Iterator[Object]:
    """`record`, the objects that are its values, and the objects that are theirs."""
    yield record
    values = [value for value in map(open_, record.values()) if isinstance(value, dict)]
    yield from values
    for value in values:
        yield from (inner for inner in map(open_, value.values()) if isinstance(inner, dict))


def _first(objects: list[Object], is_it: Callable[[Object], bool]) -> Object | None:
    return next((value for value in objects if is_it(value)), None)


def is_request(value: Object) -> bool:
    """Whether `value` is a chat request."""
    return isinstance(value.get("messages"), list)


def is_response(value: Object) -> bool:
    """Whether `value` is a whole chat completion, no chunk of a streamed one."""
    choices = value.get("choices")
    if not isinstance(choices, list):
        return False
    if not choices:
        return value.get("object") == "chat.completion"
    return all(isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices)


def is_chunk(value: Object) -> bool:
    """Whether `value` is a part of a streamed completion."""
    choices = value.get("choices")
    deltas = isinstance(choices, list) and any(isinstance(choice, dict) and "delta" in choice for choice in choices)
    return deltas or value.get("object") == "chat.completion.chunk"


def streamed(record: Object) -> bool:
    """Whether `record` holds a part of a streamed completion."""
    return any(map(is_chunk, _objects(record, unpacked)))


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
            case {"type": "error"}:  # an envelope of Anthropic's API
                continue
            case {"error": {"message": _} | {"code": _} as error}:
                return error
            case {"error": str() as error} if error and request is not None:
                return error
    return None
