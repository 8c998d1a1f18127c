"""The line of an agent that salvages cut calls: with tools offered, any tool-call tag left outside Markdown code."""

from analysis.call_tags import LITERALS, first_call, tags_outside
from analysis.detectors import Detector, Example, Finding
from analysis.markers import MARKUP_LIMIT
from analysis.output import Call, OfferedTool, Output

_TOOLS = (OfferedTool("grep"), OfferedTool("read_file"))


def find(output: Output) -> Finding | None:
    """The first call whose tags stand outside code, else stray closing tags. The names of the tools play no part."""
    text = output.content
    if not text or not output.may_have_tools or not any(literal in text for literal in LITERALS):
        return None
    call = first_call(text, tags_outside(text, output.content_code))
    if call is None:
        return None
    left = "only closing tags are left" if call.kind == "orphan_markup" else "a tool-call tag is left"
    return Finding(
        kind=call.kind,
        family=call.family,
        tier="certain",
        tool=call.tool,
        channel="content",
        start=call.start,
        end=call.end,
        markup=text[call.start : call.end][:MARKUP_LIMIT],
        reason=f"{left} outside Markdown code, {_offer(output)}",
    )


def _offer(output: Output) -> str:
    return "the offered tools are unknown" if output.tools is None else "and tools were offered"


_CUT = "<function=grep><parameter=pattern>FIXME</parameter><parameter=path>li"

SALVAGE = Detector(
    name="salvage",
    version=1,
    summary="Any tag of a Qwen or Hermes call outside Markdown code, stray closing tags too, given tools.",
    source="an agent for small local models: the check beside its salvage of truncated calls",
    triggers=LITERALS,
    find=find,
    leaks=(
        Example(
            "narration that ends in stray closing tags",
            Output(
                content="I will begin with the change log.\n\n</parameter>\n</function>\n</tool_call>\n",
                tools=_TOOLS,
                finish_reason="stop",
            ),
            "</parameter>\n</function>\n</tool_call>",
        ),
        Example("cut inside a value", Output(content=f"{_CUT}\n", tools=_TOOLS, finish_reason="length"), _CUT),
        Example(
            "a JSON call in its envelope",
            Output(content='So: <tool_call>{"name": "grep", "arguments": {}}</tool_call> now.', tools=_TOOLS),
            '<tool_call>{"name": "grep", "arguments": {}}</tool_call>',
        ),
        Example(
            "the quoted tag is passed over, the bare one is not",
            Output(content="After `</function>` it wrote </parameter> again.", tools=_TOOLS),
            "</parameter>",
        ),
        Example(
            "the reply made a structured call as well",
            Output(content="Reading it.\n</tool_call>", tools=_TOOLS, calls=(Call("grep", "{}"),)),
            "</tool_call>",
        ),
        Example(
            "the source does not tell which tools were offered",
            Output(content="<function=ls></function>"),
            "<function=ls></function>",
        ),
    ),
    clean=(
        Example("no tools were offered", Output(content=_CUT, tools=())),
        Example("a fenced example", Output(content=f"It writes:\n\n```xml\n{_CUT}\n```\n", tools=_TOOLS)),
        Example(
            "tags in code spans",
            Output(content="Close with `</parameter>`, ``</function>`` and `</tool_call>`.", tools=_TOOLS),
        ),
        Example("other tags", Output(content="<functional> <parameters> </tool_calls> <function >", tools=_TOOLS)),
        Example("only the content is looked at", Output(content="Done.", reasoning=_CUT, tools=_TOOLS)),
    ),
)
