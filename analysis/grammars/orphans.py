"""Closers and stray tokens with no call before them: what is left where the rest was taken or lost."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import Reading, Scan, damages
from analysis.reading.starts import first_of

TOKENS: tuple[tuple[str, str], ...] = (
    (r"</tool_calls?>", "qwen3_coder_xml"),
    (r"</(?:function|parameter|param)>", "qwen3_coder_xml"),
    (r"</(?:[a-z]{1,16}:)?(?:invoke|function_calls?)>", "claude_function_calls"),
    (r"</minimax:tool_call>", "minimax_m2"),
    (r"</seed:tool_call>", "seed_oss"),
    (r"</longcat_tool_call>|</?longcat_arg_(?:key|value)>", "longcat"),
    (r"</?arg_(?:key|value)>", "glm_arg_kv"),
    (r"</tool_(?:result|response)s?>", "claude_function_calls"),
    (r"<\|tool_calls?_section_(?:begin|end)\|>|<\|tool_call_(?:begin|argument_begin|end)\|>", "kimi_k2"),
    (r"<\|tool(?:[_ ]|\\_)(?:calls?|outputs?)(?:[_ ]|\\_)(?:begin|end)\|>|<\|tool(?:[_ ]|\\_)sep\|>", "deepseek_v3"),
    (
        r"</?\s?\|{1,2}\s?DSML\s?\|{1,2}(?:\s?(?:r:)?(?:function_calls|tool_calls|calls|invoke|parameter)?[^<>\n|]{0,120}(?:>|\||\Z|(?=\n)))?",
        "deepseek_dsml",
    ),
    (r"<tool_call\|>|<\|tool_response>", "gemma4"),
    (r"<end_function_call>", "functiongemma"),
    (r"<\|/tool_call\|>", "phi4_mini"),
    (r"<\|END_ACTION\|>", "cohere_start_action"),
    (r"<\|action_end\|>", "internlm"),
    (r"<\|tools_suffix\|>", "apertus"),
    (r"</TOOLCALL>", "nemotron_toolcall"),
    (r"\[END_TOOL_REQUEST\]", "lmstudio_tool_request"),
    (r"<end_of_tool_call(?::\w{1,32}+)?>", "hunyuan3"),
    (r"</(?:atem|steptml):parameter>", "muse_atem"),
    (r"<\|python_(?:start|end|tag)\|>", "pythonic_list"),
    (r"<\|(?:recipient|content|from)\|>", "functionary_v2"),
    (r"<\|(?:content_invoke_tool_json|end_message|message_model)\|>", "inkling"),
    (r"<\|tool_call_start\|>", "lfm2"),
    (r"<\|(?:open|close|sep)\|>(?:(?:call|tools|argument)(?:<\|sep\|>)?)?", "kimi_k3"),
    (r"</?tool_sep(?::\w{1,32}+)?>", "hunyuan3"),
    (r"<\|(?:constrain|call)\|>", "harmony"),
    (r"<\|role_sep\|>", "gigachat3"),
    (r"\[(?:/?TOOL_CALLS|ARGS)\]", "mistral_v11_args"),
    (r"\[/?TOOL_REQUEST\]", "lmstudio_tool_request"),
    (r"<escape>", "functiongemma"),
)  # fmt: skip
"""Patterns of the folded text, and the family that each belongs to."""
_TOKEN = re.compile("|".join(f"(?P<t{at}>{pattern})" for at, (pattern, _) in enumerate(TOKENS)))
_SIGN = re.compile(r"[<\[](?:(?<=<)(?=[/|\salte])|(?<=\[)(?=[/TAE]))")
"""What each of them begins with, and the next character: trying all patterns everywhere takes ten times as long."""
_TOKEN_NAMES = [family for _, family in TOKENS]


def _read(scan: Scan) -> Iterator[Reading]:
    """Runs of such tokens, blanks between; the last one names the family."""
    start = end = -1
    family = ""
    for sign in _SIGN.finditer(scan.folded, first_of("<[", scan.folded)):
        token = _TOKEN.match(scan.folded, sign.start()) if sign.start() >= end else None
        if token is None:
            continue
        if not scan.charge(token.end() - max(end, 0)):
            break
        if start >= 0 and scan.folded[end : token.start()].strip():
            yield Reading(family, start, end, (), damages("orphan"))
            start = -1
        start = token.start() if start < 0 else start
        family = _TOKEN_NAMES[int((token.lastgroup or "t0")[1:])]
        end = token.end()
    if start >= 0:
        yield Reading(family, start, end, (), damages("orphan"))


ORPHANS = Grammar(
    families=tuple(sorted(set(_TOKEN_NAMES))),
    anchors=spellings(
        "</tool_call", "</function>", "</parameter>", "</param>", "</invoke>", ":invoke>", "function_calls>",
        "/function_call>",
        ":tool_call>", "longcat_", "arg_key>", "arg_value>", "</tool_result", "</tool_response",
        "<|tool", "DSML",
        "<tool_call", "<end_", "/tool_call", "END_ACTION", "action_end", "tools_suffix", "</TOOLCALL>", "[END_",
        ":parameter>",
        "<|python", "<|recipient", "<|content", "<|from", "<|end", "<|message", "<|open", "<|close", "<|sep",
        "tool_sep", "<|constrain", "<|call", "<|role", "[TOOL_", "[/TOOL_", "[ARGS]", "TOOL_REQUEST]", "<escape>",
    ),
    read=_read,
)  # fmt: skip
