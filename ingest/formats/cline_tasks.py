"""Tasks of Cline, Roo Code and Kilo Code in VS Code: `api_conversation_history.json`, one list of messages.

Source: core/task of the extensions. Calls are blocks in native mode, and XML in the text in the other: then every
call is text by design. The other mode shows by results that are text (`[read_file for 'x'] Result:`) or by reminders
of the markup, where no structured call stands. `ui_messages.json` beside it holds what was shown, and is not read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from ingest.blocks import block_fields, call_of, said
from ingest.conversation import walked
from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.openai_message import Fields
from ingest.threads import digest
from ingest.told import item, started

UI = "what the tool showed, cut and reworded: upload api_conversation_history.json beside it"
_RESULT = re.compile(
    r"^\[\w+(?: for [^\n]{0,2000})?\] Result:|Tool uses are formatted using XML-style tags", re.MULTILINE
)
_MODEL = re.compile(r"<model>([^<\n]{1,200})</model>")


def is_history(value: Any) -> bool:
    """Whether `value` is a list of messages with times."""
    if not isinstance(value, list) or not all(isinstance(message, dict) for message in value):
        return False
    told = [message for message in value if "role" in message and "content" in message]
    return any("ts" in message for message in told) and len(told) == sum("type" not in each for each in value)


def is_ui(value: Any) -> bool:
    """Whether `value` is the list of what was shown."""
    return isinstance(value, list) and bool(value) and all(map(_is_shown, value))


def _is_shown(value: Any) -> bool:
    return isinstance(value, dict) and "ts" in value and value.get("type") in ("say", "ask")


def sniff(values: Sequence[Any]) -> float:
    """The share of such lists."""
    return share(values, lambda value: is_history(value) or is_ui(value))


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One task a document."""
    for line in lines:
        if is_ui(line.value):
            yield Skipped(line.number, UI)
        elif is_history(line.value):
            yield from _task(line, line.value)
        else:
            yield quarantined(line, "no task of Cline, Roo Code or Kilo Code")


def _task(line: Line, messages: list[Fields]) -> Iterator[Item]:
    whole = {"run_id": f"c{digest(messages[0]).hex()}", "finish_fidelity": "absent"} | _mode(messages)
    model: Fields = {}
    for message, place in walked(messages):
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
    recognised="a list of messages with `role`, `content` and `ts`",
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
