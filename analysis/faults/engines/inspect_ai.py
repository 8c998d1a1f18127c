"""Inspect, where it runs a Hugging Face model itself."""

from analysis.faults.engines import Engine, Reader

_IN = "UKGovernmentBEIS/inspect_ai "

INSPECT_AI = Engine(
    name="inspect_ai",
    title="Inspect",
    spellings=("inspectai", "inspect"),
    setting="nothing to set: {parser} reads it by itself",
    source="UKGovernmentBEIS/inspect_ai hf_handler.py",
    readers=(Reader("bare_json_offered_tool", ("hf_handler",), f"{_IN}hf_handler.py"),),
)
