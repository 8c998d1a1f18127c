"""GOAT's earlier line: Qwen function markup of an offered tool that counts only with its opening envelope."""

from analysis.detectors import Detector, Example, Finding
from analysis.markers import FUNCTION
from analysis.output import Call, OfferedTool, Output
from analysis.qwen_markup import OPENER, function_leak

_TOOLS = (OfferedTool("run_tests"), OfferedTool("list_dir"))
_BODY = "<function=run_tests>\n<parameter=only>\nunit\n</parameter>\n</function>\n</tool_call>"


def find(output: Output) -> Finding | None:
    """As goat, where the opening envelope stands outside fences."""
    return function_leak(output, (OPENER,))


GOAT_ENVELOPE = Detector(
    name="goat-envelope",
    version=1,
    summary="<function=NAME> of an offered tool, and the opening <tool_call>, outside Markdown fences.",
    source="GOAT, the diagnostic before ADR-0065; that it shared the other gates is our reading",
    triggers=(FUNCTION,),
    find=find,
    leaks=(
        Example(
            "a complete call after a sentence",
            Output(content=f"Tests first.\n<tool_call>\n{_BODY}", tools=_TOOLS, finish_reason="stop"),
            f"<tool_call>\n{_BODY}",
        ),
        Example(
            "the opening envelope alone",
            Output(content="<tool_call><function=list_dir></function>", tools=_TOOLS),
            "<tool_call><function=list_dir></function>",
        ),
        Example(
            "the envelope stands apart from the function",
            Output(content="<tool_call>\nSorry, once more:\n<function=list_dir>\n</function>", tools=_TOOLS),
            "<function=list_dir>\n</function>",
        ),
        Example(
            "an undeclared function comes first, an offered one second",
            Output(content="<tool_call><function=ls></function><function=list_dir></function>", tools=_TOOLS),
            "<function=list_dir></function>",
        ),
    ),
    clean=(
        Example("the opening envelope is missing", Output(content=_BODY, tools=_TOOLS)),
        Example(
            "the opening envelope stands in a fence",
            Output(content=f"```\n<tool_call>\n```\n{_BODY}", tools=_TOOLS),
        ),
        Example(
            "the function stands in a fence",
            Output(content=f"<tool_call> is written so:\n\n```xml\n{_BODY}\n```", tools=_TOOLS),
        ),
        Example("the tool was not offered", Output(content=f"<tool_call>\n{_BODY}", tools=_TOOLS[1:])),
        Example(
            "the reply made a structured call as well",
            Output(content=f"<tool_call>\n{_BODY}", tools=_TOOLS, calls=(Call("list_dir", "{}"),)),
        ),
        Example(
            "tools unknown, and the run never called this one",
            Output(content=f"<tool_call>\n{_BODY}", inferred_names=frozenset({"list_dir"})),
        ),
    ),
)
