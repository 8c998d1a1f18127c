"""mlx-lm. It infers the parser from the template's text (`tokenizer_utils._infer_tool_parser` @d78bf58)."""

from analysis.faults.engines import Engine, Reader

_IN = "ml-explore/mlx-lm@d78bf58 mlx_lm/tool_parsers/"

MLX_LM = Engine(
    name="mlx_lm",
    title="mlx-lm",
    spellings=("mlxlm", "mlx", "mlxlmserver"),
    setting='"tool_parser_type": "{parser}" in tokenizer_config.json, where the template does not show it',
    source="ml-explore/mlx-lm@d78bf58 mlx_lm/tokenizer_utils.py",
    readers=(
        Reader("hermes_json", ("json_tools",), f"{_IN}json_tools.py"),
        Reader("qwen3_coder_xml", ("qwen3_coder",), f"{_IN}qwen3_coder.py"),
        Reader("pythonic_list", ("pythonic",), f"{_IN}pythonic.py", "with the markers of LFM2"),
        Reader("mistral_old_json", ("mistral",), f"{_IN}mistral.py"),
        Reader("mistral_v11_args", ("mistral",), f"{_IN}mistral.py"),
        Reader("kimi_k2", ("kimi_k2",), f"{_IN}kimi_k2.py"),
        Reader("glm_arg_kv", ("glm47",), f"{_IN}glm47.py"),
        Reader("longcat", ("longcat",), f"{_IN}longcat.py"),
        Reader("minimax_m2", ("minimax_m2",), f"{_IN}minimax_m2.py"),
        Reader("functiongemma", ("function_gemma",), f"{_IN}function_gemma.py"),
        Reader("gemma4", ("gemma4",), f"{_IN}gemma4.py"),
        Reader("lfm2", ("pythonic",), f"{_IN}pythonic.py"),
    ),
)
