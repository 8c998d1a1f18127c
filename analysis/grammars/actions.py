"""Calls behind the word `Action:`: ReAct prompts, Command-R's fenced list, UI-TARS's verbs."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar
from analysis.reading import Reading, Scan, TextCall, damages, skip_blanks
from analysis.reading.json_calls import read_json_calls
from analysis.reading.json_values import read_arguments
from analysis.reading.pythonic import read_call

_NAME = r"[^\W\d][\w.:/-]{0,127}+"
_AT = r"(?:^[ \t]*+|(?<=</think>)|(?<=[.!?。！？}`)]))"
"""A line's start, or right behind a sentence or another call."""
_REACT = re.compile(
    rf"{_AT}Action:[ \t]*+(?P<name>{_NAME})[ \t]*+\r?\n[ \t]*+Action Input:[ \t]*+(?P<input>[^\r\n]*+)", re.MULTILINE
)
_REACT_JSON = re.compile(rf"{_AT}Action:\s*+(?P<fence>```(?:json)?\s*+)?(?=[\[{{])", re.MULTILINE)
_FENCE_END = re.compile(r"\s*```")
_UI_TARS = re.compile(
    rf"{_AT}Action:[ \t]*+(?=(?:click|left_double|right_single|drag|hotkey|type|scroll|wait|finished|call_user|"
    r"long_press|open_app|press_home|press_back)\()",
    re.MULTILINE,
)
_NO_TOOL = frozenset({"Final Answer", "directly_answer", "directly-answer", "final_answer"})
"""What such prompts call the choice to use no tool."""


def _read(scan: Scan) -> Iterator[Reading]:
    for pattern, one in ((_REACT, _react), (_REACT_JSON, _react_json), (_UI_TARS, _ui_tars)):
        position = 0
        while (head := pattern.search(scan.text, position)) is not None:
            if not scan.charge(head.end() - position):
                return
            position = max(head.end(), position + 1)
            reading = one(scan, head)
            if reading:
                yield reading
                position = max(position, reading.end)


def _react(scan: Scan, head: re.Match[str]) -> Reading | None:
    if head["name"] in _NO_TOOL:
        return None
    read = read_arguments(scan, head.start("input"))
    end = read.end if read else head.end()
    call = TextCall(head["name"], read.value if read else None, head.start(), end, read.closed if read else {})
    ended = not head["input"].strip() and skip_blanks(scan.text, end) >= len(scan.text)
    damage = read.damage if read else damages("cut" if ended else None)
    return Reading("react_text", head.start(), end, (call,), damage, marked=False)


def _react_json(scan: Scan, head: re.Match[str]) -> Reading | None:
    found = read_json_calls(scan, head.end())
    if found is None:
        return None
    calls = tuple(call for call in found[0] if call.name not in _NO_TOOL)
    if not calls and "cut" not in found[2]:
        return None
    close = _FENCE_END.match(scan.text, found[1]) if head["fence"] else None
    unclosed = head["fence"] and not close and "cut" not in found[2]
    command_r = head["fence"] and '"tool_name"' in scan.text[head.end() : found[1]]
    return Reading(
        "cohere_action_text" if command_r else "react_text", head.start(), close.end() if close else found[1], calls,
        found[2] | damages("closer_missing" if unclosed else None), marked=bool(command_r), fenced=bool(head["fence"]),
    )  # fmt: skip


def _ui_tars(scan: Scan, head: re.Match[str]) -> Reading | None:
    found = read_call(scan, head.end())
    if found is None:
        return None
    end = scan.end if "cut" in found[1] else found[0].end
    return Reading("ui_tars", head.start(), end, (found[0],), found[1], marked=False)


ACTIONS = Grammar(
    families=("react_text", "cohere_action_text", "ui_tars"),
    anchors=("Action:",),
    read=_read,
    examples={
        "react_text": 'Action: look\nAction Input: {"at": "sky"}',
        "cohere_action_text": (
            'Action: ```json\n[\n    {\n        "tool_name": "look",\n        "parameters": {"at": "sky"}\n    }\n]```'
        ),
        "ui_tars": "Action: click(start_box='(200,300)')",
    },
)
