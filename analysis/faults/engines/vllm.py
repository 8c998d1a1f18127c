"""vLLM. Parser names are those of its registry (`vllm/tool_parsers/__init__.py` @0064cc9), older trees and forks."""

from analysis.faults.engines import Engine, Reader

_IN = "vllm-project/vllm vllm/tool_parsers/"

VLLM = Engine(
    name="vllm",
    title="vLLM",
    spellings=("vllm",),
    setting="--enable-auto-tool-choice --tool-call-parser {parser}",
    source="docs.vllm.ai/en/latest/features/tool_calling",
    readers=(
        Reader("hermes_json", ("hermes", "granite4", "ernie45"), f"{_IN}__init__.py @0064cc9 (registry)"),
        Reader("qwen3_coder_xml", ("qwen3_coder", "qwen3_xml", "mimo", "step3p5"), f"{_IN}qwen3coder_tool_parser.py"),
        Reader("llama3_json", ("llama3_json", "llama4_json"), f"{_IN}llama_tool_parser.py"),
        Reader(
            "pythonic_list",
            ("pythonic", "llama4_pythonic"),
            f"{_IN}pythonic_tool_parser.py, llama4_pythonic_tool_parser.py @e2fc92e",
        ),
        Reader("mistral_old_json", ("mistral",), f"{_IN}mistral_tool_parser.py"),
        Reader("mistral_v11_args", ("mistral",), f"{_IN}mistral_tool_parser.py"),
        Reader("deepseek_v3", ("deepseek_v3",), f"{_IN}deepseekv3_tool_parser.py"),
        Reader("deepseek_v31", ("deepseek_v31",), f"{_IN}deepseekv31_tool_parser.py"),
        Reader("deepseek_dsml", ("deepseek_v32", "deepseek_v4"), f"{_IN}deepseekv32_tool_parser.py, PR #54686"),
        Reader("kimi_k2", ("kimi_k2",), f"{_IN}kimi_k2_tool_parser.py, PR #31207"),
        Reader("kimi_k3", ("kimi_k3",), f"{_IN}__init__.py @0064cc9 (registry)"),
        Reader(
            "glm_arg_kv",
            ("glm45", "glm47", "poolside_v1", "hyperclovax_seed_think"),
            f"{_IN}glm4_moe_tool_parser.py, glm47_moe_tool_parser.py",
            "hyperclovax_seed_think stands in a fork @256c701",
        ),
        Reader("longcat", ("longcat",), f"{_IN}__init__.py @0064cc9 (registry)"),
        Reader("minimax_m1", ("minimax",), f"{_IN}minimax_tool_parser.py @875ce2a", "older trees only"),
        Reader("minimax_m2", ("minimax_m2",), f"{_IN}minimax_m2_tool_parser.py"),
        Reader("minimax_m3", ("minimax_m3",), f"{_IN}__init__.py @0064cc9 (registry)"),
        Reader("harmony", ("openai",), f"{_IN}openai_tool_parser.py"),
        Reader("functiongemma", ("functiongemma",), f"{_IN}functiongemma_tool_parser.py"),
        Reader("gemma4", ("gemma4",), f"{_IN}gemma4_tool_parser.py"),
        Reader(
            "gemma3_prompted", ("pythonic",), f"{_IN}pythonic_tool_parser.py", "with a prompt that asks for this form"
        ),
        Reader("phi4_mini", ("phi4_mini_json",), f"{_IN}phi4mini_tool_parser.py"),
        Reader("granite", ("granite", "granite-20b-fc"), f"{_IN}granite_tool_parser.py, granite_20b_fc_tool_parser.py"),
        Reader("cohere_start_action", ("cohere_command3", "cohere_command4"), f"{_IN}__init__.py @0064cc9 (registry)"),
        Reader(
            "tool_calls_json_list", ("jamba", "hunyuan_a13b"), f"{_IN}jamba_tool_parser.py, hunyuan_a13b_tool_parser.py"
        ),
        Reader("hunyuan3", ("hy_v3",), f"{_IN}hy_v3_tool_parser.py"),
        Reader("internlm", ("internlm",), f"{_IN}internlm2_tool_parser.py"),
        Reader("xlam", ("xlam",), f"{_IN}xlam_tool_parser.py"),
        Reader("step3", ("step3",), f"{_IN}step3_tool_parser.py"),
        Reader("seed_oss", ("seed_oss",), f"{_IN}seed_oss_tool_parser.py"),
        Reader("olmo3", ("olmo3",), f"{_IN}olmo3_tool_parser.py"),
        Reader("apertus", ("apertus",), f"{_IN}apertus_tool_parser.py"),
        Reader("nemotron_toolcall", ("nemotron_json",), f"{_IN}nemotron_json parser @4b6abc6", "a plugin or a fork"),
        Reader("lfm2", ("lfm2", "pangu"), f"{_IN}__init__.py @0064cc9 (registry)", "pangu stands in a fork @4ade7b8"),
        Reader("minicpm5", ("minicpm5",), f"{_IN}__init__.py @0064cc9 (registry)"),
        Reader("gigachat3", ("gigachat3",), f"{_IN}gigachat3_tool_parser.py"),
        Reader("inkling", ("inkling",), f"{_IN}__init__.py @0064cc9 (registry)"),
    ),
)
