"""A tag that is an offered tool, `<read_file><path>a.txt</path></read_file>`: prompts of Cline, Roo and Kilo."""

import re
from collections.abc import Iterator
from dataclasses import replace

from analysis.grammars import Grammar
from analysis.reading import Reading, Scan, TextCall, damages, skip_blanks
from analysis.reading.parameters import Parameters, read_parameters
from analysis.reading.wrappers import FOREIGN

_TAG = re.compile(r"<(?P<name>[^\W\d][\w.:-]{0,127}+)[ \t]*(?P<self>/)?>")

HABITS = frozenset(
    {
        *("write_to_file", "replace_in_file", "search_files", "list_files", "list_code_definition_names"),
        *("execute_command", "apply_diff", "browser_action", "use_mcp_tool", "access_mcp_resource"),
        *("ask_followup_question", "attempt_completion"),
    }
)
"""The tags of those prompts. Models that learnt them write them for other clients too."""


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (head := _TAG.search(scan.text, position)) is not None:
        if not scan.charge(head.end() - position):
            return
        position = head.end()
        reading = _tag(scan, head) if head["name"] in scan.names or head["name"] in HABITS else None
        if reading:
            yield reading
            position = max(position, reading.end)


def _tag(scan: Scan, head: re.Match[str]) -> Reading | None:
    if head["self"]:
        call = TextCall(head["name"], {}, head.start(), head.end())
        return Reading("client_tag_is_tool", call.start, call.end, (call,), marked=False)
    closer = f"</{head['name']}>"
    read = read_parameters(scan, head.end(), (closer,))
    call = TextCall(head["name"], read.value, head.start(), read.end, read.closed, typed=False)
    position = skip_blanks(scan.text, read.end)
    if scan.text.startswith(closer, position) and "cut" not in read.damage:
        end = position + len(closer)
        return Reading("client_tag_is_tool", call.start, end, (replace(call, end=end),), read.damage, marked=False)
    foreign = FOREIGN.match(scan.text, read.end) if read.closed else None
    if foreign and "cut" not in read.damage:
        whole = replace(call, end=foreign.end())
        return Reading(
            "client_tag_is_tool", call.start, whole.end, (whole,), read.damage | {"wrong_closer"}, marked=False
        )
    if position >= len(scan.text) or "cut" in read.damage:
        return _cut(scan, call, read)
    return _raw(scan, call, head.end(), closer)


def _cut(scan: Scan, call: TextCall, read: Parameters) -> Reading | None:
    """The text ends within; a tag alone says nothing."""
    if read.style == "none" and "cut" not in read.damage:
        return None
    end = scan.end
    return Reading(
        "client_tag_is_tool", call.start, end, (replace(call, end=end),), read.damage | {"cut"}, marked=False
    )


def _raw(scan: Scan, call: TextCall, body: int, closer: str) -> Reading | None:
    """Text where the parameters should be: the call is there, its arguments are not told."""
    end = scan.text.find(closer, body)
    scan.charge((end if end >= 0 else len(scan.text)) - body)
    if end < 0:
        return None
    whole = replace(call, arguments=None, closed={}, end=end + len(closer))
    return Reading("client_tag_is_tool", call.start, whole.end, (whole,), damages("wrong_header"), marked=False)


CLIENT_TAGS = Grammar(
    families=("client_tag_is_tool",),
    anchors=(
        "_file>",
        "_files>",
        "definition_names>",
        "execute_command>",
        "apply_diff>",
        "browser_action>",
        "_mcp_",
        "followup_question>",
        "attempt_completion>",
    ),
    read=_read,
    by_name=True,
    examples={"client_tag_is_tool": "<look>\n<at>sky</at>\n</look>"},
)
