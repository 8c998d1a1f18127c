"""A body that begins with the tool's name: GLM's pairs, Hunyuan's separator, Mistral's `[ARGS]`, or JSON behind it."""

import re
from dataclasses import dataclass
from typing import Literal

from analysis.reading import Damages, Scan, TextCall, damages, skip_blanks
from analysis.reading.arg_pairs import read_arg_pairs
from analysis.reading.json_values import read_arguments
from analysis.reading.pythonic import NAME

Kind = Literal["pairs", "separated", "name_args", "name_json", "name"]

_HEAD = re.compile(
    rf"(?P<name>{NAME})(?:(?P<sep>\s*<tool_sep(?::\w{{1,32}}+)?>)|(?P<args>\[ARGS\]?)|"
    r"(?P<pairs>(?=(?:\\n|\s)*+<(?:longcat_)?arg_key)|(?=<tool_call>[\w.-]{1,64}+</arg_key>))|"
    r"(?P<json>(?=(?:\\n|\s)*+\{))|(?P<bare>(?=\s*+(?:</|<\||<end_of|\Z))))"
)
_BLANKS = re.compile(r"(?:\\n|\s)*+")


@dataclass(frozen=True, slots=True)
class Named:
    """One call, how it was written, and what is wrong."""

    kind: Kind
    call: TextCall
    damage: Damages


def read_named(scan: Scan, at: int) -> Named | None:
    """The call whose name stands at `at`; None where none does."""
    head = _HEAD.match(scan.folded, at)
    if head is None or not scan.charge(head.end() - at):
        return None
    if head["bare"] is not None:
        return _alone(scan, at, head)
    blanks = _BLANKS.match(scan.folded, head.end())
    position = blanks.end() if blanks else head.end()
    if head["args"] is None and head["json"] is None:
        pairs = read_arg_pairs(scan, position if head["pairs"] is None else head.end())
        if pairs is not None:
            call = TextCall(head["name"], pairs.value, at, pairs.end, pairs.closed, typed=False)
            return Named("separated" if head["sep"] else "pairs", call, pairs.damage)
    return _json(scan, at, position, head)


def _alone(scan: Scan, at: int, head: re.Match[str]) -> Named | None:
    """A name and nothing else: a call without arguments. A word after a blank in a line is a word of a sentence."""
    if scan.folded[at - 1 : at] == " " and head["name"] not in scan.names:
        return None
    cut = skip_blanks(scan.text, head.end()) >= len(scan.text)
    return Named("name", TextCall(head["name"], None if cut else {}, at, head.end()), damages("cut" if cut else None))


def _json(scan: Scan, at: int, position: int, head: re.Match[str]) -> Named | None:
    kind: Kind = "separated" if head["sep"] else "name_args" if head["args"] else "name_json"
    read = read_arguments(scan, position)
    if read is None:
        cut = position >= len(scan.text) and kind != "name_json"
        return Named(kind, TextCall(head["name"], None, at, head.end()), damages("cut")) if cut else None
    if read.value is None and not read.damage:
        return None
    name = head["name"].rstrip(":")
    call = TextCall(name, read.value, at, read.end, read.closed, arguments_text=read.text)
    wrong = damages("fused" if head["args"] == "[ARGS" else None, None if name == head["name"] else "wrong_header")
    return Named(kind, call, read.damage | wrong)
