"""Files that consist of the events of streamed responses: chunk logs, and the text of server-sent events."""

from collections.abc import Sequence
from typing import Any

from ingest.bodies import bodies
from ingest.formats import Format, share
from ingest.formats.native import is_native
from ingest.shapes.event_lines import event_in
from ingest.shapes.pairs import read


def sniff(values: Sequence[Any]) -> float:
    """The share of events; where there are any, the last chunk of a stream counts, which looks like a response."""
    events = share(values, _is_event)
    return share(values, lambda value: _is_event(value) or _is_last(value)) if events else 0.0


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and not is_native(value) and event_in(value) is not None


def _is_last(value: Any) -> bool:
    return isinstance(value, dict) and any(body.is_event(value) for body in bodies())


RESPONSE_STREAMS = Format(
    name="response-streams",
    title="events of streamed responses of any API, one a line or as server-sent events",
    sniff=sniff,
    read=read,
    recognised="chunks and events of OpenAI's, Anthropic's, Google's, Amazon's and Ollama's streams, bare or in a "
    "wrapper",
    carries="text and reasoning rebuilt from the pieces, raw arguments (Ollama and Google: objects), finish reason, "
    "model, usage, engine by fingerprint; a stream without its end is marked cut",
    lacks="the request and so the tools offered; runs, unless a wrapper names them. Streams of Anthropic, of "
    "Ollama, and "
    "of OpenAI's Responses tell no id in most events: of several at a time they are told apart by a `request_id` in "
    "the wrapper",
    better="log whole requests beside the events of their responses, in one record",
    generic=1,
    example="""\
{"id":"chatcmpl-7","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant",\
"content":"One "},"finish_reason":null}]}
{"id":"chatcmpl-8","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant",\
"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"ls","arguments":""}}]},\
"finish_reason":null}]}
{"id":"chatcmpl-7","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"file."},\
"finish_reason":"stop"}]}
{"id":"chatcmpl-8","object":"chat.completion.chunk","model":"m","choices":[{"index":0,\
"delta":{"tool_calls":[{"index":0,\
"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}
""",
)
