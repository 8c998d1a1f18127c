"""Requests and responses as Qwen Code logs them with `--openai-logging`: `logs/openai/openai-<time>-<id>.json`.

One exchange a file (`openaiLogger.ts`, 0.15.10). The request is what was sent; the response was put together again
from Gemini's form: its finish reason is `stop` for calls, its `created` is divided by a thousand once too often, its
model is the requested one.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import generations
from ingest.bodies.openai_chat import OPENAI_CHAT
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.shapes.exchange import Exchange
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, validated
from ingest.shapes.pairs import request_hash
from ingest.shapes.threads import Threads


def recognises(value: Any) -> bool:
    """Whether `value` is such a file: it tells of the machine beside the exchange."""
    match value:
        case {"timestamp": _, "request": {"messages": list()}, "system": {"nodeVersion": _, "platform": _}}:
            return "response" in value or "error" in value
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of such files."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One exchange a line."""
    threads = Threads()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "not an exchange as Qwen Code logs it")
            continue
        try:
            yield _item(line, threads)
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _item(line: Line, threads: Threads) -> Item:
    request, response = line.value["request"], line.value.get("response")
    if isinstance(response, dict) and OPENAI_CHAT.is_response(response):
        answers = OPENAI_CHAT.answers(response)
        found = generations(OPENAI_CHAT, request, response, mended=line.mended)
    elif response is None and line.value.get("error"):
        answers = [{"error": line.value["error"]}]
        found = [OPENAI_CHAT.offer(request) | _failed(line.value["error"])]
    else:
        return Skipped(line.number, "a request without a response")
    whole = _whole(line.value) | _placed(request, response or {}, threads, answers)
    records = tuple(validated(_corrected(fields) | whole for fields in found))
    if not records:
        return Skipped(line.number, "a response without choices")
    return Mapped(line.number, records, request_hash(Exchange(line.value, OPENAI_CHAT, request, response, None)))


def _failed(error: Any) -> Fields:
    message = error.get("message") if isinstance(error, dict) else error
    return {"status": "error", "content": None, "finish_fidelity": "absent", "error": message}


def _whole(value: Fields) -> Fields:
    time = moment(value["timestamp"])
    return {"client": "qwen-code"} | ({"started_at": time} if time else {})


def _corrected(fields: Fields) -> Fields:
    """What the logger made up is told as such, and its time is left out."""
    told = {key: value for key, value in fields.items() if key != "started_at"}
    if told.get("finish_fidelity") == "wire":
        told["finish_fidelity"] = "mapped"
    if told.get("text_fidelity") == "exact":
        told["text_fidelity"] = "rebuilt"
    return told


def _placed(request: Fields, response: Fields, threads: Threads, answers: list[Fields]) -> Fields:
    """The session where the request names it, as those to DashScope do; else that of its history; the place in it."""
    history = OPENAI_CHAT.history(request)
    match request.get("metadata"):
        case {"sessionId": str() as session} if session:
            run_id = session
        case _:
            run_id = threads.run_of(history, answers)
    name = response.get("id")
    return {"run_id": run_id} | threads.place(run_id, history, name if isinstance(name, str) else None)


QWEN_OPENAI_LOG = Format(
    name="qwen-openai-log",
    title="Qwen Code's log of requests, --openai-logging (one JSON document a request)",
    sniff=sniff,
    read=read,
    recognised="documents with `timestamp`, `request.messages`, `response` or `error`, and `system.nodeVersion`",
    carries="the whole request with its tools, text, reasoning, calls, requested model, usage, time, errors",
    lacks="the finish reason of calls (always `stop`), arguments as the model wrote them, responded model, session, "
    "version of the tool",
    better="upload the files of a session together, so that its requests are known to belong together; for finish "
    "reasons log at the server",
    joint=True,
    across_files=True,
    example="""\
{"timestamp":"2026-11-30T08:00:00.000Z","request":{"model":"m","messages":[{"role":"user","content":"what is here?"}],\
"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]},"response":{"id":"chatcmpl-1",\
"object":"chat.completion","created":1796027,"model":"m","choices":[{"index":0,"message":{"role":"assistant",\
"content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]},\
"finish_reason":"stop","logprobs":null}]},"error":null,"system":{"hostname":"h","platform":"linux","release":"6",\
"nodeVersion":"v22"}}
""",
)
