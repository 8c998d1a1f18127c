"""Calls that gateways and tracing platforms wrap: a provider's request and response, or what is left of them.

A tracer may keep the whole response, its choices alone, the message alone, or a mere text. All become the body of a
known API here; what the wrapper says goes over or under what the body says.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from ingest.bodies import Body, Object, bodies, body_of, generations
from ingest.formats import Item, Line, Mapped, Skipped
from ingest.shapes.exchange import Exchange
from ingest.shapes.history import walk
from ingest.shapes.langchain import completion
from ingest.shapes.moments import LAST_SECOND, seconds
from ingest.shapes.openai_message import Fields, unpacked, validated
from ingest.shapes.pairs import request_hash
from ingest.shapes.repeated import sent_back
from ingest.shapes.threads import Threads

NO_CALL = "not a call of a model"
NO_TEXT = "a response whose text was not logged"
NO_CHOICES = "a response without choices"
CACHED = "answered from a cache: no new generation"
NESTED = "a call already told by a span around it or inside"
UNKNOWN = "holds no response of an API that leakdown knows"

_BLOCKS = ("tool_use", "thinking", "redacted_thinking")
_HISTORY = ("messages", "input", "contents", "prompt")
_INNER = ("response", "message", "output")


def spread(lines: Iterator[Line] | Sequence[Line], *names: str) -> Iterator[Line]:
    """Every record apart where a line holds a list of them, bare or under one of `names`."""
    for line in lines:
        records = _listed(line.value, names)
        for value in records:
            yield Line(line.number, value, line.raw, line.mended)
        if not records:
            yield line


def _listed(value: Any, names: Sequence[str]) -> list[Any]:
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    for name in names:
        if isinstance(listed := value.get(name), list):
            return listed
    return []


def part(values: Sequence[Any], recognises: Callable[[Any], bool], *names: str) -> float:
    """The share of `values` that are such records, or lists of nothing else."""
    found = sum(recognises(value) or _all(_listed(value, names), recognises) for value in values)
    return found / len(values) if values else 0.0


def _all(records: list[Any], recognises: Callable[[Any], bool]) -> bool:
    return bool(records) and all(map(recognises, records[:50]))


def response_of(output: Any) -> Object | None:
    """The whole response that `output` is, or what can stand for it: choices, a message, LangChain's generations."""
    return next((guess for guess in _guesses(output) if body_of(guess) is not None), None)


def text_response(text: str) -> Object:
    """A response that is nothing but `text`."""
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def _guesses(output: Any) -> Iterator[Object]:
    match output:
        case dict():
            yield output
            yield from completion(output)
            yield from _of_message(output)
            inner = [output[key] for key in _INNER if isinstance(output.get(key), dict)]
            yield from (guess for each in inner for guess in (each, *_of_message(each)))
        case [dict(), *_]:
            yield {"object": "chat.completion", "choices": output}
            if all(isinstance(each, dict) and isinstance(each.get("type"), str) for each in output):
                yield {"object": "response", "output": output}
            said = [each for each in output if isinstance(each, dict) and each.get("role") == "assistant"]
            yield from _of_message(said[0]) if len(said) == 1 else ()


def _of_message(message: Object) -> Iterator[Object]:
    content = message.get("content")
    if message.get("role") != "assistant" and not {"content", "tool_calls"} <= message.keys():
        return
    if isinstance(content, list) and any(isinstance(each, dict) and each.get("type") in _BLOCKS for each in content):
        yield {"type": "message", "role": "assistant", "stop_reason": None, **message}
        return
    outer: Object = {key: message[key] for key in ("finish_reason", "id", "model", "usage") if key in message}
    choice: Object = {"message": {key: value for key, value in message.items() if key not in outer}}
    choice |= {"finish_reason": outer.pop("finish_reason")} if "finish_reason" in outer else {}
    yield {**outer, "choices": [choice]}


def request_for(body: Body | None, history: Any, parameters: Any) -> Object | None:
    """A request whose history and parameters are logged apart, as `body` has it; None if it cannot be told."""
    told = parameters if isinstance(parameters, dict) else {}
    guesses = [{**told, key: history} for key in _HISTORY]
    own = (guess for guess in guesses if body is not None and body.is_request(guess))
    return next(own, None) or next((guess for guess in guesses if _api(guess)), None)


def _api(request: Object | None) -> Body | None:
    """The API of a request, which may be another than that of its response: gateways translate."""
    return None if request is None else next((body for body in bodies() if body.is_request(request)), None)


def fields(
    request: Object | None,
    response: Object | None,
    *,
    over: Fields,
    under: Fields | None = None,
    error: Any = None,
    mended: bool = False,
) -> list[Fields]:
    """The generations of one call: the wrapper's `over` count more than the bodies, its `under` less. The history in
    the request tells turn, round and attempt where `over` does not.

    Without a response an `error` makes a failed generation; ValueError if there is neither.
    """
    body = None if response is None else body_of(response)
    under = _placed(request) | (under or {})
    if body is None:
        if not error:
            raise ValueError(UNKNOWN)
        return [_asked(request) | under | _failed(error) | over]
    asked = request if _api(request) else None
    found = generations(body, asked, response, mended=mended)
    over = over | ({"status": "error", "error": error} if error else {})
    return [under | each | _own(over, each, number) for number, each in enumerate(found)]


def _placed(request: Object | None) -> Fields:
    """The place that the history of a request tells by itself; none by one that its API does not know."""
    body = _api(request)
    try:
        history = body.history(request) if body is not None and request is not None else []
    except ValueError:
        return {}
    return walk(history)[0].here() if history else {}


def _asked(request: Object | None) -> Fields:
    body = _api(request)
    return body.offer(request) if body is not None and request is not None else {}


def _failed(error: Any) -> Fields:
    return {"status": "error", "content": None, "finish_fidelity": "absent", "error": error}


def _own(over: Fields, each: Fields, number: int) -> Fields:
    """The wrapper's fields for one choice, with the id that the response had beside the wrapper's own."""
    mine = dict(over)
    if "generation_id" in mine:
        if each.get("generation_id") not in (None, mine["generation_id"]):
            mine["response_id"] = str(each["generation_id"]).removesuffix(f"#{number}")
        mine["generation_id"] += f"#{number}" if number else ""
    return mine


def without_tools(each: Fields) -> Fields:
    """A generation of a request whose tools cannot be known."""
    return {key: value for key, value in each.items() if key not in ("tools", "call_mode")}


def mapped(line: Line, found: list[Fields], request: bytes | None = None) -> Item:
    """What became of a line that holds one call."""
    if not found:
        return Skipped(line.number, NO_CHOICES)
    return Mapped(line.number, tuple(validated(found)), request)


def exchanged(line: Line, found: Exchange, threads: Threads, over: Fields) -> Item:
    """What became of a request and a response that a gateway logged whole; without a run of its own, by its history."""
    if found.response is None and not found.error:
        return Skipped(line.number, NO_TEXT)
    asked = _api(found.request)
    history = asked.history(found.request) if asked and found.request is not None else []
    said = found.body.answers(found.response) if found.body and found.response else [{"error": found.error}]
    over = {"run_id": over.get("run_id") or threads.run_of(history, said)} | over
    name = (found.response or {}).get("id") or over.get("generation_id")
    over = threads.place(over["run_id"], history, name if isinstance(name, str) else None) | over
    over = over | sent_back(history)
    told = fields(found.request, found.response, over=over, error=found.error, mended=line.mended)
    streamed = found.streamed or (found.request or {}).get("stream") is True
    return mapped(line, [_as_streamed(each) if streamed else each for each in told], request_hash(found))


def _as_streamed(each: Fields) -> Fields:
    rebuilt = {"text_fidelity": "rebuilt"} if each.get("text_fidelity") == "exact" else {}
    cut = {"status": "cut"} if each.get("finish_fidelity") == "absent" and "status" not in each else {}
    return each | rebuilt | cut


def texts(value: Any, *keys: str) -> Fields:
    """The texts, not empty, that stand in `value` under `keys`."""
    if not isinstance(value, dict):
        return {}
    return {key: found for key in keys if isinstance(found := value.get(key), str) and found}


def text(value: Any, *keys: str) -> str | None:
    """The first text, not empty, that stands in `value` under one of `keys`."""
    for key in keys if isinstance(value, dict) else ():
        if isinstance(found := value.get(key), str) and found:
            return found
    return None


def object_at(value: Any, *path: str) -> Object:
    """The object at `path`, itself perhaps JSON in a string; empty where there is none."""
    for key in path:
        value = unpacked(value.get(key)) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def tokens(counts: Any, given: str, made: str) -> Fields:
    """The usage that `counts` tell under the names `given` and `made`."""
    if not isinstance(counts, dict):
        return {}
    named = {"input_tokens": counts.get(given), "output_tokens": counts.get(made)}
    usage = {key: int(n) for key, n in named.items() if isinstance(n, int | float) and 0 <= n < 2**53}
    return {"usage": usage} if usage else {}


def nanoseconds(time: Any) -> datetime | None:
    """A moment from Unix time in nanoseconds, a number or its text."""
    if isinstance(time, str) and time.isascii() and time.isdigit() and len(time) < 30:
        time = int(time)
    number = isinstance(time, int | float) and not isinstance(time, bool)
    # JSON knows whole numbers that no float holds
    return seconds(time / 1e9) if number and 0 < time < LAST_SECOND * 10**9 else None


def started(moment: datetime | None) -> Fields:
    """The field of a start; none where it is not told."""
    return {"started_at": moment} if moment else {}
