"""Tags of the `<tool_call>` kind: Hermes and Qwen, GLM, Granite, Hunyuan, MiniMax, Jamba, Olmo, Nemotron and others.

Many families share a tag; what stands within tells which.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from analysis.grammars import Grammar, spellings
from analysis.reading import MINIMAX, Reading, Scan
from analysis.reading.wrappers import Wrapper, Wrappers, closing, tag

_TOOL_CALL = {
    "json": "hermes_json",
    "list": "granite",
    "function": "qwen3_coder_xml",
    "function_json": "function_eq_json",
    "invoke": "minimax_m2",
    "children": "minimax_m3",
    "pairs": "glm_arg_kv",
    "separated": "hunyuan3",
    "name_json": "glm_arg_kv",
    "name": "glm_arg_kv",
    "pythonic": "hermes_json",
    "braces": "gemma4",
}
_LIST_TAG = {
    "list": "tool_calls_json_list",
    "json": "minimax_m1",
    "invoke": "claude_function_calls",
    "children": "claude_function_calls",
    "function": "qwen3_coder_xml",
    "pythonic": "olmo3",
    "pairs": "glm_arg_kv",
    "name_json": "hermes_json",
}
_SUFFIX = r"(?::\w{1,32}+)?"
WRAPPERS = Wrappers(
    (
        Wrapper(
            opens=tag("tool_call", _SUFFIX),
            sign="tool_call",
            exact=("<tool_call>", "<tool_call:opensource>"),
            families=_TOOL_CALL,
            closes=re.compile(
                rf"</tool_call{_SUFFIX}>|<end_of_tool_call{_SUFFIX}>|</tool_cal?l?(?=\s*\Z)|</(?:t|to|too|tool|tool_|tool_c|tool_ca)?(?=\s*\Z)"
            ),
            open_ended=frozenset({"granite"}),
            bare=True,
            odd=frozenset({"name_json", "pythonic", "braces"}),
        ),
        Wrapper(
            opens=tag("longcat_tool_call"),
            sign="longcat_tool_call",
            exact=("<longcat_tool_call>",),
            families={"pairs": "longcat", "json": "longcat", "name": "longcat", "name_json": "longcat"},
            closes=closing("longcat_tool_call"),
            bare=True,
        ),
        Wrapper(
            opens=tag("seed:tool_call"),
            sign="seed:tool_call",
            exact=("<seed:tool_call>",),
            families={"function": "seed_oss", "function_json": "seed_oss", "json": "seed_oss"},
            closes=closing("seed:tool_call"),
            bare=True,
        ),
        Wrapper(
            opens=tag("minimax:tool_call"),
            sign="minimax:tool_call",
            exact=("<minimax:tool_call>",),
            families={"invoke": "minimax_m2", "children": "minimax_m2", "json": "minimax_m2"},
            closes=closing("minimax:tool_call"),
            bare=True,
        ),
        Wrapper(
            opens=tag("tool_calls"),
            sign="tool_calls",
            exact=("<tool_calls>",),
            families={**_LIST_TAG, "pythonic": "minimax_m1", "invoke": "minimax_m2"},
            closes=closing("tool_calls"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"(?:<\|start\|>assistant to=[\w.:/-]{1,128}<\|message\|>)?<atem:function_calls>"),
            sign="atem:function_calls",
            exact=("*",),
            families={"invoke": "muse_atem", "children": "muse_atem"},
            closes=re.compile(r"</atem:function_calls>(?:<\|eot\|>)?"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<(?:(?!atem:)[a-z]{1,16}:)?function_calls>"),
            sign="function_calls",
            exact=("*",),
            families={**_LIST_TAG, "json": "hermes_json", "list": "hermes_json"},
            closes=re.compile(r"</(?:[a-z]{1,16}:)?function_calls>"),
            bare=True,
        ),
        Wrapper(
            opens=tag("function_call"),
            sign="function_call",
            exact=("<function_call>",),
            families={"json": "granite", "list": "granite", "name_json": "granite"},
            closes=closing("function_call"),
            open_ended=frozenset({"granite"}),
            bare=True,
        ),
        Wrapper(
            opens=tag("TOOLCALL"),
            sign="TOOLCALL",
            exact=("<TOOLCALL>",),
            families={"list": "nemotron_toolcall", "json": "nemotron_toolcall"},
            closes=closing("TOOLCALL"),
            bare=True,
        ),
        Wrapper(
            opens=re.compile(r"<(?P<other>tools?|tool_use|functioncall|tool_code|action|json|JSON|xml|response|\|tool_calls?\|)>"),
            exact=(),
            families={
                **{kind: family for kind, family in _TOOL_CALL.items() if kind != "name"}, "list": "hermes_json",
                "pythonic": "gemma3_prompted",
            },
            closes=re.compile(r"</(?:tools?|tool_use|functioncall|tool_code|action|json|JSON|xml|response)>|</\|tool_calls?\|>|<\|/tool_calls?\|>"),
        ),
        Wrapper(
            opens=re.compile(r"<user>(?=[\w.-]{1,128}+<arg_key>)"),
            sign="<user>",
            exact=(),
            families={"pairs": "glm_arg_kv"},
            closes=re.compile("</user>"),
        ),
    )
)  # fmt: skip


def _read(scan: Scan) -> Iterator[Reading]:
    for reading in WRAPPERS.read(scan):
        if reading.family == "minimax_m2" and scan.minimax and MINIMAX in scan.text[reading.start : reading.end]:
            yield replace(reading, family="minimax_m3")
        else:
            yield reading


TOOL_CALL_TAG = Grammar(
    families=(
        "hermes_json", "qwen3_coder_xml", "function_eq_json", "granite", "glm_arg_kv", "hunyuan3", "longcat",
        "seed_oss", "minimax_m1", "minimax_m2", "minimax_m3", "tool_calls_json_list", "olmo3", "nemotron_toolcall",
        "muse_atem",
        "claude_function_calls", "gemma4", "gemma3_prompted",
    ),
    anchors=spellings(
        "<tool_call", "tool_call>", "tool_calls>", "function_call>", "function_calls>", "<function_call", "TOOLCALL>",
        "<TOOLCALL", "<tool>", "<tools>", "<tool_use>", "<functioncall>", "<tool_code>", "<action>", "<json>", "<JSON>",
        "<xml>", "<response>", "<user>", "<|tool", "<seed:", "<minimax:", "<longcat", "tool_call:",
    ),
    read=_read,
    examples={
        "hermes_json": '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>',
        "qwen3_coder_xml": "<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>",
        "glm_arg_kv": "<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n</tool_call>",
        "hunyuan3": '<tool_call:opensource>look<tool_sep:opensource>{"at": "sky"}<end_of_tool_call:opensource>',
        "longcat": (
            "<longcat_tool_call>look\n<longcat_arg_key>at</longcat_arg_key>\n"
            "<longcat_arg_value>sky</longcat_arg_value>\n</longcat_tool_call>"
        ),
        "seed_oss": "<seed:tool_call>\n<function=look>\n<parameter=at>sky</parameter>\n</function>\n</seed:tool_call>",
        "minimax_m1": '<tool_calls>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_calls>',
        "minimax_m2": (
            '<minimax:tool_call>\n<invoke name="look">\n<parameter name="at">sky</parameter>\n</invoke>\n'
            "</minimax:tool_call>"
        ),
        "minimax_m3": (
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look">]<]minimax[>[<at>sky]<]minimax[>[</at>'
            "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"
        ),
        "tool_calls_json_list": '<tool_calls>[{"name": "look", "arguments": {"at": "sky"}}]</tool_calls>',
        "olmo3": '<function_calls>\nlook(at="sky")\nlook(at="sea")\n</function_calls>',
        "nemotron_toolcall": '<TOOLCALL>[{"name": "look", "arguments": {"at": "sky"}}]</TOOLCALL>',
        "muse_atem": (
            '<|start|>assistant to=look<|message|><atem:function_calls>\n<atem:invoke name="look">\n'
            '<atem:parameter name="at">sky</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>'
        ),
        "claude_function_calls": (
            '<function_calls>\n<invoke name="look">\n<parameter name="at">sky</parameter>\n</invoke>\n</function_calls>'
        ),
    },
)  # fmt: skip
