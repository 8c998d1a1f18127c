"""Conversations whose model writes its calls as text because it was told to: no leak, whatever it looks like.

Two signs, in a conversation without any structured call: a prompt teaches the markup, or text that holds it was
followed by a tool's result, so that somebody executed it. A leak is followed by a reprimand, a user, or nothing.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

Part = Literal["prompt", "model", "result", "other"]

_MARKUP = re.compile(
    r"<tools>|<tool_call>|<functioncall>|<function=|<\|?tool_call|<invoke |\[TOOL_CALLS\]", re.IGNORECASE
)


def holds_markup(text: str) -> bool:
    """Whether a text holds the beginning of a call's markup."""
    return _MARKUP.search(text) is not None


def text_by_design(parts: Sequence[tuple[Part, str]]) -> bool:
    """Whether the calls of a conversation without structured ones are text by design."""
    return _taught(parts) or any(
        part == "model" and after == "result" and holds_markup(text) for (part, text), (after, _) in pairwise(parts)
    )


def _taught(parts: Iterable[tuple[Part, str]]) -> bool:
    return any(part == "prompt" and holds_markup(text) for part, text in parts)
