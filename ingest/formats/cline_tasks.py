"""Tasks of Cline, Roo Code and Kilo Code in VS Code: `api_conversation_history.json`, one list of messages.

Source: core/task of the extensions. Calls are blocks in native mode, and XML in the text in the other: then every
call is text by design. The other mode shows by results that are text (`[read_file for 'x'] Result:`) or by reminders
of the markup, where no structured call stands. `ui_messages.json` beside it holds what was shown, and is not read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.blocks import block_fields, call_of
from ingest.shapes.conversation import walked
from ingest.shapes.openai_message import Fields, said
from ingest.shapes.threads import digest
from ingest.shapes.told import item, started

UI = "what the tool showed, cut and reworded: upload api_conversation_history.json beside it"
_RESULT = re.compile(
    r"^\[\w+(?: for [^\n]{0,2000})?\] Result:|Tool uses are formatted using XML-style tags", re.MULTILINE
)
_MARKS = ("<environment_details>", "<task>\n")
LIMIT = 64 << 20
"""Bytes of one task: its messages are looked at together, since a later one tells what an earlier one was."""
_MODEL = re.compile(r"<model>([^<\n]{1,200})</model>")


def is_message(value: Any) -> bool:
    """Whether `value` is a message of a task; older ones have no time."""
    match value:
        case {"role": "user" | "assistant", "content": str() | list()}:
            return not {"id", "uuid", "type", "created", "tool_calls", "message"} & value.keys()
        case {"type": "reasoning", "ts": int()}:
            return True
        case _:
            return False


def _is_shown(value: Any) -> bool:
    return isinstance(value, dict) and "ts" in value and value.get("type") in ("say", "ask")


def _is_sure(message: Fields) -> bool:
    return "ts" in message or any(mark in said(message.get("content")) for mark in _MARKS)


def _elements(value: Any) -> list[Any]:
    """The elements of a list; a file that is one list may come as either."""
    return value if isinstance(value, list) else [value]


def sniff(values: Sequence[Any]) -> float:
    """The share of messages, once one of them is only of a task; or of what was shown."""
    found = [each for value in values for each in _elements(value)]
    messages = [each for each in found if is_message(each)]
    told = len(messages) if any(map(_is_sure, messages)) else 0
    return max(told, sum(map(_is_shown, found))) / len(found) if found else 0.0


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One task a file: its messages come in one list, or one by one."""
    waiting: list[tuple[Line, Fields]] = []
    size = 0
    for line in lines:
        elements = _elements(line.value)
        if elements and all(map(is_message, elements)):
            waiting += [(line, each) for each in elements]
            size += len(line.raw)
        elif elements and all(map(_is_shown, elements)):
            yield Skipped(line.number, UI)
        else:
            yield quarantined(line, "no message of a task of Cline, Roo Code or Kilo Code")
        if size > LIMIT or isinstance(line.value, list):
            yield from _task(waiting)
            waiting, size = [], 0
    yield from _task(waiting)


def _task(told: list[tuple[Line, Fields]]) -> Iterator[Item]:
    messages = [message for _, message in told]
    whole = {"run_id": f"c{digest(messages[:1]).hex()}", "finish_fidelity": "absent"} | _mode(messages)
    model: Fields = {}
    for (line, _), (message, place) in zip(told, walked(messages), strict=True):
        if isinstance(place, str):
            if found := _MODEL.findall(said(message.get("content"))):
                model = {"model": found[-1]}
            yield Skipped(line.number, place)
            continue
        role = {"role": "summariser" if message.get("isSummary") is True else "agent"}
        about = started(message.get("ts")) | place | model | whole | role
        yield item(line, block_fields(message.get("content")) | about)


def _mode(messages: list[Fields]) -> dict[Literal["call_mode"], str]:
    """Native if one structured call was made, text if calls in the text were executed or taught; else unknown."""
    contents = [message.get("content") for message in messages]
    if any(call_of(block) for content in contents if isinstance(content, list) for block in content):
        return {"call_mode": "native"}
    asked = (said(message.get("content")) for message in messages if message.get("role") == "user")
    return {"call_mode": "text"} if any(map(_RESULT.search, asked)) else {}


CLINE_TASKS = Format(
    name="cline-tasks",
    title="tasks of Cline, Roo Code and Kilo Code (api_conversation_history.json)",
    sniff=sniff,
    read=read,
    recognised="a list of messages with `role` and `content`, and `ts` or the marks of a task in one of them",
    carries="exact text, reasoning, calls with parsed arguments, time, the framework's reprimands; the model where the "
    "prompt names it",
    lacks="run, tools offered, finish reason, usage, provider, raw arguments, failed attempts, client and its version",
    better="log at a gateway in front of the engine where tools and finish reasons matter",
    example="""\
[{"role":"user","content":[{"type":"text","text":"<task>what is here?</task>"}],"ts":1796027675000},\
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"list_files","input":{"path":"."}}],\
"ts":1796027676000}]
""",
)
