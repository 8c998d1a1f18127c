"""Calls that are shown without a fence, by the words around them; and calls whose narration only sounds like that."""

from dataclasses import replace
from typing import Any

import pytest

from analysis.detectors import judge
from analysis.detectors.leakdown import LEAKDOWN
from analysis.output import OfferedTool, Output

BASH = OfferedTool("bash", {"type": "object", "properties": {"command": {"type": "string"}}})
READ = OfferedTool("read_file", {"type": "object", "properties": {"path": {"type": "string"}}})
BODY = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
CALL = f"<tool_call>\n{BODY}\n</tool_call>"
QWEN = "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>"
CLOSERS = "</function>\n</tool_call>"


def leaks(text: str | None, **change: Any) -> bool:
    found = judge(LEAKDOWN, replace(Output(text, tools=(BASH, READ), finish_reason="stop"), **change))
    return found is not None and found.leak


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"The model sent this:\n\n{CALL}\n\nThe parser was off.", id="a dump, and a remark"),
        pytest.param(f"12:04 request\n{CALL}\n12:05 no structured call", id="lines of a log around"),
        pytest.param(f"A call has three parts:\n\n{CALL}\n\nThe answer comes back.", id="a lesson"),
        pytest.param(f"Your message contained\n{CALL}\nwhich I do not run.", id="a message is quoted"),
        pytest.param(f"The fixture has the opener twice:\n\n<tool_call>\n{CALL}\n\nDrop one.", id="a review"),
        pytest.param(f"Expected:\n{CALL}\n\nActual: nothing.", id="a test's labels"),
        pytest.param(f"The tokens of a call:\n\n{QWEN}\n{CALL}\n\nDone.", id="two together"),
        pytest.param(f"The format of a call:\n\n{CALL}", id="at the end, behind a colon"),
        pytest.param(f"Im Protokoll steht:\n\n{CALL}\n\nEs fehlt nichts.", id="German"),
        pytest.param(f"Le journal contient ceci:\n\n{CALL}\n\nRien ne manque.", id="French"),
        pytest.param(f"模型的原始输出是：\n\n{CALL}\n\n没有启用解析器。", id="Chinese"),
        pytest.param(f"12: {CALL}\n\nLine 12 is wrong.", id="behind a line's number"),
        pytest.param(f"| a | {CALL.replace(chr(10), '')} |", id="in a table's cell"),
        pytest.param(f"<!-- {CALL} -->\nThe comment is old.", id="in a comment"),
        pytest.param(f"Your template forgets the closing tags:\n\n{CLOSERS}", id="closers that are missing"),
        pytest.param(f"The payload was:\n{BODY}", id="JSON at the end, behind a colon"),
        pytest.param(f"The server recorded this call:\n\n```json\n{BODY}\n```", id="JSON in a fence at the end"),
        pytest.param(
            'A trace of ReAct prompts:\n\nAction: bash\nAction Input: {"command": "ls"}\n\nThen it waits.', id="ReAct"
        ),
    ],
)
def test_a_call_that_is_shown_is_no_leak(text: str) -> None:
    assert not leaks(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Let me read the parser:\n\n{CALL}", id="about a parser, a first person at work"),
        pytest.param(f"I'll check the log for the token.\n{CALL}\nThen I will tell you.", id="with words behind it"),
        pytest.param(f"Ich sehe mir das Protokoll an:\n{CALL}\nDanach mehr.", id="German"),
        pytest.param(f"我先看一下日志：\n{CALL}\n然后告诉你结果。", id="Chinese"),
        pytest.param(f"The parser is in a.txt.\n{CALL}", id="about a parser, at the end, no colon"),
        pytest.param(f"Reading it.\n{CALL}\nThe file contains three lines of raw data.", id="an invented result"),
        pytest.param(f"Reading it.\n{CALL}\nOnce I know the tokens, I'll count them.", id="a plan behind it"),
        pytest.param(f"call\n{CALL}", id="a stray word of the trade"),
        pytest.param(f"{QWEN}\n{CALL}", id="two calls, the first no words about the second"),
        pytest.param(f"I fixed the template.\n{CLOSERS}", id="closers behind a narration"),
        pytest.param(f"I'll see what it contains:\n{BODY}", id="JSON behind a narration"),
    ],
)
def test_a_call_that_is_made_stays_a_leak(text: str) -> None:
    assert leaks(text)


@pytest.mark.parametrize(
    ("content", "reasoning", "leak"),
    [
        pytest.param("Yes, it is.", f"The user's text is:\n{CALL}", False, id="copied, behind a colon"),
        pytest.param("Yes, it is.", f"Is this syntax valid\n{CALL}", False, id="spoken of"),
        pytest.param("I'll read it.", f"I need to look.\n{CALL}", True, id="made"),
        pytest.param("", f"(Implicit) (True, {BODY})", True, id="in a tuple, with nothing said"),
        pytest.param("", f"I will read it, so {BODY}", True, id="within a sentence, with nothing said"),
        pytest.param("It is short.", f"I will read it, so {BODY}", False, id="the same with an answer"),
        pytest.param("", f"{BODY} would be a call. But the file is known.", False, id="thought on"),
    ],
)
def test_calls_in_a_reasoning(content: str, reasoning: str, leak: bool) -> None:
    assert leaks(content, reasoning=reasoning) == leak


@pytest.mark.parametrize(
    ("text", "leak"),
    [
        pytest.param("It is done<｜DSML｜tool_calls>again and again.", True, id="an opening between letters"),
        pytest.param("It is done<|tool_calls_section_begin|>again.", True, id="of another family"),
        pytest.param("The ｜DSML｜ mark.", False, id="a mark with blanks around"),
        pytest.param("It is done <｜DSML｜tool_calls> again.", False, id="a blank on each side"),
        pytest.param("It is `done<｜DSML｜tool_calls>again`.", False, id="in a code span"),
        pytest.param("模型先输出<｜tool▁calls▁begin｜>然后输出名称。", False, id="a script without blanks"),
        pytest.param("a<b and c</tool_call>d", False, id="a tag without bars"),
    ],
)
def test_a_token_glued_into_words_is_debris(text: str, leak: bool) -> None:
    assert leaks(text) == leak


TAG = "<write_to_file>\n<path>a.txt</path>\n<content>x</content>\n</write_to_file>"


@pytest.mark.parametrize(
    ("content", "reasoning", "leak"),
    [
        pytest.param(f"I'll write it.\n\n{TAG}", None, True, id="the last block of a reply"),
        pytest.param("", f"I'll write it.</think>{TAG}", True, id="behind the end of a thought"),
        pytest.param(f"{TAG}\n\nThat is the form.", None, False, id="with words behind it"),
        pytest.param(f"Cline's prompt teaches this:\n\n{TAG}", None, False, id="introduced"),
        pytest.param(f"```xml\n{TAG}\n```", None, False, id="in a fence"),
        pytest.param("<write_to_file>x</write_to_file>", None, False, id="without a parameter"),
        pytest.param(TAG.replace("write_to_file", "user_record"), None, False, id="some other element"),
    ],
)
def test_a_tag_of_another_client_is_a_habit(content: str, reasoning: str | None, leak: bool) -> None:
    found = judge(LEAKDOWN, Output(content, reasoning, tools=(BASH,), finish_reason="stop"))
    assert (found is not None and found.leak) == leak
    assert not leak or (found is not None and found.tier == "likely")


@pytest.mark.parametrize(
    ("text", "leak"),
    [
        pytest.param('{"name": "open_door", "arguments": {"id": 3}}', True, id="arguments"),
        pytest.param('{"name": "open_door", "parameters": {"id": 3}}', True, id="parameters of a name that is no word"),
        pytest.param('{"name": "openDoor", "input": {"id": 3}}', True, id="input of such a name"),
        pytest.param('{"name": "nightly-build", "parameters": {"branch": "main"}}', False, id="parameters of a build"),
        pytest.param('{"name": "Ana", "input": {"age": 3}}', False, id="input of a person"),
        pytest.param('{"action": "approve", "input": {"id": 4}}', False, id="an action that is a word"),
        pytest.param('{"name": "bash", "description": "A shell.", "parameters": {}}', False, id="a definition"),
    ],
)
def test_json_that_is_the_whole_reply_and_calls_no_offered_tool(text: str, leak: bool) -> None:
    assert leaks(text) == leak
