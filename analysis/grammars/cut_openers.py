"""The first token of a call, cut by the end of the text: `<tool_ca`, `<|tool_calls_sec`, `<function`, `<invoke na`."""

from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import Reading, Scan, damages

SHORTEST = 6
"""Characters of an opening that must be there."""
OPENERS: tuple[tuple[str, str], ...] = (
    ("<tool_call>", "hermes_json"),
    ("<tool_calls>", "minimax_m1"),
    ("<function=", "qwen3_coder_xml"),
    ("<function_calls>", "claude_function_calls"),
    ("<function_call>", "granite"),
    ("<invoke name=", "claude_function_calls"),
    ("<minimax:tool_call>", "minimax_m2"),
    ("<seed:tool_call>", "seed_oss"),
    ("<longcat_tool_call>", "longcat"),
    ("<atem:function_calls>", "muse_atem"),
    ("<|tool_calls_section_begin|>", "kimi_k2"),
    ("<|tool_call_begin|>", "kimi_k2"),
    ("<|tool_call_start|>", "lfm2"),
    ("<|tool_calls_begin|>", "deepseek_v3"),
    ("<|tool calls begin|>", "deepseek_v3"),
    ("<|DSML|tool_calls>", "deepseek_dsml"),
    ("<|DSML|function_calls>", "deepseek_dsml"),
    ("<|python_tag|>", "llama3_json"),
    ("<|START_ACTION|>", "cohere_start_action"),
    ("<|action_start|>", "internlm"),
    ("<|tools_prefix|>", "apertus"),
    ("<start_function_call>", "functiongemma"),
    ("[TOOL_CALLS]", "mistral_old_json"),
    ("[TOOL_REQUEST]", "lmstudio_tool_request"),
)
_LONGEST = max(len(opener) for opener, _ in OPENERS)


def _read(scan: Scan) -> Iterator[Reading]:
    end = scan.end
    tail = scan.folded[max(0, end - _LONGEST) : end]
    start = max(tail.rfind("<"), tail.rfind("["))
    piece = tail[start:] if start >= 0 else ""
    family = next((family for opener, family in OPENERS if len(piece) >= SHORTEST and opener.startswith(piece)), None)
    if family:
        yield Reading(family, end - len(piece), end, (), damages("cut"))


CUT_OPENERS = Grammar(
    families=tuple(sorted({family for _, family in OPENERS})),
    anchors=spellings(*sorted({opener[:SHORTEST] for opener, _ in OPENERS})),
    read=_read,
)
