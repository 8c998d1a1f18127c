"""Ollama. Parser names are those of `model/parsers/parsers.go` @fb30760; others are read by the generic `tools/`."""

from analysis.faults.engines import Engine, Reader

_IN = "ollama/ollama@fb30760 "

OLLAMA = Engine(
    name="ollama",
    title="Ollama",
    spellings=("ollama",),
    setting="PARSER {parser} in the Modelfile",
    source="ollama/ollama@fb30760 model/parsers/parsers.go",
    otherwise="a TEMPLATE that shows how calls are written: the generic tools/ parser reads them by it",
    readers=(
        Reader(
            "hermes_json",
            ("qwen3", "qwen3-thinking", "qwen3-vl-instruct", "qwen3-vl-thinking"),
            f"{_IN}model/parsers/parsers.go, tools/tools.go",
            "or the generic tools/ parser",
        ),
        Reader(
            "qwen3_coder_xml",
            ("qwen3-coder", "qwen3.5", "ornith", "nemotron-3-nano"),
            f"{_IN}model/parsers/qwen3coder.go, qwen35.go, nemotron3nano.go",
        ),
        Reader("llama3_json", (), f"{_IN}tools/tools.go"),
        Reader("mistral_v11_args", ("ministral",), f"{_IN}model/parsers/ministral.go"),
        Reader("deepseek_v3", ("cogito",), f"{_IN}model/parsers/cogito.go"),
        Reader("deepseek_v31", ("deepseek3",), f"{_IN}model/parsers/deepseek3.go"),
        Reader(
            "glm_arg_kv",
            ("glm-4.7", "glm-ocr", "laguna", "poolside-v1"),
            f"{_IN}model/parsers/glm46.go, glm47.go, glmocr.go, laguna.go",
        ),
        Reader("glm4_name_newline_json", (), f"{_IN}tools/tools.go"),
        Reader("harmony", ("harmony",), f"{_IN}model/parsers/parsers.go"),
        Reader("functiongemma", ("functiongemma",), f"{_IN}model/parsers/functiongemma.go"),
        Reader("gemma4", ("gemma4", "gemma4-no-thinking"), f"{_IN}model/parsers/gemma4.go"),
        Reader("gemma3_prompted", (), f"{_IN}tools/tools.go"),
        Reader("cohere_action_text", (), f"{_IN}template/command-r.gotmpl, tools/tools.go"),
        Reader("cohere_start_action", ("cohere",), f"{_IN}model/parsers/cohere.go"),
        Reader("olmo3", ("olmo3", "olmo3-think"), f"{_IN}model/parsers/olmo3.go"),
        Reader("lfm2", ("lfm2", "lfm2-thinking"), f"{_IN}model/parsers/lfm2.go"),
        Reader("muse_atem", ("glimmer",), f"{_IN}model/parsers/glimmer.go"),
        Reader("bare_json_offered_tool", (), f"{_IN}tools/tools.go", "with the tag {"),
    ),
)
