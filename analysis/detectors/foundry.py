"""Foundry Local's line: a native Qwen call that entered the exact frame of a declared tool, and then broke it."""

from collections.abc import Iterable

from analysis.detectors import Detector, Example, Finding, Tier
from analysis.foundry_decoder import Candidate, Outcome, candidates
from analysis.foundry_framing import OPENER
from analysis.foundry_tools import DeclaredTools
from analysis.markdown import fences
from analysis.markers import MARKUP_LIMIT
from analysis.output import Call, OfferedTool, Output

REASON_LIMIT = 400

_TIERS: dict[Outcome, Tier] = {"recoverable": "certain", "rejected": "possible", "valid_call": "possible"}
_SAID = {
    "recoverable": "recoverable",
    "rejected": "rejected, and left as text",
    "valid_call": "a valid call, which the decoder would have taken",
}


def find(output: Output) -> Finding | None:
    """The first recoverable candidate, else the first of any outcome. Structured calls beside it change nothing."""
    text = output.content
    if not text or not output.may_have_tools or OPENER not in text:
        return None
    candidate = _decisive(candidates(text, fences(output.content_code), DeclaredTools(output)))
    return None if candidate is None else _finding(text, candidate)


def _decisive(found: Iterable[Candidate]) -> Candidate | None:
    first = None
    for candidate in found:
        if candidate.outcome == "recoverable":
            return candidate
        first = first or candidate
    return first


def _finding(text: str, candidate: Candidate) -> Finding:
    return Finding(
        kind=candidate.kind,
        family="qwen3_coder_xml" if candidate.tool else None,
        tier=_TIERS[candidate.outcome],
        tool=candidate.tool,
        channel="content",
        start=candidate.start,
        end=candidate.end,
        markup=text[candidate.start : candidate.end][:MARKUP_LIMIT],
        reason=f"{_SAID[candidate.outcome]}: {candidate.reason}"[:REASON_LIMIT],
        calls=candidate.calls,
    )


_TOOLS = (
    OfferedTool(
        "name_chat",
        {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    ),
    OfferedTool(
        "set_volume",
        {"type": "object", "properties": {"level": {"type": "integer"}, "rooms": {"type": "array"}}},
    ),
    OfferedTool("open_file", {"type": "object", "properties": {"path": {"$ref": "#/$defs/path"}}}),
)
_BROKEN = "<tool_call>\n<function=name_chat>\n<name>Harbour walks </parameter>\n</function>\n</tool_call>"
_WHOLE = "<tool_call>\n<function=set_volume>\n<parameter=level>\n3\n</parameter>\n</function>\n</tool_call>"

FOUNDRY = Detector(
    name="foundry",
    version=1,
    summary="An exactly framed Qwen call of a declared tool that breaks off or breaks its frame.",
    source="Foundry Local, recovery of malformed Engine tool calls",
    triggers=(OPENER,),
    find=find,
    leaks=(
        Example(
            "a tag named after the key stands where the parameter should",
            Output(content=_BROKEN, tools=_TOOLS, finish_reason="stop"),
            _BROKEN,
        ),
        Example(
            "cut inside a value",
            Output(content=f"Louder.\n{_WHOLE[:62]}", tools=_TOOLS, finish_reason="length"),
            _WHOLE[:62],
        ),
        Example(
            "no parameter is closed",
            Output(content=_WHOLE.replace("</parameter>\n", "") + "\n", tools=_TOOLS),
            _WHOLE.replace("</parameter>\n", ""),
        ),
        Example(
            "inline code protects nothing",
            Output(content=f"So: `{_BROKEN}`", tools=_TOOLS),
            _BROKEN,
        ),
        Example(
            "a call that the decoder takes, then one that it cannot",
            Output(content=f"{_WHOLE}\nAnd the title:\n{_BROKEN}", tools=_TOOLS),
            _BROKEN,
        ),
        Example(
            "the reply made a structured call as well",
            Output(content=_BROKEN, tools=_TOOLS, calls=(Call("set_volume", "{}"),)),
            _BROKEN,
        ),
    ),
    clean=(
        Example("the opener is missing", Output(content=_BROKEN.removeprefix("<tool_call>\n"), tools=_TOOLS)),
        Example("a fenced example", Output(content=f"It writes:\n\n```\n{_BROKEN}\n```\n", tools=_TOOLS)),
        Example("no tools were offered", Output(content=_BROKEN, tools=())),
        Example("only the content is looked at", Output(content="Done.", reasoning=_BROKEN, tools=_TOOLS)),
        Example("other markup", Output(content="<function=name_chat>\n<tool_calls>", tools=_TOOLS)),
    ),
)
