"""OpenRouter.Net's line: the first tool-call opening outside Markdown code, given tools and no call."""

from analysis.detectors import Detector, Example, Finding
from analysis.markers import LITERALS, earliest_marker, marker_positions
from analysis.output import Call, OfferedTool, Output

_TOOLS = (OfferedTool("get_weather"), OfferedTool("read_file"))


def find(output: Output) -> Finding | None:
    """The earliest marker outside code; its markup runs from there, trimmed, for at most 200 code points."""
    return earliest_marker(output, marker_positions)


OPENROUTER_NET = Detector(
    name="openrouter-net",
    version=1,
    summary="The earliest of eleven tool-call openings outside Markdown code, given tools and no call.",
    source="OpenRouter.Net, LeakedToolCallDetector.Find",
    triggers=LITERALS,
    find=find,
    leaks=(
        Example(
            "prose, then a JSON call in its envelope",
            Output(
                content='Checking the harbour first.\n<tool_call>\n{"name": "get_weather", "arguments": {}}\n'
                "</tool_call>\n",
                tools=_TOOLS,
            ),
            '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
        ),
        Example(
            "Kimi's tokens, cut before the arguments",
            Output(content="<|tool_call_begin|>functions.read_file:0", tools=_TOOLS, finish_reason="length"),
            "<|tool_call_begin|>functions.read_file:0",
        ),
        Example(
            "the quoted marker is passed over, the bare one behind it is not",
            Output(content="As `<tool_call>` failed: [TOOL_CALLS]get_weather{}", tools=_TOOLS),
            "[TOOL_CALLS]get_weather{}",
        ),
        Example(
            "a sentence about the markup, with no backticks around it, is taken for a leak",
            Output(content="Our template starts each call with <function=the name>.", tools=_TOOLS),
            "<function=the name>.",
        ),
        Example(
            "the source does not tell which tools were offered",
            Output(content='<invoke name="read_file"></invoke>'),
            '<invoke name="read_file"></invoke>',
        ),
    ),
    clean=(
        Example(
            "an answer that shows the format in a fence",
            Output(
                content="A call looks like this:\n\n```xml\n<tool_call>\n<function=read_file>\n</function>\n"
                "</tool_call>\n```\n\nNothing else is needed.",
                tools=_TOOLS,
            ),
        ),
        Example(
            "an answer that names the markers in code spans",
            Output(content="Mistral opens with `[TOOL_CALLS]`, Llama with ``<|python_tag|>``.", tools=_TOOLS),
        ),
        Example("no tools were offered", Output(content='<invoke name="read_file"></invoke>', tools=())),
        Example(
            "the reply made a structured call as well",
            Output(content="<tool_call>", tools=_TOOLS, calls=(Call("read_file", "{}"),)),
        ),
        Example("closers alone are no marker", Output(content="Done.\n</function>\n</tool_call>", tools=_TOOLS)),
        Example("the markers are case-sensitive", Output(content="<TOOL_CALL> [tool_calls]", tools=_TOOLS)),
        Example("only the content is looked at", Output(content="Done.", reasoning="<tool_call>", tools=_TOOLS)),
    ),
)
