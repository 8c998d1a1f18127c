"""Foundry Local: one decoder, which nothing sets."""

from analysis.faults.engines import Engine, Reader

_IN = "microsoft/foundry-local sdk_v2/cpp/src/inferencing/generative/toolcalling/"

FOUNDRY_LOCAL = Engine(
    name="foundry_local",
    title="Foundry Local",
    spellings=("foundrylocal", "foundry"),
    setting="nothing to set: {parser} reads it by itself, in its exact framing alone",
    source="microsoft/foundry-local sdk_v2/cpp/src/inferencing/generative/toolcalling",
    readers=(Reader("qwen3_coder_xml", ("qwen_xml_tool_call_decoder",), f"{_IN}qwen_xml_tool_call_decoder.cc/.h"),),
)
