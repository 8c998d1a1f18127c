"""Calls in other words than the templates': printed under labels, in other keys, in tags of any name; and what looks
like them and calls nothing."""

import json

import pytest

from analysis.detectors import judge
from analysis.detectors.leakdown import LEAKDOWN
from analysis.output import Call, OfferedTool, Output


def tool(name: str, *properties: str) -> OfferedTool:
    return OfferedTool(name, {"type": "object", "properties": {each: {"type": "string"} for each in properties}})


TOOLS = (tool("find_book", "title", "shelf"), tool("lend", "isbn"), tool("search", "q"))
WANTED = [("find_book", {"title": "Dune"})]


def calls(output: Output) -> list[tuple[str, object]] | None:
    found = judge(LEAKDOWN, output)
    if found is None or not found.leak:
        return None
    return [(call.name, None if call.arguments is None else json.loads(call.arguments)) for call in found.calls]


def said(text: str) -> list[tuple[str, object]] | None:
    return calls(Output(text, tools=TOOLS, finish_reason="stop"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"toolName": "find_book", "toolArgs": {"title": "Dune"}}', id="camel case"),
        pytest.param('{"call": "find_book", "arguments": {"title": "Dune"}}', id="a loose key"),
        pytest.param('{"chosen_tool": "find_book", "tool_params": {"title": "Dune"}}', id="keys nobody knows"),
        pytest.param('{"functionCall": {"name": "find_book", "args": {"title": "Dune"}}}', id="an envelope"),
        pytest.param('{"plan": "look", "action": {"name": "find_book", "args": {"title": "Dune"}}}', id="an action"),
        pytest.param('Sure! {"name": "find_book", "arguments": {"title": "Dune"}}', id="behind a word of assent"),
        pytest.param(
            '{"name": "find_book", "arguments": {"title": "Dune"}}\n\nI will tell you once I have the result.',
            id="before who waits",
        ),
        pytest.param('Tool call: {"name": "find_book", "arguments": {"title": "Dune"}}', id="behind a heading"),
        pytest.param('find_book: {"title": "Dune"}', id="its name as a label"),
        pytest.param('Calling find_book with {"title": "Dune"}', id="in words and JSON"),
        pytest.param('Tool: find_book\nInput: {"title": "Dune"}', id="labelled lines"),
        pytest.param("tool: find_book\nargs:\n  title: Dune", id="YAML"),
        pytest.param("```yaml\ntool: find_book\ntitle: Dune\n```", id="YAML in a fence"),
        pytest.param('find_book title="Dune"', id="a command line"),
        pytest.param('```python\nfind_book(title="Dune")\n```', id="a fence of Python"),
        pytest.param('book = find_book(title="Dune")', id="an assignment"),
        pytest.param('<find_book title="Dune"/>', id="attributes"),
        pytest.param('<find_book>{"title": "Dune"}</find_book>', id="JSON in the tool's tag"),
        pytest.param('<tool name="find_book">{"title": "Dune"}</tool>', id="the name as an attribute"),
        pytest.param('<call name="find_book"><arg name="title">Dune</arg></call>', id="general tags"),
        pytest.param('<tool_call>\nname: find_book\narguments: {"title": "Dune"}\n</tool_call>', id="YAML in the tag"),
    ],
)
def test_a_call_in_other_words_is_told_exactly(text: str) -> None:
    assert said(text) == WANTED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"command": "search", "exit_code": 0}', id="a loose key of a record"),
        pytest.param('{"search": {"shards": 4}, "lend": {"days": 20}}', id="configurations under tools' names"),
        pytest.param("name: search\ndescription: Finds books", id="YAML metadata"),
        pytest.param("Here is the file you asked for:\n\n```yaml\ntool: search\nq: tea\n```", id="YAML that is shown"),
        pytest.param("Tool: search\nStatus: down", id="a status"),
        pytest.param('find_book: {"title": "Dune", "year": 1965}', id="a result under the tool's name"),
        pytest.param('Call it so:\n\n```python\nfind_book(title="Dune")\n```', id="a lesson that ends in its fence"),
        pytest.param('```html\n<search title="x"/>\n```', id="an element in a fence"),
        pytest.param(
            '```json\n{"name": "search", "arguments": {"q": "x"}}\n```\n\nThis is the request you sent.', id="a request"
        ),
        pytest.param('Paste this:\n\n{"name": "search", "arguments": {"q": "x"}}', id="for the reader to paste"),
    ],
)
def test_what_looks_like_one_and_calls_nothing(text: str) -> None:
    assert said(text) is None


def test_without_a_schema_names_beside_the_tool_are_a_possible_call_at_most() -> None:
    found = judge(LEAKDOWN, Output('{"search": {"shards": 4}}', tools=(OfferedTool("search"),)))
    assert found is not None
    assert found.tier == "possible"


@pytest.mark.parametrize(
    ("text", "leak"),
    [
        pytest.param("It is lent.\n</tool_call>\n\nAnything else?", True, id="between two paragraphs"),
        pytest.param("</parameter>\n</function>\n\nThe book is lent.", True, id="before the answer"),
        pytest.param("It is lent.</invoke>", True, id="one, on a sentence"),
        pytest.param("It is lent.\n</title>\n</find_book>", True, id="of a client whose tags are the tools"),
        pytest.param("The closers are </parameter>, </function>, </tool_call>", False, id="in a list"),
        pytest.param("It broke off.\n</function>\n</tool_call>\nThe parser waits for more.", False, id="explained"),
        pytest.param("<find_book>\n  <x/>\n</find_book> is the root element.", False, id="an element with its opening"),
    ],
)
def test_closers_without_a_call(text: str, leak: bool) -> None:
    assert (said(text) is not None) == leak


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        pytest.param("find_book", '{"title": "Dune"}</tool_call>', WANTED, id="a closer behind"),
        pytest.param("function<｜tool▁sep｜>find_book", '{"title": "Dune"}', WANTED, id="tokens before the name"),
        pytest.param('find_book(title="Dune")', "{}", WANTED, id="a whole call for a name"),
        pytest.param("find_book:2", '{"title": "Dune"}', WANTED, id="an index"),
        pytest.param("find_book", '```json\n{"title": "Dune"}\n```', WANTED, id="a fence around"),
        pytest.param("find_book", '[ARGS]{"title": "Dune"}', WANTED, id="a token before"),
        pytest.param("find_book", '{"parameter=title": "Dune"}', WANTED, id="a header for a key"),
        pytest.param(
            "find_book",
            json.dumps({"title": "Dune</parameter>\n<parameter=shelf>\nA3"}),
            [("find_book", {"title": "Dune", "shelf": "A3"})],
            id="a second parameter in the value",
        ),
        pytest.param(
            "find_book",
            json.dumps({"title": "Dune\n</parameter>\n</function>\n<function=lend>\n<parameter=isbn>\n9"}),
            [*WANTED, ("lend", {"isbn": "9"})],
            id="a second call in the value",
        ),
        pytest.param(
            "find_book", '{"title": "Dune"}functions.lend:1{"isbn": "9"}', [*WANTED, ("lend", {"isbn": "9"})],
            id="a second call behind",
        ),
        pytest.param("find_book", json.dumps({"title": "Dune</title>\n</find_book>"}), WANTED, id="tags of its own"),
        pytest.param("functions.find_book", '{"title": "Dune"}', None, id="a namespace"),
        pytest.param("my.find_book", '{"title": "Dune"}', None, id="another namespace"),
        pytest.param("find_book", json.dumps({"title": "{{ x }}<|im_end|>"}), None, id="a template"),
        pytest.param("find_book", json.dumps({"title": "<|im_end|>"}), None, id="a token that is sought"),
        pytest.param("find_book", json.dumps({"title": "ends in `</parameter>`\n<parameter=x>"}), None, id="quoted"),
        pytest.param("find_book", json.dumps({"title": "<title>Dune</title>"}), None, id="an element"),
    ],
)  # fmt: skip
def test_debris_in_a_structured_call(name: str, arguments: str, wanted: object) -> None:
    assert calls(Output(None, calls=(Call(name, arguments),), tools=TOOLS, finish_reason="tool_calls")) == wanted
