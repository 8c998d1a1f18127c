"""JSON that is a call: the whole reply, on its own line, in a fence, or with no more than a closer left of its frame.

Llama 3's default form and xLAM's; what is left of Hermes, Mistral, Granite, Cohere, InternLM and others once their
special tokens are dropped; the API's own shapes, printed.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from analysis.grammars import Grammar
from analysis.reading import Reading, Scan, damages, skip_blanks
from analysis.reading.json_calls import read_json_calls, read_lost_head
from analysis.reading.starts import Starts

_KEYS = (
    "name|tool_name|tool|function|function_name|action|recipient_name|type|id|tool_call_id|tool_calls|tool_call|function_call|"
    "tool_uses|calls|arguments|parameters|args|params|input|toolName|functionName|toolCalls?|functionCall|tool_use|call"
)
_LABEL = re.compile(
    r"(?:^|\n)[ \t]*(?P<label>[*_#]{0,3}[ \t]*(?:tool|function)[ _-]?(?:calls?|use|request|invocation)[*_]{0,2}[ \t]*:"
    r"[*_]{0,2})\s*\Z",
    re.IGNORECASE,
)
"""A heading that says what follows."""
_LABEL_LIMIT = 48
_START = Starts(
    re.compile(
        rf"(?:^|(?<=</think>)|(?<=function call))[ \t]*+(?P<line>[{{\[\"\w])|"
        rf"(?P<inner>(?:\[\s*+)?\{{\s*+[\"'](?:{_KEYS})[\"']\s*+:)|"
        r"(?P<fence>(?:^|(?<=\n))[ \t]*+(?P<ticks>`{3,}+|~{3,}+)[ \t]*+[\w-]{0,20}+[ \t]*+\r?\n\s*+(?=[\[{]))",
        re.MULTILINE,
    ),
    sign=re.compile(r"[{\[\n<f](?:(?<=[{\[])|(?P<behind>(?<=\n)|(?<=<)/think>|(?<=f)unction call))"),
    longest=len("function call"),
)
ANCHORS = tuple(
    f"{quote}{key}{quote}"
    for quote in "\"'"
    for key in ("arguments", "parameters", "args", "params", "input", "action_input", "tool_input", "tool_name",
                "recipient_name", "tool_calls", "function_call")
)  # fmt: skip
"""What tells a call where its name is not an offered one."""
_CLOSERS = (
    (re.compile(r"\s*</tool_call>"), "hermes_json"),
    (re.compile(r"\s*</tool_calls>"), "minimax_m1"),
    (re.compile(r"\s*</tools?>"), "hermes_json"),
    (re.compile(r"\s*(?:<\|tool_call_end\|>\s*)?<\|tool_calls?_section_end\|>|\s*<\|tool_call_end\|>"), "kimi_k2"),
    (re.compile(r"\s*<\|END_ACTION\|>"), "cohere_start_action"),
    (re.compile(r"\s*<\|action_end\|>"), "internlm"),
    (re.compile(r"\s*<\|tools_suffix\|>"), "apertus"),
    (re.compile(r"\s*<\|/tool_call\|>"), "phi4_mini"),
    (re.compile(r"\s*\[END_TOOL_REQUEST\]"), "lmstudio_tool_request"),
    (re.compile(r"\s*</TOOLCALL>"), "nemotron_toolcall"),
    (re.compile(r"\s*</(?:[a-z]{1,16}:)?function_calls?>"), "hermes_json"),
)
_TUPLE = re.compile(r"\((?:True|False|None|-?\d{1,9}|\"[^\"\n]{0,64}\"|'[^'\n]{0,64}'),[ \t]*\Z")
_TUPLE_LIMIT = 80
_TICKS = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_MULTI_TOOL = re.compile(r'\{\s*"tool_uses"\s*:\s*\[\s*\{\s*"recipient_name"\s*:\s*"functions\.')


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (start := _START.search(scan.text, position)) is not None:
        if not scan.charge(start.end() - position):
            return
        position = max(start.end(), position + 1)
        reading = _at(scan, start)
        if reading:
            yield _labelled(scan, reading)
            position = max(position, reading.end)


def _at(scan: Scan, start: re.Match[str]) -> Reading | None:
    if start["fence"]:
        return _fenced(scan, start)
    at = start.start("inner") if start["inner"] else start.start("line")
    if scan.text[at] in "{[":
        reading = _json(scan, at)
        if reading is None or start["line"]:
            return reading
        offered = any(call.name in scan.names for call in reading.calls)
        return _in_tuple(scan, reading) if offered else None
    found = read_lost_head(scan, at + (scan.text[at] == '"'))
    return Reading("bare_json_offered_tool", at, found[1], (found[0],), found[2], marked=False) if found else None


def _json(scan: Scan, at: int) -> Reading | None:
    found = read_json_calls(scan, at)
    if found is None or not found[0]:
        return None
    calls, end, damage = found
    told = any(key in scan.text[at:end] for key in ANCHORS) if scan.charge(end - at) else False
    if not told and not any(call.name in scan.names for call in calls):
        return None
    if _MULTI_TOOL.match(scan.text, at):
        return Reading("harmony", at, end, calls, damage | {"wrong_header"})
    return _with_closer(scan, Reading("bare_json_offered_tool", at, end, calls, damage, marked=False))


def _with_closer(scan: Scan, reading: Reading) -> Reading:
    """A body whose opening is lost, where its closer still stands: that makes it marked."""
    for pattern, family in _CLOSERS:
        close = pattern.match(scan.folded, reading.end)
        if close:
            damage = reading.damage | damages("opener_missing")
            return replace(reading, family=family, end=close.end(), damage=damage, marked=True)
    return reading


def _labelled(scan: Scan, reading: Reading) -> Reading:
    """A call behind a heading of its own, at the end of the text, with the heading."""
    if reading.marked or reading.end < scan.end:
        return reading
    label = _LABEL.search(scan.text[max(0, reading.start - _LABEL_LIMIT) : reading.start])
    if label is None:
        return reading
    at = max(0, reading.start - _LABEL_LIMIT) + label.start("label")
    return replace(reading, start=at, damage=reading.damage | {"noise"})


def _in_tuple(scan: Scan, reading: Reading) -> Reading:
    """A call printed as a member of a Python tuple, `(True, {…})`."""
    before = _TUPLE.search(scan.text[max(0, reading.start - _TUPLE_LIMIT) : reading.start])
    if before is None or not scan.text.startswith(")", skip_blanks(scan.text, reading.end)):
        return reading
    end = skip_blanks(scan.text, reading.end) + 1
    return replace(reading, start=reading.start - len(before[0]), end=end, damage=reading.damage | {"noise"})


def _fenced(scan: Scan, start: re.Match[str]) -> Reading | None:
    """The fence is part of the reading if it holds the call and nothing else."""
    inner = _json(scan, start.end())
    if inner is None:
        return None
    close = skip_blanks(scan.text, inner.end)
    closed = scan.text.startswith(start["ticks"], close)
    if not closed and _within_fence(scan, start.start("ticks")):
        return inner
    if not closed and scan.text[close : scan.end].strip("`~"):
        return None
    damage = inner.damage | damages(None if closed or "cut" in inner.damage else "closer_missing")
    end = close + len(start["ticks"]) if closed else max(inner.end, scan.end)
    return replace(inner, start=start.start("ticks"), end=end, damage=damage, fenced=True)


def _within_fence(scan: Scan, at: int) -> bool:
    """True if a fence is open before `at`: then the ticks there close it."""
    return scan.charge(at) and len(_TICKS.findall(scan.text, 0, at)) % 2 == 1


BARE_JSON = Grammar(
    families=("bare_json_offered_tool", "hermes_json", "minimax_m1", "kimi_k2", "cohere_start_action", "internlm",
              "apertus", "phi4_mini", "lmstudio_tool_request", "nemotron_toolcall", "harmony"),
    anchors=ANCHORS,
    read=_read,
    by_name=True,
    examples={"bare_json_offered_tool": '{"name": "look", "arguments": {"at": "sky"}}'},
)  # fmt: skip
