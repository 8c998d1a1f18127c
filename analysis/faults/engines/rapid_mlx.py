"""Rapid-MLX. Parser names are those of `vllm_mlx/tool_parsers/` @7222ca7; without one it goes by the model's name."""

from analysis.faults.engines import Engine, Reader

_IN = "raullenchai/Rapid-MLX@7222ca7 vllm_mlx/tool_parsers/"

RAPID_MLX = Engine(
    name="rapid_mlx",
    title="Rapid-MLX",
    spellings=("rapidmlx", "vllmmlx"),
    setting="--enable-auto-tool-choice --tool-call-parser {parser}",
    source="raullenchai/Rapid-MLX PR #25, issue #1120",
    readers=(
        Reader("hermes_json", ("hermes", "nous", "qwen", "qwen3"), f"{_IN}hermes_tool_parser.py, qwen_tool_parser.py"),
        Reader(
            "qwen3_coder_xml",
            ("qwen3_coder_xml", "nemotron", "hermes"),
            f"{_IN}qwen3coder_tool_parser.py, nemotron_tool_parser.py, hermes_tool_parser.py",
            "hermes as a fallback",
        ),
        Reader("llama3_json", ("llama", "llama3", "llama4"), f"{_IN}llama_tool_parser.py"),
        Reader(
            "function_eq_json",
            ("llama", "functionary", "hermes", "nemotron", "auto"),
            f"{_IN}llama_tool_parser.py, functionary_tool_parser.py, auto_tool_parser.py",
        ),
        Reader("pythonic_list", ("lfm", "auto"), f"{_IN}lfm_tool_parser.py"),
        Reader("mistral_old_json", ("mistral", "xlam"), f"{_IN}mistral_tool_parser.py", "xlam as a fallback"),
        Reader("mistral_v11_args", ("mistral",), f"{_IN}mistral_tool_parser.py"),
        Reader("deepseek_v3", ("deepseek_v3", "deepseek_r1_0528", "deepseek"), f"{_IN}deepseek_v3_tool_parser.py"),
        Reader("deepseek_v31", ("deepseek_v31",), f"{_IN}deepseekv31_tool_parser.py"),
        Reader("deepseek_dsml", ("deepseek_v4_0731",), f"{_IN}deepseek_v4_0731_tool_parser.py"),
        Reader("kimi_k2", ("kimi", "kimi_k2", "moonshot"), f"{_IN}kimi_tool_parser.py"),
        Reader("glm_arg_kv", ("glm47", "glm4"), f"{_IN}glm47_tool_parser.py"),
        Reader("minimax_m2", ("minimax", "minimax_m2"), f"{_IN}minimax_tool_parser.py"),
        Reader("harmony", ("harmony", "gpt-oss"), f"{_IN}harmony_tool_parser.py"),
        Reader("gemma4", ("gemma4", "gemma_4"), f"{_IN}gemma4_tool_parser.py"),
        Reader("granite", ("granite", "granite3"), f"{_IN}granite_tool_parser.py"),
        Reader("hunyuan3", ("hy_v3", "hy3"), f"{_IN}hy_v3_tool_parser.py"),
        Reader("xlam", ("xlam",), f"{_IN}xlam_tool_parser.py"),
        Reader("functionary_v2", ("functionary", "meetkai"), f"{_IN}functionary_tool_parser.py"),
        Reader("seed_oss", ("seed_oss", "seed"), f"{_IN}seed_oss_tool_parser.py"),
        Reader("lfm2", ("lfm", "liquid"), f"{_IN}lfm_tool_parser.py"),
        Reader("minicpm5", ("minicpm",), f"{_IN}minicpm_tool_parser.py"),
        Reader("muse_atem", ("muse",), f"{_IN}muse_tool_parser.py"),
        Reader("ui_tars", ("ui_tars",), f"{_IN}ui_tars_tool_parser.py"),
        Reader("bare_json_offered_tool", ("auto",), f"{_IN}auto_tool_parser.py"),
        Reader(
            "calling_tool_text",
            ("qwen", "lfm", "gemma4", "auto"),
            f"{_IN}lfm_tool_parser.py, qwen_tool_parser.py, auto_tool_parser.py",
        ),
    ),
)
