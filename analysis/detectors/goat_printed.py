"""GOAT's second line: the reply prints a call of an offered tool instead of making it."""

from analysis.detectors import Detector, Example, Finding
from analysis.markers import MARKUP_LIMIT
from analysis.output import Call, OfferedTool, Output
from analysis.printed_calls import PrintedCall, printed_call

STOP = "stop"
"""The finish reason of a reply that ended by itself, as the OpenAI protocol spells it."""


def find(output: Output) -> Finding | None:
    """What the last block of the reply prints, if the reply ended with `stop` and made no structured call."""
    if output.finish_reason != STOP or output.calls or not output.content:
        return None
    printed = printed_call(output)
    return None if printed is None else _finding(output, output.content, printed)


def _finding(output: Output, text: str, printed: PrintedCall) -> Finding:
    tool = "a tool that the run has called" if output.tools is None else "an offered tool"
    return Finding(
        kind="printed_call",
        family="bare_json_offered_tool",
        tier="certain",
        tool=printed.calls[0].name,
        channel="content",
        start=printed.start,
        end=printed.end,
        markup=text[printed.start : printed.end][:MARKUP_LIMIT],
        reason=f"the reply ends in {printed.form}, which names {tool}; "
        f"its finish reason is {STOP} and no structured call was made",
        calls=printed.calls,
    )


_TOOLS = (OfferedTool("files__list"), OfferedTool("get_tide"))
_JSON = '{"name": "get_tide", "arguments": {"port": "Brest"}}'


def _reply(content: str) -> Output:
    return Output(content=content, tools=_TOOLS, finish_reason=STOP)


GOAT_PRINTED = Detector(
    name="goat-printed",
    version=1,
    summary="A reply that ends in a JSON object or a line that is a call of an offered tool, and made none.",
    source="GOAT, ADR-0059; that this is a detector is our reading of the probe it describes",
    # A line holds the name as it stands; an object may hold it escaped, but never goes without its brace.
    triggers=("{",),
    by_name=True,
    find=find,
    leaks=(
        Example("fenced JSON is the whole reply", _reply(f"```json\n{_JSON}\n```\n"), f"```json\n{_JSON}\n```"),
        Example("bare JSON after a sentence", _reply(f"I look that up.\n\n{_JSON}\n"), _JSON),
        Example("the name of a tool as the last line", _reply("I list the files.\n\nfiles__list\n"), "files__list"),
        Example("a name with arguments", _reply('get_tide(port="Brest", day=2)'), 'get_tide(port="Brest", day=2)'),
        Example(
            "the OpenAI envelope, its arguments a string",
            _reply(
                '{"tool_calls": [{"id": "1", "type": "function", "function": '
                '{"name": "get_tide", "arguments": "{\\"port\\": \\"Brest\\"}"}}]}'
            ),
            '{"tool_calls": [{"id": "1", "type": "function", "function": '
            '{"name": "get_tide", "arguments": "{\\"port\\": \\"Brest\\"}"}}]}',
        ),
    ),
    clean=(
        Example("a JSON answer that only mentions a tool", _reply('{"tool": "get_tide", "reason": "it knows ports"}')),
        Example("prose that looks like a command", _reply("Run get_tide --port Brest, then read the table.")),
        Example("an example in the middle", _reply(f"```json\n{_JSON}\n```\n\nThat is how a call looks.")),
        Example(
            "a tool's definition", _reply('{"name": "get_tide", "parameters": {"type": "object", "properties": {}}}')
        ),
        Example("another tool", _reply(_JSON.replace("get_tide", "get_tides"))),
        Example("cut by the limit", Output(content=_JSON, tools=_TOOLS, finish_reason="length")),
        Example("no tools were offered", Output(content=_JSON, tools=(), finish_reason=STOP)),
        Example(
            "the reply made a structured call as well",
            Output(content=_JSON, tools=_TOOLS, finish_reason=STOP, calls=(Call("get_tide", "{}"),)),
        ),
    ),
)
