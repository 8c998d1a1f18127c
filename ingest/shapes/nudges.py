"""What hosts and frameworks say to a model whose reply they could not use, and how it is known again.

Two ways: the known beginnings of what frameworks write, and what such a message says in anybody's words. Either counts
only where it stands instead of a user's request; a text that merely quotes one further down is none.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from ingest.shapes.openai_message import Fields, said

Nudge = Literal["host_instruction", "nudge", "reprimand"]
"""host_instruction: a message of the system after the conversation began; nudge: a message in the user's place that
asks to go on with tools; reprimand: one that says what was wrong with the reply."""
NUDGES: tuple[Nudge, ...] = get_args(Nudge)
HEAD = 300
"""Characters of a message in which a known beginning must stand, at the beginning of a line."""
LONGEST = 2_000
"""Characters of a message up to which its words are looked at: whoever writes more has a request of their own."""


@dataclass(frozen=True, slots=True)
class Known:
    """The beginning of a line that a framework writes, what it is, and where it was read."""

    text: str
    kind: Nudge
    source: str


KNOWN = (
    Known("[ERROR] You did not use a tool in your previous response", "reprimand",
          "Cline and Roo Code, core/prompts/responses.ts, noToolsUsed"),
    Known("No tool calls found in the response", "reprimand", "mini-swe-agent 2.4.6, a recorded file"),
    Known("Your last response did not include a function call or a message", "reprimand",
          "OpenHands SDK, response_dispatch"),
    Known("Your last output did not use any tool calls", "reprimand", "SWE-agent, tools/parsing.py, missing"),
    Known("Your last output included multiple tool calls", "reprimand", "SWE-agent, tools/parsing.py, multiple"),
    Known("Your action could not be parsed properly", "reprimand", "SWE-agent, tools/parsing.py, unexpected_arg"),
    Known("Your tool call was malformed and could not be parsed", "reprimand", "Claude Code 2.1.332"),
    Known("Plain text responses are not permitted", "reprimand", "Pydantic AI, RetryPromptPart"),
    Known("Previous response had parsing errors", "reprimand", "Terminus 2 of Terminal-Bench"),
    Known("Please proceed to the next step using your best judgement", "nudge",
          "Inspect, basic_agent and react, DEFAULT_CONTINUE_MESSAGE"),
    Known("Please continue working on the task on whatever approach you think is suitable", "nudge",
          "OpenHands evaluations, codeact_user_response"),
)  # fmt: skip
_CALL = r"(?:tool|function)s?[ -]?(?:calls?|markup|calling)"
_SAYS = re.compile(
    # your last reply had a tool call written as text
    rf"\byour (?:last|previous) (?:reply|response|message|output|turn|answer)\b.{{0,160}}\b{_CALL}\b"
    # a tool call stood as text; it was not executed
    rf"|\b{_CALL}\b.{{0,120}}\b(?:as (?:plain |ordinary )?text|(?:was|were) not (?:executed|run|parsed|carried out))\b"
    # no action occurred, no tool was run
    r"|\bno (?:action|tool call|tool|call) (?:has )?(?:occurred|happened|(?:was|been) (?:taken|executed|run|made))\b"
    # call tools through the interface, use the structured format
    rf"|\b(?:call|use|invoke) (?:the |your |its )?(?:tools?|functions?) (?:through|via|with|using) (?:the|its|a)\b"
    r"|\buse (?:the|your|its) (?:complete |native |proper )?structured (?:tool|function)",
    re.IGNORECASE | re.DOTALL,
)
_SUBJECTS = ("tool", "funct", "no act", "no call")
"""What `_SAYS` finds holds one of these; they have no letter (i, k, s) that another one stands for without case."""
_REMEMBERED = 1_024
"""Texts whose answers are kept: each request of a conversation tells all of it again."""
_CORRECTS = re.compile(
    r"\b(?:again|retry|instead|not (?:executed|run|parsed|carried out)|as (?:plain |ordinary )?text|no (?:action|tool)"
    r"|do not|don't|must|malformed|invalid)\b",
    re.IGNORECASE,
)  # fmt: skip


def nudge(message: Fields) -> Nudge | None:
    """What `message`, one of chat completions to the model, is if it answers a reply that could not be used."""
    return nudge_in(message.get("content"), system=message.get("role") in ("system", "developer"))


def nudge_in(content: Any, *, system: bool = False) -> Nudge | None:
    """The same of a content, whatever its shape; `system`: it is no message in the user's place."""
    text = said(content)
    kind = _known(text[:HEAD]) or ("nudge" if len(text) <= LONGEST and _corrects(text) else None)
    return "host_instruction" if kind and system else kind


def complaint(content: Any) -> str | None:
    """The text of a content if it reprimands the model for its reply."""
    return said(content) if nudge_in(content) == "reprimand" else None


@lru_cache(_REMEMBERED)
def _known(head: str) -> Nudge | None:
    return next((each.kind for each in KNOWN if each.text in head and _begins(each.text, head)), None)


def _begins(beginning: str, text: str) -> bool:
    at = text.index(beginning)
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


@lru_cache(_REMEMBERED)
def _corrects(text: str) -> bool:
    lowered = text.lower()
    return any(each in lowered for each in _SUBJECTS) and bool(_SAYS.search(text) and _CORRECTS.search(text))
