"""Which API a request with `messages` goes to: several take such lists, and tell themselves apart by other keys."""

from typing import Any

Object = dict[str, Any]

_ANTHROPIC = frozenset({"anthropic_version", "anthropic_beta"})
_OLLAMA = frozenset({"options", "keep_alive", "think"})
_CONVERSE = frozenset({"toolConfig", "inferenceConfig", "additionalModelRequestFields", "guardrailConfig"})
_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")
_CONVERSE_BLOCKS = ("toolUse", "toolResult", "reasoningContent", "cachePoint")


def dialect(value: Object) -> str | None:
    """The name of the API that `value` is a request to; None if it is no request with messages.

    A plain list of messages without a mark of another API is one of chat completions.
    """
    messages = value.get("messages")
    if not isinstance(messages, list):
        return None
    if not _CONVERSE.isdisjoint(value):
        return "bedrock-converse"
    told = _by_tools(value.get("tools")) or _by_system(value) or _by_blocks(messages)
    told = told or "openai-chat"
    return "ollama-chat" if told == "openai-chat" and not _OLLAMA.isdisjoint(value) else told


def _by_tools(tools: Any) -> str | None:
    tool = tools[0] if isinstance(tools, list) and tools else None
    if not isinstance(tool, dict):
        return None
    return "openai-chat" if "function" in tool else "anthropic-messages" if "input_schema" in tool else None


def _by_system(value: Object) -> str | None:
    system = value.get("system")
    if isinstance(system, list) and system and isinstance(system[0], dict) and "type" not in system[0]:
        return "bedrock-converse"
    anthropic = isinstance(system, str | list) or not _ANTHROPIC.isdisjoint(value)
    return "anthropic-messages" if anthropic else None


def _by_blocks(messages: list[Any]) -> str | None:
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            for part in content:
                if isinstance(part, dict) and (told := _by_block(part)):
                    return told
    return None


def _by_block(part: Object) -> str | None:
    if part.get("type") in _BLOCKS:
        return "anthropic-messages"
    bare = "type" not in part and (part.keys() == {"text"} or any(key in part for key in _CONVERSE_BLOCKS))
    return "bedrock-converse" if bare else None
