"""The `system_fingerprint` of a chat completion: the one place where a log names its engine.

vLLM writes `vllm-<version>[-tpN][-ppN][-dpN][-ep]-<hash>` (since spring 2026, unless told otherwise),
llama.cpp its build `b<number>-<commit>`, Ollama `fp_ollama`.
"""

import re

_VLLM = re.compile(r"vllm-(?P<version>[^-\s]{1,64})(?:-(?:tp|pp|dp)\d{1,6}|-ep){0,4}-[0-9a-f]{8}")
_LLAMA_CPP = re.compile(r"(?P<version>b\d{1,9})-[0-9a-f]{6,40}")


def engine(fingerprint: str) -> dict[str, str]:
    """`engine`, and `engine_version` if it is told; empty for a fingerprint of another make."""
    if match := _VLLM.fullmatch(fingerprint):
        return {"engine": "vllm", "engine_version": match["version"]}
    if match := _LLAMA_CPP.fullmatch(fingerprint):
        return {"engine": "llama.cpp", "engine_version": match["version"]}
    return {"engine": "ollama"} if fingerprint == "fp_ollama" else {}
