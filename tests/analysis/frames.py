"""A valid call of every family in its parts, after the catalogue of formats: opener, body, closer, and what is left
once the special tokens are dropped."""

import json
from dataclasses import dataclass

NAME, ARGUMENTS = "get_weather", {"city": "Oslo", "unit": "metric"}
JSON = json.dumps(ARGUMENTS)
CALL = '{"name": "get_weather", "arguments": ' + JSON + "}"
LLAMA = '{"name": "get_weather", "parameters": ' + JSON + "}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A valid call in three parts; `stripped` is what is left of it once the special tokens are dropped, if any are."""

    opener: str
    body: str
    closer: str = ""
    stripped: str = ""

    @property
    def text(self) -> str:
        """The call as it should be."""
        return self.opener + self.body + self.closer


def _pairs(prefix: str = "", suffix: str = "") -> str:
    return "\n".join(
        f"<{prefix}arg_key{suffix}>{key}</{prefix}arg_key{suffix}>\n"
        f"<{prefix}arg_value{suffix}>{value}</{prefix}arg_value{suffix}>"
        for key, value in ARGUMENTS.items()
    )


def _parameters(tag: str = "parameter", ns: str = "", rest: str = "") -> str:
    return "\n".join(f'<{ns}{tag} name="{key}"{rest}>{value}</{ns}{tag}>' for key, value in ARGUMENTS.items())


_QWEN = (
    "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=unit>\nmetric\n</parameter>\n</function>"
)
_INVOKE = f'<invoke name="get_weather">\n{_parameters()}\n</invoke>'
_STRING = ' string="true"'
_DSML = f'<｜DSML｜invoke name="get_weather">\n{_parameters(ns="｜DSML｜", rest=_STRING)}\n</｜DSML｜invoke>'
_PYTHON = 'get_weather(city="Oslo", unit="metric")'
_M = "]<]minimax[>["

FRAMES: dict[str, Frame] = {
    "hermes_json": Frame("<tool_call>\n", CALL, "\n</tool_call>", CALL),
    "qwen3_coder_xml": Frame("<tool_call>\n", _QWEN, "\n</tool_call>", _QWEN),
    "llama3_json": Frame("<|python_tag|>", LLAMA, "", LLAMA),
    "function_eq_json": Frame("<function=get_weather>", JSON, "</function>"),
    "pythonic_list": Frame("<|python_start|>", f"[{_PYTHON}]", "<|python_end|>", f"[{_PYTHON}]"),
    "mistral_old_json": Frame("[TOOL_CALLS] ", f"[{CALL}]", "", f"[{CALL}]"),
    "mistral_v11_args": Frame("[TOOL_CALLS]", f"get_weather[ARGS]{JSON}", "", f"get_weather{JSON}"),
    "deepseek_v3": Frame(
        "<｜tool▁calls▁begin｜>",
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{JSON}\n```<｜tool▁call▁end｜>",
        "<｜tool▁calls▁end｜>",
        f"functionget_weather\n```json\n{JSON}\n```",
    ),
    "deepseek_v31": Frame(
        "<｜tool▁calls▁begin｜>",
        f"<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{JSON}<｜tool▁call▁end｜>",
        "<｜tool▁calls▁end｜>",
        f"get_weather{JSON}",
    ),
    "deepseek_dsml": Frame(
        "<｜DSML｜tool_calls>\n",
        _DSML,
        "\n</｜DSML｜tool_calls>",
        f"<tool_calls>\n{_DSML}\n</tool_calls>".replace("｜DSML｜", ""),
    ),
    "kimi_k2": Frame(
        "<|tool_calls_section_begin|>",
        f"<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{JSON}<|tool_call_end|>",
        "<|tool_calls_section_end|>",
        f"functions.get_weather:0{JSON}",
    ),
    "kimi_k3": Frame(
        "<|open|>tools<|sep|>",
        '<|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Oslo'
        '<|close|>argument<|sep|><|open|>argument key="unit" type="string"<|sep|>metric<|close|>argument<|sep|>'
        "<|close|>call<|sep|>",
        "<|close|>tools<|sep|>",
        'toolscall tool="get_weather" index="1"argument key="city" type="string"Osloargumentargument key="unit" '
        'type="string"metricargumentcalltools',
    ),
    "glm_arg_kv": Frame("<tool_call>", f"get_weather\n{_pairs()}", "\n</tool_call>"),
    "glm4_name_newline_json": Frame("", f"get_weather\n{JSON}"),
    "longcat": Frame("<longcat_tool_call>", f"get_weather\n{_pairs('longcat_')}", "\n</longcat_tool_call>"),
    "minimax_m1": Frame("<tool_calls>\n", CALL, "\n</tool_calls>"),
    "minimax_m2": Frame("<minimax:tool_call>\n", _INVOKE, "\n</minimax:tool_call>", _INVOKE),
    "minimax_m3": Frame(
        f"{_M}<tool_call>\n",
        f'{_M}<invoke name="get_weather">{_M}<city>Oslo{_M}</city>{_M}<unit>metric{_M}</unit>{_M}</invoke>',
        f"\n{_M}</tool_call>",
        '<tool_call>\n<invoke name="get_weather"><city>Oslo</city><unit>metric</unit></invoke>\n</tool_call>',
    ),
    "harmony": Frame(
        "<|channel|>commentary ",
        f"to=functions.get_weather <|constrain|>json<|message|>{JSON}",
        "<|call|>",
        f"commentary to=functions.get_weather json{JSON}",
    ),
    "functiongemma": Frame(
        "<start_function_call>",
        "call:get_weather{city:<escape>Oslo<escape>,unit:<escape>metric<escape>}",
        "<end_function_call>",
        "call:get_weather{city:Oslo,unit:metric}",
    ),
    "gemma4": Frame(
        "<|tool_call>",
        'call:get_weather{city:<|"|>Oslo<|"|>,unit:<|"|>metric<|"|>}',
        "<tool_call|>",
        "call:get_weather{city:Oslo,unit:metric}",
    ),
    "gemma3_prompted": Frame("```tool_code\n", _PYTHON, "\n```"),
    "gemini_textual": Frame("", 'call:default_api:get_weather{city:"Oslo",unit:"metric"}'),
    "phi4_mini": Frame("<|tool_call|>", CALL, "<|/tool_call|>", CALL),
    "phi4_functools": Frame("functools", f"[{CALL}]"),
    "granite": Frame("<|tool_call|>", f"[{CALL}]", "", f"[{CALL}]"),
    "granite_20b": Frame("<function_call> ", CALL, ""),
    "cohere_action_text": Frame(
        "Action: ```json\n",
        f'[\n    {{\n        "tool_name": "get_weather",\n        "parameters": {JSON}\n    }}\n]',
        "```",
    ),
    "cohere_start_action": Frame(
        "<|START_ACTION|>",
        f'[\n    {{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {JSON}}}\n]',
        "<|END_ACTION|>",
        f'[\n    {{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {JSON}}}\n]',
    ),
    "tool_calls_json_list": Frame("<tool_calls>", f"[{CALL}]", "</tool_calls>", f"[{CALL}]"),
    "hunyuan3": Frame(
        "<tool_call:opensource>",
        f"get_weather<tool_sep:opensource>{JSON}",
        "<end_of_tool_call:opensource>",
        f"get_weather{JSON}",
    ),
    "hunyuan3_pairs": Frame(
        "<tool_call:opensource>",
        f"get_weather<tool_sep:opensource>{_pairs(suffix=':opensource')}",
        "<end_of_tool_call:opensource>",
    ),
    "internlm": Frame("<|action_start|><|plugin|>\n", LLAMA, "<|action_end|>", LLAMA),
    "xlam": Frame("", f"[{CALL}]"),
    "functionary_v32": Frame(">>>", f"get_weather\n{JSON}"),
    "functionary_v2": Frame(
        "<|from|>assistant\n", f"<|recipient|>get_weather\n<|content|>{JSON}", "", f"assistant\nget_weather\n{JSON}"
    ),
    "step3": Frame(
        "<｜tool_calls_begin｜>",
        f'<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">'
        f"{_parameters(ns='steptml:')}</steptml:invoke><｜tool_call_end｜>",
        "<｜tool_calls_end｜>",
        f'function<steptml:invoke name="get_weather">{_parameters(ns="steptml:")}</steptml:invoke>',
    ),
    "seed_oss": Frame("<seed:tool_call>\n", _QWEN, "\n</seed:tool_call>", _QWEN),
    "olmo3": Frame("<function_calls>\n", _PYTHON, "\n</function_calls>"),
    "apertus": Frame(
        "<|tools_prefix|>", f'[{{"get_weather": {JSON}}}]', "<|tools_suffix|>", f'[{{"get_weather": {JSON}}}]'
    ),
    "nemotron_toolcall": Frame("<TOOLCALL>", f"[{CALL}]", "</TOOLCALL>"),
    "lfm2": Frame("<|tool_call_start|>", f"[{_PYTHON}]", "<|tool_call_end|>", f"[{_PYTHON}]"),
    "lfm2_json": Frame("<|tool_call_start|>", f"[{CALL}]", "<|tool_call_end|>", f"[{CALL}]"),
    "minicpm5": Frame('<function name="get_weather">', _parameters("param"), "</function>"),
    "muse_atem": Frame(
        "<|start|>assistant to=get_weather<|message|><atem:function_calls>\n",
        f'<atem:invoke name="get_weather">\n{_parameters(ns="atem:")}\n</atem:invoke>',
        "\n</atem:function_calls><|eot|>",
        f'<atem:function_calls>\n<atem:invoke name="get_weather">\n{_parameters(ns="atem:")}\n</atem:invoke>\n'
        "</atem:function_calls>",
    ),
    "gigachat3": Frame("function call<|role_sep|>\n", CALL, "", f"function call\n{CALL}"),
    "inkling": Frame(
        "<|message_model|>",
        f'get_weather<|content_invoke_tool_json|>{{"name": "get_weather", "args": {JSON}}}',
        "<|end_message|>",
        f'get_weather{{"name": "get_weather", "args": {JSON}}}',
    ),
    "ui_tars": Frame("Action: ", "click(city='Oslo', unit='metric')"),
    "claude_function_calls": Frame("<function_calls>\n", _INVOKE, "\n</function_calls>"),
    "react_text": Frame("Action: ", f"get_weather\nAction Input: {JSON}"),
    "lmstudio_tool_request": Frame("[TOOL_REQUEST]", CALL, "[END_TOOL_REQUEST]"),
    "client_tag_is_tool": Frame("<get_weather>\n", "<city>Oslo</city>\n<unit>metric</unit>", "\n</get_weather>"),
    "bare_json_offered_tool": Frame("```json\n", CALL, "\n```"),
    "bare_json": Frame("", CALL),
    "calling_tool_text": Frame("[Calling tool: ", f"get_weather({JSON}", ")]"),
}
