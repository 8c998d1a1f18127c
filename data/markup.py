"""How each model family writes a call as text, whole and damaged."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ingest.records import Kind

MARKERS = (
    "<tool_call>",
    "<tool_calls>",
    "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<function=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<function_calls>",
    "<invoke name=",
)
"""What the client that reports leaks looks for."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model means to make."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def json(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to leak: how often among its family's leaks, what it is, and the text it leaves."""

    weight: int
    kind: Kind
    write: Callable[[Call], str]
    finish: str = "stop"
    in_reasoning: bool = False
    before_parser: Callable[[Call], str] | None = None
    """The text as the model wrote it, where the engine's parser did the damage and a log has both."""


def _halved(text: str) -> str:
    return text[: len(text) // 2 + 1]


def _parameter(key: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"<parameter={key}>\n{text}\n</parameter>\n"


def qwen(call: Call) -> str:
    parameters = "".join(_parameter(key, value) for key, value in call.arguments.items())
    return f"<tool_call>\n<function={call.name}>\n{parameters}</function>\n</tool_call>"


def qwen_without_opener(call: Call) -> str:
    return qwen(call).removeprefix("<tool_call>\n")


def qwen_cut(call: Call) -> str:
    """Opener gone, and cut inside the first value: no closing tag stands anywhere."""
    key, value = next(iter(call.arguments.items()))
    return f"<function={call.name}>\n<parameter={key}>\n{_halved(str(value))}"


def qwen_tag_named_after_key(call: Call) -> str:
    key = next(iter(call.arguments))
    return qwen(call).replace(f"<parameter={key}>", f"<{key}>", 1)


def qwen_closers(call: Call) -> str:
    return f"Next comes {call.name}.\n</parameter>\n</function>\n</tool_call>"


def hermes(call: Call) -> str:
    return f'<tool_call>\n{{"name": "{call.name}", "arguments": {call.json}}}\n</tool_call>'


def hermes_without_closer(call: Call) -> str:
    return hermes(call).removesuffix("\n</tool_call>")


def hermes_without_opener(call: Call) -> str:
    return hermes(call).removeprefix("<tool_call>\n")


def hermes_cut(call: Call) -> str:
    return f'<tool_call>\n{{"name": "{call.name}", "arguments": {_halved(call.json)}'


def kimi_call(call: Call) -> str:
    return f"<|tool_call_begin|>functions.{call.name}:0<|tool_call_argument_begin|>{call.json}<|tool_call_end|>"


def kimi(call: Call) -> str:
    return f"<|tool_calls_section_begin|>{kimi_call(call)}<|tool_calls_section_end|>"


def kimi_stripped(call: Call) -> str:
    return f"functions.{call.name}:0{call.json}"


def kimi_cut(call: Call) -> str:
    begin = "<|tool_calls_section_begin|><|tool_call_begin|>"
    return f"{begin}functions.{call.name}:0<|tool_call_argument_begin|>{_halved(call.json)}"


def llama_bare(call: Call) -> str:
    return f'{{"name": "{call.name}", "parameters": {call.json}}}'


def llama(call: Call) -> str:
    return f"<|python_tag|>{llama_bare(call)}"


def llama_cut(call: Call) -> str:
    return f'<|python_tag|>{{"name": "{call.name}", "parameters": {_halved(call.json)}'


def llama_fenced(call: Call) -> str:
    return f"```json\n{llama_bare(call)}\n```"


def mistral(call: Call) -> str:
    return f"[TOOL_CALLS]{call.name}[ARGS]{call.json}"


def mistral_older(call: Call) -> str:
    return f"[TOOL_CALLS]{call.name}{call.json}"


def mistral_without_opener(call: Call) -> str:
    return f"{call.name}[ARGS]{call.json}"


def mistral_cut(call: Call) -> str:
    return f"[TOOL_CALLS]{call.name}[ARGS]{_halved(call.json)}"


LEAKS: Mapping[str, tuple[Shape, ...]] = {
    "qwen_xml": (
        Shape(32, "malformed_call", qwen_without_opener, before_parser=qwen),
        Shape(22, "truncated_call", qwen_cut, finish="length"),
        Shape(20, "leaked_call", qwen),
        Shape(10, "malformed_call", qwen_tag_named_after_key),
        Shape(8, "orphan_markup", qwen_closers),
        Shape(8, "leaked_call", qwen, in_reasoning=True),
    ),
    "kimi_tokens": (
        Shape(40, "leaked_call", kimi),
        Shape(20, "malformed_call", kimi_call),
        Shape(20, "stripped_call", kimi_stripped, before_parser=kimi),
        Shape(20, "truncated_call", kimi_cut, finish="length"),
    ),
    "llama_json": (
        Shape(60, "leaked_call", llama),
        Shape(40, "truncated_call", llama_cut, finish="length"),
    ),
    "mistral_args": (
        Shape(40, "leaked_call", mistral),
        Shape(20, "leaked_call", mistral_older),
        Shape(20, "stripped_call", mistral_without_opener),
        Shape(20, "truncated_call", mistral_cut, finish="length"),
    ),
    "hermes_json": (
        Shape(40, "leaked_call", hermes),
        Shape(25, "malformed_call", hermes_without_closer),
        Shape(20, "malformed_call", hermes_without_opener),
        Shape(15, "truncated_call", hermes_cut, finish="length"),
    ),
}
"""A family that never leaks has no entry."""

PRINTED = (Shape(60, "printed_call", llama_bare), Shape(40, "printed_call", llama_fenced))


def first_marker(text: str) -> str | None:
    """The text from its first marker on, None without one. Markdown code is not looked at."""
    found = [start for start in (text.find(marker) for marker in MARKERS) if start >= 0]
    return text[min(found) :] if found else None
