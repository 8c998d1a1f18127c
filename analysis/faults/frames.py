"""What of a family's frame can be lost between the model and its text, and which shapes are the whole of a call.

Source: a survey of public parsers, chat templates and tokenizer files. A family that stands in neither set was not
looked at, or differs between its models.
"""

ORDINARY = frozenset(
    {
        "qwen3_coder_xml", "function_eq_json", "deepseek_dsml", "functionary_v32", "cohere_action_text", "ui_tars",
        "react_text", "lmstudio_tool_request", "client_tag_is_tool", "calling_tool_text",
    }
)  # fmt: skip
"""The frame is ordinary text or tokens that are not special: no decoder drops it."""

SPECIAL = frozenset(
    {
        "llama3_json", "mistral_old_json", "mistral_v11_args", "deepseek_v3", "deepseek_v31", "kimi_k2", "kimi_k3",
        "harmony", "gemma4", "phi4_mini", "granite", "cohere_start_action", "tool_calls_json_list", "hunyuan3",
        "internlm", "functionary_v2", "step3", "apertus", "lfm2",
    }
)  # fmt: skip
"""The frame is of special tokens, which a decoder drops unless it is told to keep them."""

NATIVE_SHAPES = {
    "bare_json_offered_tool": frozenset({"bare_json_offered_tool", "llama3_json", "xlam", "gemma3_prompted"}),
    "pythonic_list": frozenset({"pythonic_list", "gemma3_prompted"}),
    "glm4_name_newline_json": frozenset({"glm4_name_newline_json"}),
}
"""By what a shape without markup is read as: the families that write their calls so, with nothing around them."""

LEFT_OF = {
    "bare_json_offered_tool": frozenset(
        {
            "hermes_json", "mistral_old_json", "phi4_mini", "granite", "cohere_start_action", "tool_calls_json_list",
            "internlm", "gigachat3",
        }
    ),
    "pythonic_list": frozenset({"lfm2"}),
    "mistral_v11_args": frozenset({"deepseek_v31", "hunyuan3"}),
    "glm4_name_newline_json": frozenset({"functionary_v32", "functionary_v2"}),
    "claude_function_calls": frozenset({"deepseek_dsml", "minimax_m2"}),
    "gemma4": frozenset({"functiongemma"}),
}  # fmt: skip
"""By what is read: the families of which that is left once their tokens are gone."""


def native_families(family: str) -> frozenset[str]:
    """The families whose own way of calling a reading of `family` is."""
    return NATIVE_SHAPES.get(family, frozenset({family}))
