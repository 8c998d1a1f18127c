"""OpenRouter.Net's line, tightened: a function marker counts only if its call is closed or has a JSON body.

A reviewer proposed it, for prose that names the marker; the author declined, for leaks that were cut short.
"""

import re
from collections.abc import Iterator

from analysis.detectors import Detector, Example, Finding
from analysis.markers import FUNCTION, LITERALS, earliest_marker, marker_positions
from analysis.output import Call, OfferedTool, Output

_TOOLS = (OfferedTool("get_weather"), OfferedTool("read_file"))
_HEAD = re.compile(r"<function=[^<>\n]++>(?P<json>\s*+\{)?")


def find(output: Output) -> Finding | None:
    """As openrouter-net, over the markers that count; one that does not count does not end the search."""
    return earliest_marker(output, _counting)


def _counting(text: str) -> Iterator[int]:
    last_closer = text.rfind("</function>")
    return (at for at in marker_positions(text) if _counts(text, at, last_closer))


def _counts(text: str, at: int, last_closer: int) -> bool:
    if not text.startswith(FUNCTION, at):
        return True
    head = _HEAD.match(text, at)
    return head is not None and (head["json"] is not None or last_closer > at)


OPENROUTER_NET_TIGHT = Detector(
    name="openrouter-net-tight",
    version=1,
    summary="openrouter-net, but <function=NAME> counts only when </function> or { follows.",
    source="OpenRouter.Net, LeakedToolCallDetector.Find as its reviewer would have had it",
    triggers=LITERALS,
    find=find,
    leaks=(
        Example(
            "the function is closed",
            Output(
                content="So:\n<function=read_file>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>",
                tools=_TOOLS,
            ),
            "<function=read_file>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>",
        ),
        Example(
            "a JSON body follows, cut before its end",
            Output(content='<function=get_weather> {"city": "Ber', tools=_TOOLS, finish_reason="length"),
            '<function=get_weather> {"city": "Ber',
        ),
        Example(
            "a function named in prose is passed over, the call behind it is found",
            Output(content="I avoid <function=x> here. <tool_call>read_file</tool_call>", tools=_TOOLS),
            "<tool_call>read_file</tool_call>",
        ),
        Example(
            "the other markers count alone",
            Output(content="The envelope is <tool_call>, then the name.", tools=_TOOLS),
            "<tool_call>, then the name.",
        ),
    ),
    clean=(
        Example(
            "a sentence that names the marker",
            Output(content="The server expects <function=identifier> before the parameters.", tools=_TOOLS),
        ),
        Example(
            "a leak cut before its closer: the price of the change",
            Output(content="<function=read_file>\n<parameter=path>\nnot", tools=_TOOLS, finish_reason="length"),
        ),
        Example("no name stands there", Output(content="<function=> and </function>", tools=_TOOLS)),
        Example(
            "a closed function in a fence",
            Output(content="~~~\n<function=read_file>{}</function>\n~~~", tools=_TOOLS),
        ),
        Example("no tools were offered", Output(content="<function=read_file>{}</function>", tools=())),
        Example(
            "the reply made a structured call as well",
            Output(content="<function=read_file>{}</function>", tools=_TOOLS, calls=(Call("get_weather", "{}"),)),
        ),
    ),
)
