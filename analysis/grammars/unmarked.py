"""Calls by an offered name alone: `NAME{json}`, `NAME(…)`, pythonic lists, Python in a tool_code fence.

They look like much else, so they are read only where a call can stand (the start of a line), and count for offered
names alone. Sources: the parsers of Llama 4, GLM-4, Functionary and Mistral, once their tokens are stripped.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.grammars import Grammar
from analysis.reading import Damages, Reading, Scan, TextCall, damages, skip_blanks
from analysis.reading.braces import read_pairs
from analysis.reading.json_calls import Calls
from analysis.reading.json_values import read_arguments
from analysis.reading.pythonic import builtin, read_list
from analysis.reading.wrappers import FOREIGN

_FIRST = re.compile(r"[ \t]*+(?=[\[\w`~>])")
_LINE = re.compile(
    r"[\n<>.!?…。！？\u3040-\u30ff\u3400-\u9fff]"
    r"(?:(?<=\n)[ \t]*+(?=[\[\w`~>])|(?<=<)/think>[ \t]*+(?=[\[\w`~>])|(?<=>)>>(?=\w)|"
    r"(?<=[.!?…。！？])(?=[\[\w])|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[\[A-Za-z_]))"
)
"""Behind what a call can stand: a line's end, or right behind a sentence, with the token between them gone. All first
signs in one class, and then which it was: looking back from every character takes ten times as long."""
_GLUE = re.compile(r"[.!?…。！？\u3040-\u30ff\u3400-\u9fff]")
_TOOL_CODE = re.compile(r"(?P<ticks>`{3,}|~{3,})[ \t]*tool_code[ \t]*\r?\n\s*+")
_CODE = re.compile(
    r"(?P<ticks>`{3,}|~{3,})[ \t]*(?:python|py|javascript|js|typescript|ts|text|tool(?:_call)?)?[ \t]*\r?\n\s*+"
)
_PRINT = re.compile(
    r"(?:print\(\s*+|(?:[^\W\d]\w{0,40}+[ \t]*+=[ \t]*+)?(?:await[ \t]++)?)(?=\[?\s*[^\W\d][\w.:/-]{0,127}+\()"
)
_FENCED = re.compile(
    r"(?P<word>function(?=\w))?(?P<name>[^\W\d][\w.:/-]{0,127}+)[ \t]*+\r?\n```(?:json)?[ \t]*+\r?\n\s*+(?=\{)"
)
_FENCE_END = re.compile(r"\s*```")
_NAME_JSON = re.compile(
    r"(?P<lead>>>>|assistant[ \t]*+\r?\n[ \t]*+)?(?P<name>[^\W\d][\w.:/-]{0,127}+)(?P<args>\[ARGS\])?"
    r"(?P<gap>\s*+)(?=\{)"
)
_NAME_ALONE = re.compile(r"(?P<name>[^\W\d][\w.:/-]{0,127}+)[ \t]*+(?P<call>\(\))?[ \t]*+(?=\r?\n|\Z)")
_API = "default_api"


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    line = _FIRST.match(scan.text) or _LINE.search(scan.text)
    while line is not None:
        if not scan.charge(line.end() - position):
            return
        at = line.start() if line[0] == ">>>" else line.end()
        reading = _glued(scan, at) if line[0] and _GLUE.match(line[0]) else _at(scan, at)
        position = max(line.end(), reading.end if reading else 0)
        line = _LINE.search(scan.text, position)
        if reading:
            yield reading


def _at(scan: Scan, at: int) -> Reading | None:
    first = scan.text[at]
    if first in "`~":
        return _tool_code(scan, at) or _code(scan, at)
    if first == "[":
        return _pythonic(scan, at)
    return _fenced(scan, at) or _name_json(scan, at) or _pythonic(scan, at) or _name_alone(scan, at)


def _glued(scan: Scan, at: int) -> Reading | None:
    """A call that hangs on a sentence, as the last thing of the text; `x.f(a=1)` is a method, and none."""
    known = scan.text[at] == "["
    reading = _pythonic(scan, at) if known else _fenced(scan, at) or _name_json(scan, at)
    return reading if reading and reading.end >= scan.end else None


def _fenced(scan: Scan, at: int) -> Reading | None:
    """DeepSeek's `functionNAME`, then its JSON in a fence; without the word only as the whole text, since a name over
    a fence is much else."""
    calls: list[TextCall] = []
    damage: Damages = frozenset()
    end = at
    while (head := _FENCED.match(scan.text, skip_blanks(scan.text, end))) is not None and head["name"] in scan.names:
        read = read_arguments(scan, head.end())
        if read is None or not (head["word"] or calls or not scan.text[:at].strip()) or not scan.charge(64):
            break
        close = _FENCE_END.match(scan.text, read.end)
        end = close.end() if close else read.end
        calls.append(TextCall(head["name"], read.value, head.start(), end, read.closed, arguments_text=read.text))
        damage |= read.damage | damages(None if close or "cut" in read.damage else "closer_missing")
    word = scan.text.startswith("function", at)
    if not calls or not (word or end >= scan.end):
        return None
    return Reading("deepseek_v3", at, end, tuple(calls), damage | {"stripped"}, marked=False)


def _tool_code(scan: Scan, at: int) -> Reading | None:
    fence = _TOOL_CODE.match(scan.text, at)
    inner = _pythonic(scan, fence.end(), known=True) if fence else None
    if fence is None or inner is None:
        return None
    close = skip_blanks(scan.text, inner.end)
    closed = scan.text.startswith(fence["ticks"], close)
    foreign = FOREIGN.match(scan.folded, inner.end)
    if not (closed or foreign) and scan.text[close : scan.end].strip("`~"):
        return None
    damage = inner.damage - {"wrong_header"} | damages(
        None if closed or "cut" in inner.damage else "wrong_closer" if foreign else "closer_missing"
    )
    end = close + len(fence["ticks"]) if closed else foreign.end() if foreign else max(inner.end, scan.end)
    return Reading("gemma3_prompted", at, end, inner.calls, damage, fenced=True)


def _code(scan: Scan, at: int) -> Reading | None:
    """A fence of a programming language that holds calls of offered tools alone, as the last thing of the text."""
    fence = _CODE.match(scan.text, at)
    inner = _pythonic(scan, fence.end()) if fence else None
    if fence is None or inner is None or "cut" in inner.damage:
        return None
    close = skip_blanks(scan.text, inner.end)
    end = close + len(fence["ticks"])
    if not scan.text.startswith(fence["ticks"], close) or end < scan.end:
        return None
    return Reading("pythonic_list", at, end, inner.calls, inner.damage, marked=False, fenced=True)


def _pythonic(scan: Scan, at: int, *, known: bool = False) -> Reading | None:
    start = _PRINT.match(scan.text, at)
    if start is None:
        return None
    found = _lists(scan, start.end())
    api = scan.text.startswith(_API, start.end())
    known = known or api or builtin(scan, start.end())
    if found is None or not (known or any(call.name in scan.names for call in found[0])):
        return None
    calls, end, damage = found
    if "(" in start[0] and scan.text.startswith(")", end):
        end += 1
    elif "(" in start[0] and "cut" not in damage:
        damage |= {"closer_missing"}
    if builtin(scan, start.end()):
        return Reading("llama3_json", at, end, calls, damage | {"stripped"}, marked=False)
    wrong = damages(None if api or scan.text[start.end()] == "[" else "wrong_header")
    return Reading("gemini_textual" if api else "pythonic_list", at, end, calls, damage | wrong, marked=api)


def _lists(scan: Scan, at: int) -> Calls | None:
    """One list of calls, or several without a word between."""
    found = read_list(scan, at)
    while found is not None and scan.text.startswith("[", skip_blanks(scan.text, found[1])) and scan.text[at] == "[":
        more = read_list(scan, skip_blanks(scan.text, found[1]))
        if more is None or not scan.charge(64):
            break
        found = (found[0] + more[0], more[1], found[2] | more[2])
    return found


def _name_json(scan: Scan, at: int) -> Reading | None:
    """`NAME{json}` and `NAME newline {json}`, one or several run together."""
    calls: list[TextCall] = []
    damage: Damages = frozenset()
    position = at
    first: re.Match[str] | None = None
    while (head := _NAME_JSON.match(scan.text, position)) is not None and head["name"] in scan.names:
        read = read_arguments(scan, head.end())
        if read is None or not scan.charge(64):
            break
        if read.value is None and "cut" not in read.damage:
            return _name_pairs(scan, at, head) if not calls else None
        inner = _inner(read.value, head["name"]) if read.value is not None else None
        calls.append(TextCall(head["name"], inner, position, read.end, read.closed if inner is None else inner))
        damage |= read.damage
        first = first or head
        position = skip_blanks(scan.text, read.end)
    return _named(at, calls, damage, first) if first else None


def _inner(arguments: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Inkling repeats the name within: `NAME{"name": NAME, "args": {…}}`."""
    inner = arguments.get("args")
    return (
        inner
        if set(arguments) == {"name", "args"} and arguments["name"] == name and isinstance(inner, dict)
        else arguments
    )


def _named(at: int, calls: list[TextCall], damage: Damages, first: re.Match[str]) -> Reading:
    if first["lead"] == ">>>":
        return Reading("functionary_v32", at, calls[-1].end, tuple(calls), damage)
    if first["lead"]:
        family, wrong = "functionary_v2", damages("stripped")
    elif "\n" in first["gap"]:
        family, wrong = "glm4_name_newline_json", damages()
    else:
        family, wrong = "mistral_v11_args", damages("opener_missing" if first["args"] else "stripped")
    return Reading(family, at, calls[-1].end, tuple(calls), damage | wrong, marked=False)


def _name_pairs(scan: Scan, at: int, head: re.Match[str]) -> Reading | None:
    """Gemma's `NAME{k:v}` without its `call:`."""
    pairs = read_pairs(scan, head.end())
    if pairs is None:
        return None
    arguments, closed, end, damage = pairs
    call = TextCall(head["name"], arguments, at, end, closed)
    return Reading("gemma4", at, end, (call,), damage | {"stripped"}, marked='<|"|>' in scan.text[at:end])


def _name_alone(scan: Scan, at: int) -> Reading | None:
    head = _NAME_ALONE.match(scan.text, at)
    if head is None or head["name"] not in scan.names:
        return None
    call = TextCall(head["name"], {}, at, head.end("name"))
    return Reading("bare_json_offered_tool", at, head.end("call" if head["call"] else "name"), (call,), marked=False)


UNMARKED = Grammar(
    families=("pythonic_list", "mistral_v11_args", "glm4_name_newline_json", "functionary_v32", "functionary_v2",
              "deepseek_v3", "gemma3_prompted",
              "gemini_textual", "gemma4", "bare_json_offered_tool"),
    anchors=("tool_code", _API, ".call("),
    read=_read,
    by_name=True,
    examples={
        "gemma3_prompted": '```tool_code\nlook(at="sky")\n```',
        "functionary_v32": '>>>look\n{"at": "sky"}',
        "glm4_name_newline_json": 'look\n{"at": "sky"}',
    },
)  # fmt: skip
