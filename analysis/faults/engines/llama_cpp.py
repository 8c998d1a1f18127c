"""llama.cpp. It takes its handler from the chat template; the names are those of `common/chat-parser.cpp` @05e5139 and
`common/parsers/`."""

from analysis.faults.engines import Engine, Reader

_IN = "ggml-org/llama.cpp "

LLAMA_CPP = Engine(
    name="llama_cpp",
    title="llama.cpp",
    spellings=("llamacpp", "llamaserver", "llamacppserver"),
    setting="--jinja with the model's own chat template, which selects {parser}",
    source="ggml-org/llama.cpp docs/function-calling.md",
    readers=(
        Reader("hermes_json", ("hermes_2_pro",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader(
            "qwen3_coder_xml",
            ("qwen3_coder_xml", "qwen3-coder"),
            f"{_IN}common/chat-parser.cpp @05e5139, common/parsers/qwen3-coder.cpp @001edca",
        ),
        Reader("llama3_json", ("llama_3_x",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader(
            "function_eq_json", ("functionary_v3_1_llama_3_1", "hermes_2_pro"), f"{_IN}common/chat-parser.cpp @05e5139"
        ),
        Reader("mistral_old_json", ("mistral_nemo",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader(
            "mistral_v11_args",
            ("magistral", "ministral3"),
            f"{_IN}common/chat-parser.cpp @05e5139, common/parsers/ministral3.cpp @5204e21",
        ),
        Reader("deepseek_v3", ("deepseek_r1",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("deepseek_v31", ("deepseek_v3_1",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("deepseek_dsml", ("deepseek",), f"{_IN}common/parsers/deepseek.cpp @78b4c52"),
        Reader("kimi_k2", ("kimi_k2",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("kimi_k3", ("kimi-k3",), f"{_IN}common/parsers", "listed there, not read"),
        Reader("glm_arg_kv", ("glm_4_5",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("minimax_m2", ("minimax_m2",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("minimax_m3", ("minimax-m3",), f"{_IN}common/parsers", "listed there, not read"),
        Reader(
            "harmony",
            ("gpt_oss", "gpt-oss"),
            f"{_IN}common/chat-parser.cpp @05e5139, common/parsers/gpt-oss.cpp @2629d7b",
        ),
        Reader("gemma4", ("gemma4",), f"{_IN}common/parsers", "listed there, not read"),
        Reader(
            "phi4_mini", ("firefunction_v2",), f"{_IN}common/chat-parser.cpp @05e5139", "or the Phi-4-mini template"
        ),
        Reader("granite", ("granite",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader(
            "cohere_start_action",
            ("command_r7b", "cohere2moe"),
            f"{_IN}common/chat-parser.cpp @05e5139",
            "cohere2moe is listed in common/parsers, not read",
        ),
        Reader("tool_calls_json_list", ("apriel_1_5",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader(
            "functionary_v32",
            ("functionary_v3_2",),
            f"{_IN}common/parsers/functionary-v3-2.cpp @5204e21, common/chat-parser.cpp @05e5139",
        ),
        Reader("seed_oss", ("seed_oss",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("apertus", ("apertus",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("nemotron_toolcall", ("nemotron_v2",), f"{_IN}common/chat-parser.cpp @05e5139"),
        Reader("lfm2", ("lfm2",), f"{_IN}common/chat-parser.cpp @05e5139", "JSON mode"),
        Reader("minicpm5", ("minicpm5",), f"{_IN}common/parsers/minicpm5.cpp @1107a74"),
        Reader("muse_atem", ("muse-glimmer",), f"{_IN}common/parsers", "listed there, not read"),
        Reader("gigachat3", ("gigachat-v3",), f"{_IN}common/parsers", "listed there, not read"),
        Reader("inkling", ("inkling",), f"{_IN}common/parsers", "listed there, not read"),
        Reader(
            "bare_json_offered_tool",
            ("generic",),
            f"{_IN}common/chat-parser.cpp @05e5139",
            "a grammar forces a tool_call, tool_calls or response object",
        ),
    ),
)
