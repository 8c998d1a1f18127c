"""LM Studio: its default format, for models without native tool support. What it cannot parse it returns as content."""

from analysis.faults.engines import Engine, Reader

_IN = "lmstudio-ai/docs "

LM_STUDIO = Engine(
    name="lm_studio",
    title="LM Studio",
    spellings=("lmstudio",),
    setting="",
    source="lmstudio-ai/docs 0_app/3_api/tools.md",
    otherwise="nothing to set: its default tool format is read by itself; what it cannot parse stays content",
    readers=(Reader("lmstudio_tool_request", (), f"{_IN}0_app/3_api/tools.md"),),
)
