"""GOAT's line: Qwen function markup of an offered tool, outside fences, with either mark of an envelope."""

from analysis.detectors import Detector, Example, Finding
from analysis.markers import FUNCTION
from analysis.output import Call, OfferedTool, Output
from analysis.qwen_markup import CLOSER, OPENER, function_leak

_TOOLS = (OfferedTool("read_file"), OfferedTool("list_dir"))
_LEAK = "<function=read_file>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>\n</tool_call>"


def find(output: Output) -> Finding | None:
    """The first such function; the opening envelope may be missing."""
    return function_leak(output, (OPENER, CLOSER))


GOAT = Detector(
    name="goat",
    version=1,
    summary="<function=NAME> of an offered tool, and <tool_call> or </tool_call>, outside Markdown fences.",
    source="GOAT, ADR-0065",
    triggers=(FUNCTION,),
    find=find,
    leaks=(
        Example(
            "the opening envelope is missing",
            Output(content=f"I will open the notes.\n\n{_LEAK}\n", tools=_TOOLS, finish_reason="stop"),
            _LEAK,
        ),
        Example(
            "a complete call",
            Output(content="<tool_call>\n<function=list_dir>\n</function>\n</tool_call>\nDone.", tools=_TOOLS),
            "<tool_call>\n<function=list_dir>\n</function>\n</tool_call>",
        ),
        Example(
            "cut inside a value",
            Output(
                content="<tool_call>\n<function=read_file>\n<parameter=path>\nno ",
                tools=_TOOLS,
                finish_reason="length",
            ),
            "<tool_call>\n<function=read_file>\n<parameter=path>\nno",
        ),
        Example(
            "inline code protects nothing",
            Output(content="It wrote `<function=list_dir>` and then `</tool_call>`.", tools=_TOOLS),
            "<function=list_dir>` and then `</tool_call>",
        ),
        Example(
            "tools unknown, but the run has called this one",
            Output(content="<function=grep></function></tool_call>", inferred_names=frozenset({"grep"})),
            "<function=grep></function></tool_call>",
        ),
    ),
    clean=(
        Example(
            "the whole call stands in a fence",
            Output(content=f"The model sends this:\n\n```\n<tool_call>\n{_LEAK}\n```\n", tools=_TOOLS),
        ),
        Example("the tool was not offered", Output(content=_LEAK, tools=(OfferedTool("read_files"),))),
        Example(
            "no mark of an envelope",
            Output(content="<function=read_file>\n<parameter=path>\na</parameter>\n</function>", tools=_TOOLS),
        ),
        Example(
            "the only envelope stands in a fence",
            Output(content="<function=read_file>\n\n```\n</tool_call>\n```", tools=_TOOLS),
        ),
        Example(
            "the reply made a structured call as well",
            Output(content=_LEAK, tools=_TOOLS, calls=(Call("read_file", '{"path": "notes.txt"}'),)),
        ),
        Example("no tools were offered", Output(content=_LEAK, tools=())),
        Example(
            "a JSON call in the envelope is not Qwen function markup",
            Output(content='<tool_call>{"name": "read_file", "arguments": {}}</tool_call>', tools=_TOOLS),
        ),
    ),
)
