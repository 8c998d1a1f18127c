"""What goes to a worker and what comes back: one JSON value a line. Docs: docs/candidates.md, "The protocol"."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from analysis.detectors import TIERS, Channel, Failure, Finding, Verdict
from analysis.output import Call, OfferedTool, Output
from ingest.records import Kind

MARKUP, REASON, CALLS = 2_000, 500, 100
"""What is kept of a finding from outside: code points of its markup and of its texts, and its calls."""
KINDS, CHANNELS = get_args(Kind), get_args(Channel)
_KEYS = {"leak", "kind", "family", "tier", "tool", "channel", "start", "end", "markup", "reason", "calls"}


def as_json(output: Output) -> dict[str, Any]:
    """The output with the keys of the protocol."""
    return {
        "content": output.content,
        "reasoning": output.reasoning,
        "tool_calls": [{"name": call.name, "arguments": call.arguments} for call in output.calls],
        "tools": None
        if output.tools is None
        else [{"name": tool.name, "parameters": tool.parameters} for tool in output.tools],
        "inferred_names": sorted(output.inferred_names),
        "finish_reason": output.finish_reason,
        "call_mode": output.call_mode,
    }


def as_output(value: Mapping[str, Any]) -> Output:
    """The output of which `as_json` made `value`."""
    tools = value["tools"]
    return Output(
        content=value["content"],
        reasoning=value["reasoning"],
        calls=tuple(Call(call["name"], call["arguments"]) for call in value["tool_calls"]),
        tools=None if tools is None else tuple(OfferedTool(tool["name"], tool["parameters"]) for tool in tools),
        inferred_names=frozenset(value["inferred_names"]),
        finish_reason=value["finish_reason"],
        call_mode=value["call_mode"],
    )


def line(value: Any) -> bytes:
    """A value as a line. ASCII: half a surrogate pair and odd line ends pass as escapes."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def said(answer: bytes, output: Output) -> Verdict:
    """What a worker's answer to `output` says; a Failure for one that is no finding."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return Failure(f"no JSON: it answered {shown(answer)}")
    return verdict(value, output)


def verdict(value: Any, output: Output) -> Verdict:
    """The same of an answer that is JSON already."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return Failure(f"no finding: it answered {shown(json.dumps(value).encode())}")
    if isinstance(value.get("error"), str):
        return Failure(_clean(f"raised: {value['error']}", REASON))
    try:
        return _finding(value, output)
    except (ValueError, TypeError, KeyError) as fault:
        return Failure(_clean(f"no finding: {fault}", REASON))


def answer_of(said: Verdict) -> Any:
    """A verdict as one process of ours tells another."""
    if isinstance(said, Failure):
        return {"failure": said.why}
    return None if said is None else {**asdict(said), "leak": said.leak}


def told(value: Any, output: Output) -> Verdict:
    """The verdict of which `answer_of` made `value`; what is no verdict is a Failure."""
    if isinstance(value, dict) and isinstance(value.get("failure"), str):
        return Failure(_clean(value["failure"], REASON))
    return verdict(value, output)


def shown(answer: bytes) -> str:
    """The head of what was answered."""
    text = answer[:200].decode("utf-8", "replace")
    return repr(text[:80]) + ("…" if len(text) > 80 else "")


def _finding(value: dict[str, Any], output: Output) -> Finding:
    if unknown := sorted(set(value) - _KEYS):
        raise ValueError(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    channel = _one_of(value, "channel", CHANNELS, "content")
    text, start, end = _place(value, channel, output)
    tier = _one_of(value, "tier", TIERS, "possible" if value.get("leak") is False else "likely")
    return Finding(
        kind=_one_of(value, "kind", KINDS, "leaked_call"),
        family=_text(value, "family"),
        tier=tier,
        tool=_text(value, "tool"),
        channel=channel,
        start=start,
        end=end,
        markup=_clean(text[start:end], MARKUP),
        reason=_text(value, "reason") or "it says no more",
        calls=_calls(value.get("calls")),
    )


def _one_of(value: dict[str, Any], name: str, known: Any, otherwise: str) -> Any:
    chosen = value.get(name) or otherwise
    if chosen not in known:
        raise ValueError(f"{name} {chosen!r} is none of {', '.join(known)}")
    return chosen


def _text(value: dict[str, Any], name: str) -> str | None:
    text = value.get(name)
    if text is not None and not isinstance(text, str):
        raise ValueError(f"{name} is no text")
    return _clean(text, REASON) if text else None


def _place(value: dict[str, Any], channel: str, output: Output) -> tuple[str, int, int]:
    """The text of the channel, and where in it the finding stands: by its numbers, else by its markup."""
    texts = _texts(channel, output)
    start, end, markup = value.get("start"), value.get("end"), value.get("markup")
    if start is not None or end is not None:
        if type(start) is not int or type(end) is not int:
            raise ValueError("start and end are whole numbers, both or neither")
        inside = next((text for text in texts if 0 <= start < end <= len(text)), None)
        if inside is None:
            raise ValueError(f"[{start}, {end}) is no place in the {channel}")
        return inside, start, end
    if not isinstance(markup, str) or not markup:
        raise ValueError("it has no place; give start and end, or the markup")
    # a library that cuts at UTF-16 units may leave half a pair at the end
    sought = markup[:-1] if "\ud800" <= markup[-1] <= "\udbff" else markup
    for text in texts:
        if (at := text.find(sought)) >= 0 and sought:
            return text, at, at + len(sought)
    raise ValueError(f"its markup does not stand in the {channel}")


def _texts(channel: str, output: Output) -> list[str]:
    if channel in ("content", "reasoning"):
        return [(output.content if channel == "content" else output.reasoning) or ""]
    return [(call.name if channel == "tool_name" else call.arguments) or "" for call in output.calls]


def _calls(value: Any) -> tuple[Call, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError("calls is no list")
    return tuple(_call(each) for each in value[:CALLS])


def _call(value: Any) -> Call:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise ValueError("a call has a name")
    arguments = value.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return Call(_clean(value["name"], REASON), None if arguments is None else _clean(arguments, MARKUP))


def _clean(text: str, limit: int) -> str:
    """The head of a text, as one that a store holds: no half of a surrogate pair."""
    return text[:limit].encode("utf-8", "replace").decode()
