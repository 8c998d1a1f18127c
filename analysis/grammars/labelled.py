"""Calls under labels: `Tool: NAME` and `Arguments: {…}`, the same as YAML, `NAME: {…}`, `Calling NAME with {…}`.

Nothing here is markup, so only offered names are read, and only at the start of a line.
"""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar
from analysis.reading import Reading, Scan, TextCall
from analysis.reading.json_values import read_arguments
from analysis.reading.labelled import read_labelled

_NAME = r"[^\W\d][\w.:/-]{0,127}"
_WORDS = r"[Tt]ool|[Ff]unction|[Aa]ction|[Nn]ame|[Cc]all|[Ii]nvok|[Uu]sing|[Rr]unning|[Ee]xecuting"
_LINE = re.compile(
    r"^[ \t]*+(?P<at>(?:(?P<ticks>`{3,}+|~{3,}+)[ \t]*+(?:ya?ml|tool(?:_call)?)?[ \t]*+\r?\n[ \t]*+)?)(?:-[ \t]++)?+"
    rf"(?:[*_]{{0,2}}(?:{_WORDS})|[/@]?{_NAME}+(?=[ \t]*+\{{|[ \t]++[\w-]{{1,64}}+=))",
    re.MULTILINE,
)
"""What such lines begin with: a word for a call, or what may be a name before its arguments."""
_VERBS = r"calling|call|invoking|invoke|using|running|executing|action|tool call|function call"
_INLINE = re.compile(
    rf"[*_]{{0,2}}(?:(?:{_VERBS})\b:?\s(?:the\s|tool:?\s|function:?\s){{0,2}}"
    rf"[`*]{{0,2}}(?P<told>{_NAME}?)[`*]{{0,2}}(?:\stool|\sfunction)?(?::|\swith)?\s?"
    r"(?:the\s)?(?:(?:arguments?|args|parameters|params|input):?\s)?|"
    rf"(?P<colon>{_NAME}?):[ \t]*|[/@](?P<slash>{_NAME}+)[ \t]+)(?=\{{)",
    re.IGNORECASE,
)
_PAIRS = re.compile(
    rf"(?P<name>{_NAME}+)(?P<pairs>(?:[ \t]+[\w-]{{1,64}}+=(?:\"[^\"\n]*+\"|'[^'\n]*+'|[^\s\"']++))++)[ \t]*+$",
    re.MULTILINE,
)
_PAIR = re.compile(r"([\w-]{1,64})=(?:\"([^\"\n]*)\"|'([^'\n]*)'|(\S+))")
_EFFORT = 4


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (line := _LINE.search(scan.text, position)) is not None:
        if not scan.charge(line.end() - position, _EFFORT):
            return
        position = line.end()
        reading = _at(scan, line)
        if reading:
            yield reading
            position = max(position, reading.end)


def _at(scan: Scan, line: re.Match[str]) -> Reading | None:
    at = line.end("at")
    found = read_labelled(scan, at)
    if found and found.call.name in scan.names:
        return _whole(scan, line, found.call, found.damage)
    if line["ticks"]:
        return None
    return _inline(scan, at) or _pairs(scan, at)


def _whole(scan: Scan, line: re.Match[str], call: TextCall, damage: frozenset[str]) -> Reading | None:
    """With its fence, if it holds nothing else."""
    start, end = call.start, call.end
    if line["ticks"]:
        close = re.compile(rf"\s*{line['ticks']}").match(scan.text, end)
        if close is None:
            return None
        start, end = line.start("ticks"), close.end()
    fenced = bool(line["ticks"])
    return Reading("bare_json_offered_tool", start, end, (call,), damage, marked=False, fenced=fenced)  # type: ignore[arg-type]


def _inline(scan: Scan, at: int) -> Reading | None:
    head = _INLINE.match(scan.text, at)
    name = (head["told"] or head["colon"] or head["slash"]) if head else None
    body = read_arguments(scan, head.end()) if head and name in scan.names else None
    if head is None or name is None or body is None or scan.text[body.end : scan.end].partition("\n")[0].strip(" .*_`"):
        return None
    call = TextCall(name, body.value, at, body.end, body.closed)
    return Reading("bare_json_offered_tool", at, body.end, (call,), body.damage | {"wrong_header"}, marked=False)


def _pairs(scan: Scan, at: int) -> Reading | None:
    """`NAME key="value"`, as on a command line."""
    line = _PAIRS.match(scan.text, at)
    if line is None or line["name"] not in scan.names:
        return None
    values = {key: double or single or bare for key, double, single, bare in _PAIR.findall(line["pairs"])}
    call = TextCall(line["name"], values, at, line.end(), values, typed=False)
    return Reading("bare_json_offered_tool", at, line.end(), (call,), frozenset({"wrong_header"}), marked=False)


LABELLED = Grammar(families=("bare_json_offered_tool",), anchors=(), read=_read, by_name=True)
