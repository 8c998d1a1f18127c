"""SGLang. Parser names are those of `function_call_parser.py` @00828e5."""

from analysis.faults.engines import Engine, Reader

_IN = "sgl-project/sglang python/sglang/srt/function_call/"
_REGISTRY = f"{_IN}function_call_parser.py @00828e5"

SGLANG = Engine(
    name="sglang",
    title="SGLang",
    spellings=("sglang", "sgl"),
    setting="--tool-call-parser {parser}",
    source="docs.sglang.io/advanced_features/tool_parser",
    readers=(
        Reader("hermes_json", ("hermes", "qwen", "qwen25", "mimo", "trinity", "interns1"), _REGISTRY),
        Reader("qwen3_coder_xml", ("qwen3_coder", "step3p5"), _REGISTRY),
        Reader("llama3_json", ("llama3",), _REGISTRY),
        Reader("pythonic_list", ("pythonic",), _REGISTRY),
        Reader("mistral_old_json", ("mistral",), f"{_IN}mistral_detector.py"),
        Reader("mistral_v11_args", ("mistral",), f"{_IN}mistral_detector.py"),
        Reader("deepseek_v3", ("deepseekv3",), _REGISTRY),
        Reader("deepseek_v31", ("deepseekv31",), _REGISTRY),
        Reader("deepseek_dsml", ("deepseekv32", "deepseekv4"), f"{_IN}deepseekv32_detector.py, deepseekv4_format"),
        Reader("kimi_k2", ("kimi_k2",), _REGISTRY),
        Reader("kimi_k3", ("kimi_k3",), _REGISTRY),
        Reader("glm_arg_kv", ("glm", "glm45", "glm47", "poolside_v1", "spark25", "ling3"), _REGISTRY),
        Reader("minimax_m2", ("minimax-m2",), _REGISTRY),
        Reader("minimax_m3", ("minimax-m3",), _REGISTRY),
        Reader("harmony", ("gpt-oss",), _REGISTRY),
        Reader("gemma4", ("gemma4",), _REGISTRY),
        Reader("cohere_start_action", ("cohere_command4",), _REGISTRY),
        Reader("hunyuan3", ("hunyuan",), f"{_IN}hunyuan_detector.py"),
        Reader("internlm", ("interns1",), _REGISTRY),
        Reader("step3", ("step3",), _REGISTRY),
        Reader("apertus", ("apertus2509",), _REGISTRY),
        Reader("lfm2", ("lfm2",), _REGISTRY),
        Reader("minicpm5", ("minicpm5",), _REGISTRY),
        Reader("muse_atem", ("muse",), _REGISTRY),
        Reader("gigachat3", ("gigachat3", "gigachat35"), _REGISTRY),
        Reader("inkling", ("inkling",), _REGISTRY),
    ),
)
