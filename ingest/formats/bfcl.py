"""Results of the Berkeley Function Calling Leaderboard (`BFCL_v4_<category>_result.json`, JSON Lines).

The model stands in the name of a folder, and with it the mode: models whose name ends in `-FC` get tools, all
others write their calls as text (bfcl-eval 2026.3.23). A text result of an `-FC` model came without a structured call.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, share
from ingest.shapes.documents import Items, runs, text
from ingest.shapes.openai_message import Fields

_TEST = re.compile(r"[a-z][a-z_]*_[0-9]+(?:-.*)?")
"""The id of a test: its category and its number, as in `live_simple_3-2-0`."""
_FAILED = "Error during inference: "
_BESIDE = {"latency", "input_token_count", "output_token_count", "traceback", "inference_log"}


def recognises(value: Any) -> bool:
    """Whether `value` is the result of one test."""
    if not isinstance(value, dict) or "result" not in value or not _BESIDE & value.keys():
        return False
    return isinstance(value.get("id"), str) and _TEST.fullmatch(value["id"]) is not None


def sniff(values: Sequence[Any]) -> float:
    """The share of results."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One test a line, with the steps of its turns."""
    return runs(lines, recognises, "result of BFCL", _items)


def _items(line: Line) -> Iterator[Item]:
    items = Items()
    mended: Fields = {"text_fidelity": "normalised"} if line.mended else {}
    return (items.of(line, fields | mended) for fields in _generations(line.value))


def _generations(value: Fields) -> Iterator[Fields]:
    """A result is the one reply, or a list of turns that are lists of replies."""
    result = value["result"]
    whole: Fields = {"run_id": str(value["id"]), "client": "bfcl-eval", "finish_fidelity": "absent"}
    turns = result if _is_turns(result) else [[result]]
    several = turns is result
    for turn, replies in enumerate(turns):
        for number, reply in enumerate(replies if isinstance(replies, list) else [replies]):
            counts = [_at(value.get(key), turn, number, several) for key in ("input_token_count", "output_token_count")]
            reasoning = _at(value.get("reasoning_content"), turn, number, several)
            place = {"turn": turn, "round": number, "linked_by": "next_round" if number else "new_turn"}
            yield whole | place | _usage(*counts) | _reply(reply, value) | _reasoning(reasoning)


def _is_turns(result: Any) -> bool:
    return isinstance(result, list) and bool(result) and all(isinstance(turn, list) for turn in result)


def _at(value: Any, turn: int, number: int, several: bool) -> Any:
    """What stands beside a reply: nested as the replies are."""
    if not several:
        return value
    steps = value[turn] if isinstance(value, list) and turn < len(value) else None
    return steps[number] if isinstance(steps, list) and number < len(steps) else None


def _reply(reply: Any, value: Fields) -> Fields:
    if isinstance(reply, str):
        if reply.startswith(_FAILED) or "traceback" in value:
            return {"content": None, "status": "error", "error": reply}
        return {"content": reply, "text_fidelity": "exact"}
    if isinstance(reply, list):
        return {"tool_calls": [_call(each) for each in reply], "call_mode": "native"}
    return {"content": reply}


def _call(call: Any) -> Any:
    """`{name: arguments}`, as an object of one key."""
    if isinstance(call, dict) and len(call) == 1:
        ((name, arguments),) = call.items()
        return {"name": name, "arguments": arguments}
    return call


def _usage(given: Any, made: Any) -> Fields:
    names = {"input_tokens": given, "output_tokens": made}
    counts = {name: count for name, count in names.items() if type(count) is int and 0 <= count < 2**63}
    return {"usage": counts} if counts else {}


def _reasoning(reasoning: Any) -> Fields:
    return {"reasoning": reasoning} if text(reasoning) else {}


BFCL = Format(
    name="bfcl",
    title="BFCL results (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="`id` of a category and a number, and `result` beside `latency`, `input_token_count` or `traceback`",
    carries="exact text, reasoning, raw arguments, usage, errors",
    lacks="model and call mode, which stand in the folder's name; tools, finish reason, time, request",
    better="name the model as you upload; of an -FC model's results, tell that it was called natively",
    example="""\
{"id":"simple_0","result":[{"area":"{\\"base\\": 10}"}],"input_token_count":9,"output_token_count":2,"latency":1.2}
{"id":"simple_1","result":"There is no such tool.","input_token_count":9,"output_token_count":5,"latency":1.1}
{"id":"simple_2","result":"Error during inference: timeout","traceback":"Traceback ..."}
""",
)
