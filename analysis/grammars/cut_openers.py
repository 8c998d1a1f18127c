"""The head of a call, cut by the end of the text: `<tool_ca`, `<|tool_calls_sec`, `[TOOL_CALLS]get_w`, `>>>get_w`.

What comes once the arguments begin is read by the families' own grammars.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from analysis.grammars import Grammar, spellings
from analysis.reading import BLANKS, MINIMAX, Reading, Scan, TextCall, damages, skip_blanks

SHORTEST = 6
"""Characters of a head that must be there."""
REACH = 320
"""Characters before the end of the text in which its head must begin."""
_NAME = re.compile(r"[^\W\d][\w.:/-]{0,127}+|\Z")
_PIECE = 2
"""Characters of an offered name that must be there where a head is made of plain words."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a call begins with: `{}` stands for the tool's name, a line end for any blanks or none.

    `plain`: words that occur in other texts, so that a piece of an offered name must follow. `least`: characters of it
    that must be there.
    """

    family: str
    text: str
    plain: bool = False
    least: int = SHORTEST


HEADS = (
    Head("hermes_json", '<tool_call>\n{"name": "'),
    Head("minimax_m1", '<tool_calls>\n[\n{"name": "'),
    Head("qwen3_coder_xml", "<tool_call>\n<function={}>\n<parameter="),
    Head("qwen3_coder_xml", "<function={}>\n<parameter="),
    Head("minicpm5", '<function name="{}">\n<param name="'),
    Head("glm_arg_kv", "<tool_call>{}\n<arg_key>"),
    Head("hunyuan3", "<tool_call:opensource>{}\n<tool_sep:opensource>\n<arg_key:opensource>"),
    Head("longcat", "<longcat_tool_call>{}\n<longcat_arg_key>"),
    Head("olmo3", "<function_calls>\n{}("),
    Head("claude_function_calls", '<function_calls>\n<invoke name="{}">\n<parameter name="'),
    Head("claude_function_calls", '<invoke name="{}">\n<parameter name="'),
    Head("minimax_m2", '<minimax:tool_call>\n<invoke name="{}">\n<parameter name="'),
    Head("minimax_m3", '<tool_call>\n<invoke name="{}">\n<'),
    Head("seed_oss", "<seed:tool_call>\n<function={}>\n<parameter="),
    Head("granite", '<function_call>\n{"name": "'),
    Head("nemotron_toolcall", '<TOOLCALL>\n[\n{"name": "'),
    Head("muse_atem", '<|start|>assistant to={}<|message|><atem:function_calls>\n<atem:invoke name="{}">', least=20),
    Head("muse_atem", '<atem:function_calls>\n<atem:invoke name="{}">\n<atem:parameter name="'),
    Head("kimi_k2", "<|tool_calls_section_begin|>\n<|tool_call_begin|>\n{}:0\n<|tool_call_argument_begin|>"),
    Head("kimi_k2", "<|tool_call_begin|>\n{}:0\n<|tool_call_argument_begin|>"),
    Head("kimi_k3", '<|open|>tools<|sep|>\n<|open|>call tool="{}" index="1"<|sep|>\n<|open|>argument key="'),
    Head("kimi_k3", '<|open|>call tool="{}" index="1"<|sep|>\n<|open|>argument key="'),
    Head("deepseek_v3", "<|tool_calls_begin|>\n<|tool_call_begin|>function<|tool_sep|>{}\n```json"),
    Head("deepseek_v3", "<|tool calls begin|>\n<|tool call begin|>function<|tool sep|>{}\n```json"),
    Head("deepseek_v3", "<|tool_call_begin|>function<|tool_sep|>{}\n```json"),
    Head("deepseek_v31", "<|tool_calls_begin|>\n<|tool_call_begin|>{}<|tool_sep|>"),
    Head("deepseek_v31", "<|tool_call_begin|>{}<|tool_sep|>"),
    Head("step3", '<|tool_calls_begin|>\n<|tool_call_begin|>function<|tool_sep|><steptml:invoke name="{}">'),
    Head("deepseek_dsml", '<|DSML|tool_calls>\n<|DSML|invoke name="{}">\n<|DSML|parameter name="'),
    Head("deepseek_dsml", '<|DSML|function_calls>\n<|DSML|invoke name="{}">\n<|DSML|parameter name="'),
    Head("deepseek_dsml", '<|DSML|invoke name="{}">\n<|DSML|parameter name="'),
    Head("llama3_json", "<|python_tag|>{}.call("),
    Head("pythonic_list", "<|python_start|>[\n{}("),
    Head("lfm2", "<|tool_call_start|>[\n{}("),
    Head("cohere_start_action", "<|START_ACTION|>"),
    Head("internlm", "<|action_start|><|plugin|>"),
    Head("apertus", "<|tools_prefix|>"),
    Head("phi4_mini", "<|tool_call|>"),
    Head("functiongemma", "<start_function_call>call:{}{"),
    Head("gemma4", "<|tool_call>call:{}{"),
    Head("harmony", "<|channel|>commentary to=functions.{}\n<|constrain|>json<|message|>", least=17),
    Head("harmony", "<|start|>assistant to=functions.{}\n<|channel|>commentary json<|message|>", least=20),
    Head("harmony", "<|start|>assistant<|channel|>commentary to=functions.{}\n<|constrain|>json<|message|>", least=35),
    Head("functionary_v2", "<|from|>assistant\n<|recipient|>\n{}\n<|content|>"),
    Head("functionary_v2", "<|recipient|>\n{}\n<|content|>"),
    Head("inkling", "<|message_model|>{}<|content_invoke_tool_json|>"),
    Head("mistral_v11_args", "[TOOL_CALLS]\n{}[ARGS]"),
    Head("lmstudio_tool_request", "[TOOL_REQUEST]"),
    Head("calling_tool_text", "[Calling tool: {}(", least=9),
    Head("gigachat3", "function call<|role_sep|>", least=15),
    Head("gemini_textual", "print(default_api.{}(", least=18),
    Head("gemini_textual", "call:default_api:{}{", least=17),
    Head("gemma3_prompted", "```tool_code\n{}(", least=12),
    Head("gemma3_prompted", "```tool_code\nprint({}("),
    Head("cohere_action_text", 'Action: ```json\n[\n{\n"tool_name":\n"{}"', least=15),
    Head("functionary_v32", ">>>{}\n{", plain=True),
    Head("react_text", "Action: {}\nAction Input: ", plain=True),
    *(
        Head("bare_json_offered_tool", f'{lead}{{\n"{key}":\n"{{}}"', plain=True)
        for lead in ("", "[\n", "```json\n", "```json\n[\n")
        for key in ("name", "tool_name", "tool", "function")
    ),
)
"""In folded characters; of two that fit, the first one tells the family."""
_MARKED = f"{MINIMAX}<tool_call>"


_FIRST = 3
"""Characters by which heads are told apart before they are read."""


def _lead(head: Head) -> str:
    """What `head` begins with, up to the name or to blanks."""
    return _parts(head.text)[0]


@cache
def _parts(head: str) -> tuple[str, ...]:
    """Words, places for a name, and blanks."""
    return tuple(filter(None, re.split(r"({}|\n)", head)))


def _sure(head: Head) -> str:
    """A pattern of what stands at the start of every cut of `head` that counts."""
    words = head.text.partition("{}")[0] if head.plain else _lead(head)[: head.least]
    return rf"[{BLANKS}]*+".join(map(re.escape, words.split("\n")))


def _by_first(heads: Iterable[Head]) -> Mapping[str, Sequence[Head]]:
    found: dict[str, list[Head]] = {}
    for head in heads:
        found.setdefault(_lead(head)[:_FIRST], []).append(head)
    return found


_IN_NO_HEAD = ("</", "}")
"""Behind the last of these a head begins, if one does: where a call ended, there is nothing to look at."""
_BEGIN = re.compile("|".join(dict.fromkeys(map(_sure, HEADS))))
_BY_FIRST = _by_first(HEADS)


@dataclass(frozen=True, slots=True)
class _Cut:
    """How much of a head stands there: the characters, and the name in it, if it was reached."""

    length: int
    name: str | None
    named: bool
    """Something of the head follows the name, which is whole therefore."""


def _read(scan: Scan) -> Iterator[Reading]:
    mark = scan.text.rfind(MINIMAX[:SHORTEST])
    if mark >= 0 and _MARKED.startswith(scan.text[mark:].rstrip()):
        yield Reading("minimax_m3", mark, len(scan.text), (), damages("cut"))
        return
    first = max(0, scan.end - REACH)
    position = max(first, *(scan.folded.rfind(sign, first, scan.end) + 1 for sign in _IN_NO_HEAD))
    while (begin := _BEGIN.search(scan.folded, position, scan.end)) is not None and scan.charge(1):
        reading = _at(scan, begin.start())
        if reading:
            yield reading
            return
        position = begin.start() + 1


def _at(scan: Scan, at: int) -> Reading | None:
    for head in _heads(scan.folded[at : at + _FIRST]):
        cut = _cut(scan, at, head.text)
        if cut and _counts(scan, head, cut):
            name = (cut.name or "").removeprefix("functions.")
            known = name in scan.names or (cut.named and bool(name))
            calls = (TextCall(name, None, at, scan.end),) if known else ()
            fenced = head.text.startswith("```")
            return Reading(head.family, at, scan.end, calls, damages("cut"), marked=not head.plain, fenced=fenced)
    return None


def _heads(first: str) -> Iterator[Head]:
    """The heads that may begin with these characters."""
    for length in range(1, _FIRST + 1):
        yield from _BY_FIRST.get(first[:length], ())


def _cut(scan: Scan, at: int, head: str) -> _Cut | None:
    """How the text ends in `head`, which begins at `at`; None if it does not."""
    name: str | None = None
    named, position = False, at
    for part in _parts(head):
        if position >= scan.end:
            break
        if part == "{}":
            found = _NAME.match(scan.folded, position, scan.end)
            if found is None:
                return None
            name, position = found[0], found.end()
        elif part == "\n":
            position = skip_blanks(scan.folded, position)
        elif scan.folded.startswith(part[: scan.end - position], position):
            named, position = name is not None, min(position + len(part), scan.end)
        else:
            return None
    return _Cut(position - at, name, named) if position >= scan.end else None


def _counts(scan: Scan, head: Head, cut: _Cut) -> bool:
    """Enough of it stands there: of plain words only with a piece of an offered name."""
    if not head.plain or cut.length < head.least:
        return cut.length >= head.least
    name = cut.name or ""
    return len(name) >= _PIECE and any(each == name if cut.named else each.startswith(name) for each in scan.names)


CUT_OPENERS = Grammar(
    families=tuple(sorted({head.family for head in HEADS})),
    anchors=spellings(
        *sorted({head.text[:SHORTEST] for head in HEADS if head.text[0] in "<["}),
        "call<|", "call:d", "print(default", "```tool_code",
        ">>>", "Action:", '"name"', '"tool_name"', '"tool"', '"function"', "]<]min",
    ),
    read=_read,
)  # fmt: skip
