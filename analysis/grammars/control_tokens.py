"""Control tokens before a body: Mistral, Llama 3, Phi, Cohere, InternLM, Apertus, LFM2, Gemma and others."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import Reading, Scan
from analysis.reading.wrappers import Wrapper, Wrappers

WRAPPERS = Wrappers(
    (
        Wrapper(
            opens=re.compile(r"\[TOOL_CALLS?\]?"),
            sign="TOOL_CALL",
            exact=("[TOOL_CALLS]",),
            families={
                "list": "mistral_old_json", "json": "mistral_old_json",
                "name_args": "mistral_v11_args", "name_json": "mistral_v11_args", "pythonic": "mistral_v11_args",
            },
            bare=True,
            odd=frozenset({"name_json", "pythonic"}),
        ),
        Wrapper(
            opens=re.compile(r"<\|python_tag\|>"),
            sign="python_tag",
            exact=("<|python_tag|>",),
            families={"json": "llama3_json", "list": "llama3_json", "pythonic": "llama3_json"},
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<\|python_start\|>"),
            sign="python_start",
            exact=("<|python_start|>",),
            families={"pythonic": "pythonic_list", "json": "pythonic_list"},
            closes=re.compile(r"<\|python_end\|>"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"\bfunctools(?=\[\s*(?:\{|\Z))"),
            sign="functools",
            exact=("functools",),
            families={"list": "phi4_mini"},
        ),
        Wrapper(
            opens=re.compile(r"<\|tool_call\|>"),
            sign="tool_call",
            exact=("<|tool_call|>",),
            families={"list": "granite", "json": "phi4_mini"},
            closes=re.compile(r"<\|/tool_call\|>"),
            open_ended=frozenset({"granite"}),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<\|START_ACTION\|>"),
            sign="START_ACTION",
            exact=("<|START_ACTION|>",),
            families={"list": "cohere_start_action", "json": "cohere_start_action"},
            closes=re.compile(r"<\|END_ACTION\|>"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<\|action_start\|>\s*(?:<\|plugin\|>)?"),
            sign="action_start",
            exact=("<|action_start|><|plugin|>",),
            families={"json": "internlm", "list": "internlm"},
            closes=re.compile(r"<\|action_end\|>"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<\|tools_prefix\|>"),
            sign="tools_prefix",
            exact=("<|tools_prefix|>",),
            families={"list": "apertus", "json": "apertus"},
            closes=re.compile(r"<\|tools_suffix\|>"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<\|tool_call_start\|>"),
            sign="tool_call_start",
            exact=("<|tool_call_start|>",),
            families={"pythonic": "lfm2", "list": "lfm2", "json": "lfm2"},
            closes=re.compile(r"<\|tool_call_end\|>"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"\[unused11\]"),
            sign="unused11",
            exact=(),
            families={"list": "lfm2", "json": "lfm2"},
            closes=re.compile(r"\[unused12\]"),
        ),
        Wrapper(
            opens=re.compile(r"\[TOOL_REQUEST\]"),
            sign="TOOL_REQUEST",
            exact=("[TOOL_REQUEST]",),
            families={"json": "lmstudio_tool_request", "list": "lmstudio_tool_request"},
            closes=re.compile(r"\[END_TOOL_REQUEST\]"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"\bfunction call(?:\s?<\|role_sep\|>|(?=\s*+\{))"),
            sign="function call",
            exact=("function call<|role_sep|>",),
            families={"json": "gigachat3"},
        ),
        Wrapper(
            opens=re.compile(r"(?:<\|message_model\|>)?[\w.:/-]{1,128}<\|content_invoke_tool_json\|>"),
            sign="content_invoke_tool_json",
            exact=("*",),
            families={"json": "inkling"},
            closes=re.compile(r"<\|end_message\|>"),
        ),
        Wrapper(
            opens=re.compile("<start_function_call>"),
            sign="function_call",
            exact=("<start_function_call>",),
            families={"braces": "functiongemma"},
            closes=re.compile("<end_function_call>"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<\|tool_call>"),
            sign="tool_call",
            exact=("<|tool_call>",),
            families={"braces": "gemma4", "json": "gemma4"},
            closes=re.compile(r"<tool_call\|>"),
            bare=True,
        ),
    )
)  # fmt: skip


def _read(scan: Scan) -> Iterator[Reading]:
    return WRAPPERS.read(scan)


CONTROL_TOKENS = Grammar(
    families=(
        "mistral_old_json", "mistral_v11_args", "llama3_json", "pythonic_list", "phi4_mini", "granite",
        "cohere_start_action", "internlm", "apertus", "lfm2", "lmstudio_tool_request", "gigachat3", "inkling",
        "functiongemma", "gemma4",
    ),
    anchors=spellings(
        "[TOOL_CALL", "<|python", "functools[", "<|tool", "<|START", "<|action", "[unused11]", "[TOOL_REQUEST]",
        "|role", "function call{", "function call\n", "function call ", "|content", "<start_",
    ),
    read=_read,
    examples={
        "mistral_old_json": '[TOOL_CALLS] [{"name": "look", "arguments": {"at": "sky"}}]',
        "mistral_v11_args": '[TOOL_CALLS]look[ARGS]{"at": "sky"}',
        "llama3_json": '<|python_tag|>{"name": "look", "parameters": {"at": "sky"}}',
        "pythonic_list": '<|python_start|>[look(at="sky")]<|python_end|>',
        "phi4_mini": 'functools[{"name": "look", "arguments": {"at": "sky"}}]',
        "granite": '<|tool_call|>[{"name": "look", "arguments": {"at": "sky"}}]',
        "cohere_start_action": (
            '<|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": "look", "parameters": {"at": "sky"}}\n]'
            "<|END_ACTION|>"
        ),
        "internlm": '<|action_start|><|plugin|>\n{"name": "look", "parameters": {"at": "sky"}}<|action_end|>',
        "apertus": '<|tools_prefix|>[{"look": {"at": "sky"}}]<|tools_suffix|>',
        "lfm2": "<|tool_call_start|>[look(at='sky')]<|tool_call_end|>",
        "lmstudio_tool_request": '[TOOL_REQUEST]{"name": "look", "arguments": {"at": "sky"}}[END_TOOL_REQUEST]',
        "gigachat3": 'function call<|role_sep|>\n{"name": "look", "arguments": {"at": "sky"}}',
        "inkling": (
            '<|message_model|>look<|content_invoke_tool_json|>{"name": "look", "args": {"at": "sky"}}<|end_message|>'
        ),
        "functiongemma": "<start_function_call>call:look{at:<escape>sky<escape>,n:3}<end_function_call>",
        "gemma4": '<|tool_call>call:look{at:<|"|>sky<|"|>,n:3}<tool_call|>',
    },
)  # fmt: skip
