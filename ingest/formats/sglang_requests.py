"""SGLang's request log in JSON (`--log-requests --log-requests-format json`), its `[time] ` prefix taken off.

Source: sglang 0.5.23, `srt/utils/request_logger.py`. `out.text` is what the model wrote before reasoning and calls were
parsed out of it: evidence (`raw_text`), for the log does not say what the client got. Level 2 cuts the middle of
strings over 2,048 characters. The request of a client (`request.received.openai`) names no id.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object, bodies
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields
from ingest.shapes.parts import PART
from ingest.shapes.threads import Threads, digest
from ingest.shapes.wrapped import NO_TEXT, mapped, object_at, spread, started, text, tokens

EVENTS = ("request.received.openai", "request.received", "request.finished")
HALF = 1_024
"""Characters that level 2 keeps at either end of a long string."""
CUT = "..."
WAITING = 4_096
"""Requests that wait for their response."""


def recognises(value: Any) -> bool:
    """Whether `value` is a line of that log."""
    return isinstance(value, dict) and value.get("event") in EVENTS and isinstance(value.get("obj"), dict)


def sniff(values: Sequence[Any]) -> float:
    """The share of such lines."""
    return sum(map(recognises, values)) / len(values) if values else 0.0


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response for each finished request."""
    open_ = _Open()
    for line in spread(iter(lines)):
        if not recognises(line.value):
            yield quarantined(line, "no line of SGLang's request log: event and obj are missing")
        elif line.value["event"] != "request.finished":
            open_.add(line.value)
            yield Skipped(line.number, PART)
        else:
            try:
                yield _item(line, open_)
            except ValueError as fault:
                yield quarantined(line, str(fault))


def _item(line: Line, open_: "_Open") -> Item:
    value: Object = line.value
    asked, sure = open_.take(text(value, "rid"))
    out = object_at(value, "out")
    if "text" not in out:
        return Skipped(line.number, NO_TEXT)
    if not isinstance(out["text"], str):
        raise ValueError("the text of the response is no text")
    found = _offer(asked) | _said(value, out["text"]) | _finish(object_at(out, "meta_info"))
    found |= open_.run(asked if sure else None, value, out["text"])
    if line.mended and found["text_fidelity"] == "exact":
        found["text_fidelity"] = "normalised"
    return mapped(line, [found])


def _offer(asked: Object | None) -> Fields:
    body = next((each for each in bodies() if asked is not None and each.is_request(asked)), None)
    if body is None or asked is None:
        return {}
    told = body.offer(asked)
    return {key: told[key] for key in ("tools", "tool_choice", "model") if key in told}


def _said(value: Object, said: str) -> Fields:
    cut = len(said) == 2 * HALF + len(CUT) and said[HALF : HALF + len(CUT)] == CUT
    fields: Fields = {
        "content": None,
        "raw_text": said,
        "call_mode": "unknown",
        "text_fidelity": "truncated" if cut else "exact",
        "engine": "sglang",
    }
    if when := moment(value.get("timestamp")):
        fields |= started(when) | {"zone": "assumed_utc"}
    return fields | ({"generation_id": value["rid"]} if text(value, "rid") else {})


def _finish(told: Object) -> Fields:
    usage = tokens(told, "prompt_tokens", "completion_tokens")
    match told.get("finish_reason"):
        case {"type": str() as reason} as source:
            ended = {"status": "cancelled"} if reason == "abort" else {}
            return (
                usage | ended | {"finish_reason": reason, "finish_fidelity": "mapped", "choice_finish_reason": source}
            )
        case str() as reason:
            return usage | {"finish_reason": reason, "finish_fidelity": "wire"}
        case _:
            return usage | {"finish_fidelity": "absent"}


class _Open:
    """Requests whose responses are still to come. The client's form has no id: it belongs to the next id that is new,
    for sure if no other waits; else only what all that wait have in common, their tools, can be said.
    """

    def __init__(self) -> None:
        self._asked: deque[tuple[Object, bytes]] = deque(maxlen=WAITING)
        """Requests of clients, each with the hash of its tools."""
        self._by_id: OrderedDict[str, tuple[Object | None, bool]] = OrderedDict()
        self._threads = Threads()

    def add(self, value: Object) -> None:
        if value["event"] == "request.received.openai":
            self._asked.append((value["obj"], digest(value["obj"].get("tools"))))
        elif rid := text(value, "rid"):
            self._by_id[rid] = self._next()
            if len(self._by_id) > WAITING:
                self._by_id.popitem(last=False)

    def take(self, rid: str | None) -> tuple[Object | None, bool]:
        """The client's request of a response, and whether it is surely that one."""
        return self._by_id.pop(rid) if rid is not None and rid in self._by_id else self._next()

    def _next(self) -> tuple[Object | None, bool]:
        if not self._asked:
            return None, False
        same = len({tools for _, tools in self._asked}) == 1
        sure = len(self._asked) == 1
        asked, _ = self._asked.popleft()
        return (asked if same else None), sure

    def run(self, asked: Object | None, value: Object, said: str) -> Fields:
        """The run that the messages tell, and the place in it, where they are known."""
        messages, name = asked.get("messages") if asked else None, text(value, "rid")
        if isinstance(messages, list) and messages and all(isinstance(each, dict) for each in messages):
            run_id = self._threads.run_of(messages, [{"content": said}])
            return {"run_id": run_id} | self._threads.place(run_id, messages, name)
        return {"run_id": name or self._threads.run_of([], [{"content": said}])}


SGLANG_REQUESTS = Format(
    name="sglang-requests",
    title="SGLang, request log in JSON",
    sniff=sniff,
    read=read,
    recognised="objects with an `event` of `request.received.openai`, `request.received` or `request.finished`, "
    "and an `obj`",
    carries="the text before the engine's parsers (as evidence), tools, finish reason, usage",
    lacks="what the client got, so that a leak cannot be told from a call that was parsed; time zone; text below "
    "`--log-requests-level 2`, and at level 2 the middle of texts over 2,048 characters; which request is whose, "
    "under load",
    better="level 3, and a log of the client or gateway beside; the pickles of `--dump-requests-folder` are not read",
    example="""\
{"timestamp":"2026-11-01T10:00:00.5","event":"request.received.openai","obj":{"model":"m","messages":[{"role":"user",\
"content":"ls"}],"tools":[{"type":"function","function":{"name":"ls"}}]}}
{"timestamp":"2026-11-01T10:00:01.5","event":"request.finished","rid":"r1","obj":{"rid":"r1","stream":false},"out":\
{"text":"<tool_call>{\\"name\\": \\"ls\\"}</tool_call>","meta_info":{"id":"r1","finish_reason":{"type":"stop",\
"matched":151645},"prompt_tokens":9,"completion_tokens":3}}}
""",
)
