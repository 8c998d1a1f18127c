"""What reads the text of a model: it may hold anything."""

import json
from collections.abc import Iterator
from dataclasses import replace

from analysis.candidates.wire import said
from analysis.detectors import Finding, detectors, judge
from analysis.grammars import grammars, readings
from analysis.markdown import code_regions
from analysis.output import Call, OfferedTool, Output
from analysis.salvage import salvage
from analysis.strict_check import strict_check
from tests.fuzz.targets import Target, require, text_of

TOOLS = (
    OfferedTool("ls", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    OfferedTool("read_file", {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}),
)
NAMES = frozenset(tool.name for tool in TOOLS)
_MARKDOWN = (
    b"> - ```\n> x\n```",
    b"`a` ``b`c`` <a href=`x`> \\`",
    b"1. ~~~py\n   x\n   ~~~\n\n\tcode",
    b"# `a`\n* * *\n`b",
)
_ANSWERS = (b'{"markup":"<a>","tier":"certain"}', b'{"start":0,"end":2,"calls":[{"name":"ls","arguments":{}}]}')


def targets() -> Iterator[Target]:
    """Readers of texts."""
    examples = tuple(dict.fromkeys(text.encode() for each in grammars() for text in each.examples.values()))
    leaks = [example for each in detectors() for example in each.leaks]
    told = tuple(dict.fromkeys(text.encode("utf-8", "replace") for each in leaks if (text := each.output.content)))
    anchors = tuple(sorted({anchor.encode() for each in grammars() for anchor in each.anchors}))
    words = (*anchors, b"ls", b"read_file", b'{"path":"a"}', b"\n", b"```", b"</")
    yield Target(
        "markdown", _markdown, (), _MARKDOWN, (b"`", b"```", b"~~~", b"> ", b"- ", b"\n", b"<!--", b"\t", b"\\")
    )
    yield Target("grammars", _grammars, (), examples, words)
    yield Target("detectors", _detectors, (), told, words)
    yield Target("salvage", _salvage, (), (*examples, *told[:20]), words)
    yield Target("answers", _answer, (), _ANSWERS, (b"start", b"channel", b"kind", b"calls", b"tool_arguments"))


def _markdown(data: bytes) -> None:
    text, last = text_of(data), 0
    for region in code_regions(text):
        require(last <= region.start < region.end <= len(text), "regions are disjoint, in order, in the text")
        last = region.end


def _grammars(data: bytes) -> None:
    text, last = text_of(data), 0
    for reading in readings(text, NAMES):
        require(last <= reading.start < reading.end <= len(text), "readings are disjoint, in order, in the text")
        last = reading.end


def _detectors(data: bytes) -> None:
    text = text_of(data)
    output = Output(content=text, tools=TOOLS, finish_reason="stop")
    for shown in (output, replace(output, content=None, reasoning=text), replace(output, tools=None)):
        for each in detectors():
            found = judge(each, shown)
            if found and found.channel in ("content", "reasoning"):
                require(0 <= found.start < found.end <= len(text), f"{each.id}: a span stands in the text")


def _salvage(data: bytes) -> None:
    text = text_of(data)
    for taken in salvage(Output(content=text, tools=TOOLS)):
        require(taken.name in NAMES, "only offered tools are called")
        json.dumps(dict(taken.arguments))
    strict_check(Output(content=text, tools=TOOLS, calls=(Call("ls", text), Call(text, "{}"))), text)


def _answer(data: bytes) -> None:
    output = Output("Say <a>x</a>.", "Hm <b>", (Call("ls", "{}"),), TOOLS)
    found = said(data, output)
    if isinstance(found, Finding):
        require(0 <= found.start < found.end, "a span is one")
        require(found.markup.encode(), "its texts can be stored")
