"""Turns to decide on, written in few words, and random ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st

from analysis.detectors import Finding, Tier
from analysis.output import Call, OfferedTool, Output
from analysis.recovery.turn import Attempt, Round, Semantic, Turn, Used
from ingest.facts import Reply
from ingest.records import Status

NAME_CHAT = OfferedTool(
    "name_chat", {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
)
TOOLS = (NAME_CHAT, OfferedTool("open_file", {"type": "object", "properties": {"path": {"$ref": "#/$defs/p"}}}))
BROKEN = "<tool_call>\n<function=name_chat>\n<name>Walks </parameter>\n</function>\n</tool_call>"
WHOLE = "<tool_call>\n<function=name_chat>\n<parameter=title>\nWalks\n</parameter>\n</function>\n</tool_call>"
CUT = "<function=name_chat><parameter=title>Walks</parameter><parameter=colour>re"
GOOD = Call("name_chat", '{"title": "Walks"}')
ENVELOPE = '<tool_call>[{"name": "name_chat", "parameters": {"title": "Walks"}}]</tool_call>'


def finding(text: str, tier: Tier = "certain") -> Finding:
    """A finding from the first sign of markup on."""
    start = max(text.find("<"), 0)
    return Finding("leaked_call", None, tier, None, "content", start, len(text), text[start:], "a test says so")


def leak(text: str = BROKEN, tier: Tier = "certain", **fields: Any) -> Attempt:
    """A reply that leaked; fields of the output and of the attempt."""
    return made(text, finding(text, tier), **fields)


def made(text: str | None, found: Finding | None = None, **fields: Any) -> Attempt:
    """A reply; it ended by itself, if nothing else is said."""
    of_output = {key: fields.pop(key) for key in [*fields] if key in Output.__dataclass_fields__}
    output = Output(**{"content": text, "tools": TOOLS, "finish_reason": "stop", **of_output})
    reply: Reply = "structured" if output.calls else "words" if text else "empty"
    return Attempt(output, found, **{"reply": reply, **fields})


def called(*calls: Call, **fields: Any) -> Attempt:
    """A reply with structured calls."""
    return made(None, calls=calls or (GOOD,), **{"finish_reason": "tool_calls", **fields})


def turn(*rounds: Sequence[Attempt], **fields: Any) -> Turn:
    """The turn with these attempts, numbered in each round."""
    numbered = (tuple(replace(each, number=at) for at, each in enumerate(attempts)) for attempts in rounds)
    return Turn(tuple(Round(attempts, at) for at, attempts in enumerate(numbered)), **fields)


def schema_of(properties: Mapping[str, Any], **more: Any) -> OfferedTool:
    """A tool `t` with these properties."""
    return OfferedTool("t", {"type": "object", "properties": dict(properties), **more})


TEXTS = st.sampled_from(
    [None, "", "Done.", BROKEN, WHOLE, CUT, f"So:\n{BROKEN}", f"```\n{BROKEN}\n```", "</tool_call>"]
)
OUTPUTS = st.builds(
    Output,
    content=TEXTS | st.text(max_size=20),
    reasoning=st.sampled_from([None, "Hm."]),
    calls=st.sampled_from([(), (GOOD,), (Call("rm", "{"),), (Call("name_chat"),)]),
    tools=st.sampled_from([None, (), TOOLS]),
    inferred_names=st.just(frozenset({"name_chat"})),
    finish_reason=st.sampled_from([None, "stop", "length", "stop_sequence", "abort", "odd", "tool_calls"]),
)
ATTEMPTS = st.builds(
    Attempt,
    output=OUTPUTS,
    finding=st.sampled_from([None, finding(BROKEN), finding(BROKEN, "likely"), finding(BROKEN, "possible")]),
    status=st.sampled_from(get_args(Status)),
    number=st.integers(0, 4),
    reply=st.sampled_from(get_args(Reply)),
    judged=st.booleans(),
    streamed=st.none() | st.frozensets(st.sampled_from(get_args(Semantic))),
    tool_choice=st.sampled_from([None, "auto", "required"]),
    persisted=st.booleans(),
    raw_text=st.sampled_from([None, "", ENVELOPE, BROKEN]),
)
USED = st.builds(Used, st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
TURNS = st.builds(
    Turn,
    rounds=st.lists(st.builds(Round, attempts=st.lists(ATTEMPTS, max_size=4).map(tuple)), max_size=3).map(tuple),
    engine=st.sampled_from([None, "vllm", "foundry-engine"]),
    earlier=USED,
    run=USED,
)


def arguments(**values: Any) -> str:
    """Arguments as a call has them."""
    return json.dumps(values)
