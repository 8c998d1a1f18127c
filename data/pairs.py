"""Three short conversations as an OpenAI-compatible server's request/response pairs."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from data.markup import Call, qwen, qwen_cut, qwen_without_opener
from data.texts import CODING, OPERATIONS, TRAVEL, Task

Json = dict[str, Any]

MODEL = "qwen3-coder-30b"
FINGERPRINT = "vllm-0.30.0-tp2-1a2b3c4d"
SYSTEM = "You help with one task at a time. Use the tools; answer in plain words when you are done."
NUDGE = "Your last message held a tool call as text, so nothing ran. Make the call again in the proper form."


@dataclass(frozen=True, slots=True)
class Asked:
    """A message of the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A response with a structured call, and the tool's result."""

    call: Call
    result: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer in words."""

    text: str


@dataclass(frozen=True, slots=True)
class Leaked:
    """A call that came out as text, and how its round ended.

    A forgotten one is left out of the next request's history: the same request is sent again.
    """

    text: str
    ending: Literal["recovered", "answered", "passed_off"]
    finish: str = "stop"
    forgotten: bool = False


Step = Asked | Called | Said | Leaked


def _read(path: str, result: str) -> Called:
    return Called(Call("read_file", {"path": path}), result)


def _search(pattern: str, path: str, result: str) -> Called:
    return Called(Call("search_text", {"pattern": pattern, "path": path}), result)


def _metric(service: str, metric: str, hours: int, result: str) -> Called:
    return Called(Call("query_metric", {"service": service, "metric": metric, "hours": hours}), result)


def _log(service: str, lines: int, result: str) -> Called:
    return Called(Call("read_log", {"service": service, "lines": lines}), result)


def _trains(origin: str, target: str, result: str) -> Called:
    return Called(Call("find_trains", {"origin": origin, "target": target, "day": "2026-12-04"}), result)


NUDGED: tuple[Step, ...] = (
    Asked("Why does the cache test fail every morning?"),
    _read("tests/test_cache.py", "def test_expiry(): assert age(entry) < 3600"),
    _search("def age", "src", "src/cache.py:41: def age(entry):"),
    Leaked(qwen_without_opener(Call("read_file", {"path": "src/cache.py"})), "recovered"),
    Asked(NUDGE),
    _read("src/cache.py", "def age(entry): return now_local() - entry.stored_utc"),
    _search("now_local", "src", "src/cache.py:42\nsrc/units.py:7"),
    Called(Call("write_file", {"path": "src/cache.py", "content": "def age(entry): ..."}), "written"),
    Called(Call("run_tests", {"path": "tests"}), "41 passed"),
    Said("The age was local time minus UTC. It now uses UTC on both sides, and all 41 tests pass."),
    Asked("Is the other use of `now_local` wrong as well?"),
    _read("src/units.py", "def label(): return now_local().strftime('%H:%M')"),
    Said("No: src/units.py only shows the hour to a person, and local time is right there."),
)

PASSED_OFF: tuple[Step, ...] = (
    Asked("The search service feels slow since noon. What happened?"),
    _metric("search", "p95_latency", 24, "120 ms until 12:05, then 480 ms"),
    _metric("search", "queue_depth", 24, "flat"),
    Leaked(
        qwen_cut(Call("read_log", {"service": "search and its two helpers", "lines": 400})),
        "passed_off",
        finish="length",
    ),
    Asked("That was not an answer. Please look again."),
    _log("search", 400, "12:04 cache size set to 0"),
    Called(Call("list_services", {"group": "web"}), "billing\nsearch\nexports"),
    Said("At 12:04 the cache of the search service was set to 0, and each query now reads the disk."),
    Asked("Restart it with the old setting, please."),
    Called(Call("restart_service", {"service": "search", "graceful": True}), "restarted"),
    _metric("search", "p95_latency", 1, "118 ms"),
    _log("search", 50, "cache size 512"),
    Said("It runs again with a cache of 512; the latency is back at 118 ms."),
)

ASKED_AGAIN: tuple[Step, ...] = (
    Asked("I need to get from Graz to Florence on 4 December, not too early."),
    _trains("Graz", "Florence", "no direct train"),
    _trains("Graz", "Bologna", "09:25, one change in Villach"),
    _trains("Bologna", "Florence", "16:15\n16:45"),
    Leaked(
        "Now the rooms.\n\n" + qwen(Call("find_rooms", {"city": "Florence", "day": "2026-12-04", "nights": 2})),
        "answered",
        forgotten=True,
    ),
    Said("Take the 09:25 by Villach to Bologna and the 16:15 on to Florence; there is one change on the way."),
    Asked("And a room for two nights?"),
    Called(Call("find_rooms", {"city": "Florence", "day": "2026-12-04", "nights": 2}), "4 rooms"),
    Said("There are 4 rooms for two nights; all of them are near the station."),
    Asked("When does the last train leave Bologna?"),
    Called(Call("get_timetable", {"station": "Bologna", "after": "18:30"}), "19:10\n20:40\n22:05"),
    Called(Call("get_timetable", {"station": "Bologna", "after": "22:05"}), "none"),
    Said("The last one leaves at 22:05."),
)

CONVERSATIONS: tuple[tuple[Task, tuple[Step, ...]], ...] = (
    (CODING, NUDGED),
    (OPERATIONS, PASSED_OFF),
    (TRAVEL, ASKED_AGAIN),
)


def _response_id(conversation: int, response: int) -> str:
    return f"chatcmpl-sample-{conversation}-{response:02}"


def _in_words(text: str) -> Json:
    return {"role": "assistant", "content": text, "tool_calls": []}


@dataclass(slots=True)
class Conversation:
    """A conversation under way: the history so far and the responses given."""

    number: int
    task: Task
    history: list[Json] = field(default_factory=lambda: [{"role": "system", "content": SYSTEM}])
    responses: int = 0

    def pairs(self, steps: tuple[Step, ...]) -> Iterator[Json]:
        """One request/response pair for each response of the steps."""
        for step in steps:
            match step:
                case Asked(text):
                    self.history.append({"role": "user", "content": text})
                case Called(call, result):
                    yield self._respond(self._call_message(call), "tool_calls", kept=True)
                    call_id = self.history[-1]["tool_calls"][0]["id"]
                    self.history.append({"role": "tool", "tool_call_id": call_id, "content": result})
                case Said(text):
                    yield self._respond(_in_words(text), "stop", kept=True)
                case Leaked(text, _, finish, forgotten):
                    yield self._respond(_in_words(text), finish, kept=not forgotten)

    def _call_message(self, call: Call) -> Json:
        call_id = f"call_{self.number}_{self.responses}"
        function = {"name": call.name, "arguments": call.json}
        calls = [{"id": call_id, "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def _respond(self, message: Json, finish: str, *, kept: bool) -> Json:
        moment = datetime(2026, 11, 27, 9 + self.number, 10, tzinfo=UTC) + timedelta(seconds=21 * self.responses)
        pair = {
            "timestamp": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
            "request": self._request(),
            "response": self._response(message, finish, moment),
        }
        self.responses += 1
        if kept:
            self.history.append({key: part for key, part in message.items() if part != []})
        return pair

    def _request(self) -> Json:
        tools = [{"type": "function", "function": tool} for tool in self.task.tools]
        return {"model": MODEL, "messages": list(self.history), "tools": tools, "tool_choice": "auto"}

    def _response(self, message: Json, finish: str, moment: datetime) -> Json:
        read = len(json.dumps(self.history, ensure_ascii=False)) // 4
        written = len(json.dumps(message, ensure_ascii=False)) // 4
        return {
            "id": _response_id(self.number, self.responses),
            "object": "chat.completion",
            "created": int(moment.timestamp()),
            "model": MODEL,
            "system_fingerprint": FINGERPRINT,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }


def pairs() -> list[Json]:
    """All pairs, in the order in which they were sent."""
    return [
        pair for number, (task, steps) in enumerate(CONVERSATIONS) for pair in Conversation(number, task).pairs(steps)
    ]


def pairs_truth() -> Json:
    """How many responses there are, which of them leak, and how their rounds ended."""
    responses = [
        (_response_id(number, place), step)
        for number, (_, steps) in enumerate(CONVERSATIONS)
        for place, step in enumerate(step for step in steps if not isinstance(step, Asked))
    ]
    leaked = [(name, step) for name, step in responses if isinstance(step, Leaked)]
    return {
        "runs": len(CONVERSATIONS),
        "generations": len(responses),
        "leaks": len(leaked),
        "leaking_responses": [name for name, _ in leaked],
        "endings": dict(Counter(step.ending for _, step in leaked)),
    }
