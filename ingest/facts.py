"""What follows from one generation alone: is it eligible for rates, and what kind of reply is it."""

from typing import Literal

from pydantic_core import from_json

from ingest.records import Generation, ToolCall

Reply = Literal["structured", "invalid_call", "words", "reasoning_only", "empty"]
"""structured: valid structured calls; words: an answer in words, markup included."""

_AGENT_ROLES = (None, "agent", "subagent")


def tools_known(generation: Generation) -> bool:
    """True if the source tells what was offered, be it nothing (`null` and `[]` are an empty offer)."""
    return "tools" in generation.model_fields_set


def reply(generation: Generation) -> Reply:
    """What kind of reply it is, before any detector has looked."""
    if generation.tool_calls:
        offered = {tool.name for tool in generation.tools or ()} if tools_known(generation) else None
        return "structured" if all(_valid(call, offered) for call in generation.tool_calls) else "invalid_call"
    if _says(generation.content):
        return "words"
    return "reasoning_only" if _says(generation.reasoning) else "empty"


def _says(text: str | None) -> bool:
    return bool(text and not text.isspace())


def _valid(call: ToolCall, offered: set[str] | None) -> bool:
    """An offered name (any name where the offer is unknown) and a JSON object as arguments."""
    if offered is not None and call.name not in offered:
        return False
    if not isinstance(call.arguments, str):
        return isinstance(call.arguments, dict)
    try:
        return isinstance(from_json(call.arguments, allow_inf_nan=False), dict)
    except ValueError:
        return False


def eligible(generation: Generation, kind_of_reply: Reply) -> bool:
    """True if the generation counts for rates (the definition of *eligible*).

    Where the tools are unknown the call mode mostly is as well, since nothing tells it: then `unknown` passes.
    """
    if generation.attempt or generation.role not in _AGENT_ROLES:
        return False
    if generation.status in ("error", "cancelled") and kind_of_reply == "empty":
        return False
    mode = generation.effective_call_mode
    if tools_known(generation):
        return bool(generation.tools) and mode == "native"
    return mode in ("native", "unknown")


def called_names(generation: Generation) -> list[str]:
    """The names that it called structurally."""
    return [call.name for call in generation.tool_calls or ()]


def told_names(generation: Generation) -> tuple[str, ...] | None:
    """The `inferred_names` of a record that left a store without the rest of its run, sorted, each once; else None."""
    told = (generation.model_extra or {}).get("inferred_names")
    if not isinstance(told, list) or not all(isinstance(name, str) for name in told):
        return None
    return tuple(sorted(set(told)))
