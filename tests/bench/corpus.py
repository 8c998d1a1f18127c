"""A synthetic corpus for the benchmark: native records, the same as request/response pairs, and the bare texts.

Prose of common words, a tenth of it repeated, 4 % with a tool-call marker (half of those inside Markdown code);
log-normal lengths with a median near 900 characters and a 99th percentile near 11,000.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORDS = (
    "the file was read and then a test failed because path is missing so we add one more line to it before "
    "running make again which shows that parser returns empty list instead of value when input has no header "
    "please check whether server answers on port after restart otherwise look into log for error code "
).split()
_LEAKS = (
    "<tool_call>\n<function=read_file>\n<parameter=path>\nsrc/main.py\n</parameter>\n</function>\n</tool_call>",
    '<tool_call>\n{"name": "read_file", "arguments": {"path": "src/main.py"}}\n</tool_call>',
    '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a"}}]',
    '<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|>',
)
_TOOLS = [
    {
        "name": name,
        "description": " ".join(_WORDS[at : at + 12]),
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }
    for at, name in enumerate(("read_file", "write_file", "list_folder", "run_tests"))
]
_MODELS = ("qwen3-coder-30b", "kimi-k2", "glm-4.6", "llama-3.3-70b")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of one corpus; `texts` holds the contents, with line ends inside them kept."""

    native: Path
    pairs: Path
    texts: Path


def write(folder: Path, rows: int) -> Corpus:
    """Write the corpus of `rows` outputs into `folder`."""
    corpus = Corpus(folder / "native.jsonl", folder / "pairs.jsonl", folder / "texts.txt")
    with corpus.native.open("w") as native, corpus.pairs.open("w") as pairs, corpus.texts.open("w") as texts:
        for at, text in enumerate(_texts(rows, random.Random(20261130))):
            native.write(json.dumps(_native(at, text), ensure_ascii=False) + "\n")
            pairs.write(json.dumps(_pair(at, text), ensure_ascii=False) + "\n")
            texts.write(text + "\n")
    return corpus


def _texts(rows: int, rng: random.Random) -> Iterator[str]:
    earlier: list[str] = []
    for _ in range(rows):
        if earlier and rng.random() < 0.1:
            yield rng.choice(earlier)
            continue
        text = _text(rng)
        if len(earlier) < 5000:
            earlier.append(text)
        yield text


def _text(rng: random.Random) -> str:
    words = min(20_000, max(3, int(rng.lognormvariate(5.2, 1.1))))
    text = " ".join(rng.choices(_WORDS, k=words))
    if rng.random() < 0.04:
        leak = rng.choice(_LEAKS)
        text += f"\n```\n{leak}\n```\n" if rng.random() < 0.5 else f"\n{leak}"
    return text


def _native(at: int, text: str) -> dict[str, Any]:
    return {
        "type": "generation", "run_id": f"run-{at // 8}", "generation_id": f"gen-{at}", "turn": 0, "round": at % 8,
        "attempt": 0, "started_at": f"2026-10-{1 + at % 28:02}T12:00:00Z", "model": _MODELS[at % 4],
        "provider": "self", "engine": "vllm", "engine_version": "0.30.0", "template": "default",
        "call_mode": "native", "tools": _TOOLS, "content": text, "reasoning": None, "tool_calls": [],
        "finish_reason": "stop", "usage": {"input_tokens": 900, "output_tokens": len(text) // 4},
    }  # fmt: skip


def _pair(at: int, text: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": f"task {at}"}]
    tools = [{"type": "function", "function": tool} for tool in _TOOLS]
    message = {"role": "assistant", "content": text, "tool_calls": None}
    return {
        "request": {"model": _MODELS[at % 4], "messages": messages, "tools": tools},
        "response": {
            "id": f"chatcmpl-{at}", "object": "chat.completion", "created": 1790000000 + at,
            "model": _MODELS[at % 4], "system_fingerprint": "vllm-0.30.0-1a2b3c4d",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 900, "completion_tokens": len(text) // 4},
        },
    }  # fmt: skip
