"""Turns that say they call a tool, and what only sounds like it."""

from dataclasses import replace
from typing import Any

import pytest

from analysis.detectors import Finding, judge
from analysis.detectors.leakdown import LEAKDOWN
from analysis.output import Call, OfferedTool, Output

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOLS = (
    OfferedTool("list_tasks"),
    OfferedTool("search"),
    OfferedTool("get_weather", SCHEMA),
    OfferedTool("OpenDoor"),
    OfferedTool("天气查询"),
)


def judged(text: str | None, **change: Any) -> Finding | None:
    return judge(LEAKDOWN, replace(Output(content=text, tools=TOOLS, finish_reason="stop"), **change))


def leaks(text: str | None, **change: Any) -> bool:
    found = judged(text, **change)
    return found is not None and found.leak


ONE_SENTENCE = [
    pytest.param("Let's use `list_tasks` to see what is left on the card.", "list_tasks", id="let us use it"),
    pytest.param("I'll call `get_weather` for Oslo now.", "get_weather", id="I will call it"),
    pytest.param("I’ll use `list_tasks` for that.", "list_tasks", id="a typographic apostrophe"),
    pytest.param("Sure! Let me run `list_tasks`.", "list_tasks", id="after an interjection"),
    pytest.param(
        "Okay, now I'm going to invoke 'search' for the invoice", "search", id="in quotes, without a full stop"
    ),
    pytest.param("I will use list_tasks to find the open ones.", "list_tasks", id="a name that is no word, unquoted"),
    pytest.param("I'll check tomorrow's rain with `get_weather`.", "get_weather", id="for tomorrow"),
    pytest.param("I'll look up the forecast with `get_weather`…", "get_weather", id="looks it up with it"),
    pytest.param("First, let me start by using the **OpenDoor** tool.", "OpenDoor", id="in bold"),
    pytest.param("I will use the search tool to find the invoice.", "search", id="an ordinary word, called a tool"),
    pytest.param("Let me call `list_tasks()` first!", "list_tasks", id="with parentheses"),
    pytest.param("Ich rufe jetzt `list_tasks` auf, um die offenen zu sehen.", "list_tasks", id="German"),
    pytest.param("Gut, ich werde „get_weather“ für Kiel abfragen.", "get_weather", id="German quotes"),
    pytest.param("Je vais utiliser `get_weather` pour Lyon.", "get_weather", id="French"),
    pytest.param("Voy a consultar `get_weather` para Lima.", "get_weather", id="Spanish"),
    pytest.param("Vou usar `list_tasks` para ver o resto.", "list_tasks", id="Portuguese"),
    pytest.param("Сейчас вызову `get_weather` для Перми.", "get_weather", id="Russian"),
    pytest.param("我来调用`天气查询`看看杭州的天气。", "天气查询", id="Chinese"),
    pytest.param("让我使用 list_tasks 查看剩余任务。", "list_tasks", id="Chinese, unquoted"),
    pytest.param("まず`list_tasks`を使って残りを確認します。", "list_tasks", id="Japanese"),
]


@pytest.mark.parametrize(("text", "name"), ONE_SENTENCE)
def test_a_sentence_that_commits_to_an_offered_tool_is_a_printed_call(text: str, name: str) -> None:
    found = judged(text)
    assert found is not None
    assert (found.kind, found.tier, found.tool, found.calls) == ("printed_call", "likely", name, (Call(name),))
    assert (found.start, found.end) == (0, len(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Please use `list_tasks` to check the card.", id="a request to a peer"),
        pytest.param("You can use `list_tasks` to check the card.", id="advice"),
        pytest.param("Shall I use `list_tasks` for that?", id="a question"),
        pytest.param("I'll use `list_tasks`, okay?", id="a question behind it"),
        pytest.param("I used `list_tasks` and found three.", id="past"),
        pytest.param("I can call `get_weather` for any city.", id="an ability"),
        pytest.param("I would call `get_weather` for that.", id="a condition"),
        pytest.param("I'll use `get_weather` once you name a city.", id="it waits"),
        pytest.param("If it rains I'll call `get_weather` again.", id="a condition before it"),
        pytest.param("I won't use `search` for that.", id="a refusal"),
        pytest.param("I will not call `search` for that.", id="a refusal in full"),
        pytest.param("I'll use a table instead of `search` here.", id="another tool instead"),
        pytest.param("Next time I'll use `list_tasks` first.", id="next time"),
        pytest.param("From now on I'll use `list_tasks` for that.", id="a habit"),
        pytest.param("Let's call the new function `search_all`.", id="a name that is given"),
        pytest.param("I'll call `get_weather` tomorrow.", id="tomorrow"),
        pytest.param("Let's call it `search_all`, as `search` is taken.", id="a name is given"),
        pytest.param("Let's use `search` as the title.", id="a title"),
        pytest.param("I'll explain what `list_tasks` does.", id="an explanation"),
        pytest.param("Let me describe `get_weather`.", id="a description"),
        pytest.param("I'll use `fetch_page` for that.", id="not offered"),
        pytest.param("Let me search for the invoice.", id="a name that is a verb"),
        pytest.param("I'll use search engines for that.", id="a name that is part of a word group"),
        pytest.param("I'll use `list_tasks`. Three are open: paint, glue, sand.", id="an answer behind it"),
        pytest.param("I'll use `list_tasks`.\n\nThree are open.", id="a second line"),
        pytest.param('"I\'ll use `list_tasks`" is what it said.', id="quoted speech"),
        pytest.param("The bot wrote: I'll use `list_tasks`.", id="reported speech"),
        pytest.param("Ich werde `list_tasks` nutzen, sobald du zustimmst.", id="German, it waits"),
        pytest.param("Du kannst `list_tasks` aufrufen.", id="German advice"),
        pytest.param("Usaré `get_weather` cuando me digas la ciudad.", id="Spanish, it waits"),
        pytest.param("你可以使用`天气查询`。", id="Chinese advice"),
        pytest.param("我可以使用`天气查询`来查天气。", id="Chinese ability"),
        pytest.param("`list_tasks`を使ってください。", id="Japanese request"),
        pytest.param("`list_tasks`を使うと一覧が見られます。", id="Japanese explanation"),
    ],
)
def test_a_sentence_that_only_speaks_of_a_tool_is_none(text: str) -> None:
    assert judged(text) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"calls": (Call("list_tasks", "{}"),)}, id="the call was made"),
        pytest.param({"finish_reason": "length"}, id="cut"),
        pytest.param({"finish_reason": "tool_calls"}, id="a call was announced by the server"),
        pytest.param({"finish_reason": None}, id="nobody says how it ended"),
        pytest.param({"tools": ()}, id="no tools"),
        pytest.param({"tools": None, "inferred_names": frozenset({"list_tasks"})}, id="tools unknown"),
    ],
)
@pytest.mark.parametrize(
    "output",
    [
        pytest.param(Output("Let's use `list_tasks` first."), id="a sentence"),
        pytest.param(Output("Let me look at the tasks:"), id="a preamble"),
        pytest.param(Output(None, "The user wants `list_tasks`. Let me call it."), id="a thought"),
        pytest.param(Output('I will use `OpenDoor`:\n```json\n{"door": 3}\n```'), id="arguments"),
    ],
)
def test_words_count_only_where_tools_are_known_none_was_called_and_the_model_stopped(
    output: Output, change: dict[str, Any]
) -> None:
    as_offered = replace(output, tools=TOOLS, finish_reason="stop")
    assert judge(LEAKDOWN, as_offered) is not None
    assert judge(LEAKDOWN, replace(as_offered, **change)) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("接下来读取文件：", id="Chinese"),
        pytest.param("Let me look at the configuration first:", id="English"),
        pytest.param("  Now I'll run the tests again: \n", id="blanks around"),
        pytest.param("Checking the second log as well:", id="no first person"),
        pytest.param("The build failed, so let me look at the logs:", id="a reason before it"),
        pytest.param("Good. Next, the README:", id="hardly a sentence"),
        pytest.param("Tests pass; now I’ll commit:", id="a typographic apostrophe"),
        pytest.param("Ich lese jetzt die Konfiguration:", id="German"),
        pytest.param("Je regarde d'abord le journal :", id="French, a blank before the colon"),
        pytest.param("Voy a revisar el archivo de registro:", id="Spanish"),
        pytest.param("Сначала прочитаю файл настроек:", id="Russian"),
        pytest.param("設定ファイルを確認します：", id="Japanese"),
        pytest.param("I'll read `src/app.py` (the entry point):", id="a path and parentheses"),
    ],
)
def test_a_preamble_whose_call_is_gone_is_a_stripped_call(text: str) -> None:
    found = judged(text)
    assert found is not None
    assert (found.kind, found.tier, found.calls, found.markup) == ("stripped_call", "likely", (), text.strip())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Which one? Tell me by number:", id="a question"),
        pytest.param("Let me look at it:\n\n- one\n- two", id="a list"),
        pytest.param("Let me look at it:\nIt is empty.", id="a second line"),
        pytest.param("The three open tasks are:\n1. paint", id="a list of numbers"),
        pytest.param("The answer to that is:", id="a copula"),
        pytest.param("Here is the summary of the log:", id="text is announced"),
        pytest.param("The steps are as follows:", id="as follows"),
        pytest.param("The log file says:", id="a verb of saying"),
        pytest.param("以下是今天的任务列表：", id="Chinese, text is announced"),
        pytest.param("查询结果如下：", id="Chinese, as follows"),
        pytest.param("Dear Ms. Okafor and colleagues:", id="a letter"),
        pytest.param("尊敬的王先生和李女士：", id="a Chinese letter"),
        pytest.param("Estimada señora Ruiz Ortega:", id="a Spanish letter"),
        pytest.param("Please paste the error message here:", id="a request to the user"),
        pytest.param("请输入您的订单号码：", id="a Chinese request"),
        pytest.param("Summary of the changes:", id="a heading without a sign"),
        pytest.param("Meeting notes for Tuesday:", id="a heading that begins like a participle"),
        pytest.param("Enter the name of the city:", id="a prompt"),
        pytest.param("I have three questions for you:", id="questions are announced"),
        pytest.param("As the poet once wrote:", id="a quotation is announced"),
        pytest.param("我有三个问题想问您：", id="Chinese, questions are announced"),
        pytest.param("二つの方法があります：", id="Japanese, there are"),
        pytest.param("for name in sorted(names):", id="a line of Python"),
        pytest.param("def read_all(paths, encoding):", id="a head of a function"),
        pytest.param("## Notes on the release:", id="a heading"),
        pytest.param("- the first of them:", id="an item"),
        pytest.param("Final answer:", id="a label"),
        pytest.param("结果：", id="a Chinese label"),
        pytest.param("It is 14:05 in Oslo now.", id="a colon within"),
        pytest.param(f"Let me look at {'a very long name of ' * 6}file:", id="longer than a preamble"),
        pytest.param(":", id="a colon alone"),
    ],
)
def test_a_line_with_a_colon_that_announces_no_call_is_none(text: str) -> None:
    assert judged(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param('I have a tool called "get_weather" for this. Let me call it.', "get_weather", id="by it"),
        pytest.param("The user wants the open ones. I should call list_tasks.", "list_tasks", id="by its name"),
        pytest.param("This needs get_weather. Let me make the call.", "get_weather", id="the call"),
        pytest.param("It is about Oslo.\nI'll use the `get_weather` tool for that.", "get_weather", id="quoted"),
        pytest.param(
            "We have list_tasks and OpenDoor. I need to use this tool now.", "OpenDoor", id="the last one named"
        ),
        pytest.param("用户想知道天气。我来调用天气查询工具。", None, id="run together with other words, not told"),
        pytest.param("用户想知道杭州的天气。我需要先调用 天气查询。", "天气查询", id="Chinese, needs to"),
        pytest.param("用户想知道杭州的天气。让我调用 天气查询 。", "天气查询", id="Chinese"),
    ],
)
def test_a_thought_that_ends_in_the_decision_to_call_is_a_printed_call(text: str, name: str | None) -> None:
    found = judged("", reasoning=text)
    if name is None:
        assert found is None
        return
    assert found is not None
    assert (found.kind, found.tier, found.channel, found.tool) == ("printed_call", "likely", "reasoning", name)
    assert text.endswith(found.markup)


@pytest.mark.parametrize(
    ("content", "reasoning"),
    [
        pytest.param("It is dry.", "get_weather tells that. Let me call it.", id="the reply says something"),
        pytest.param("", "Let me call get_weather. No, the user said not to.", id="it thinks on"),
        pytest.param("", "I should not call get_weather.", id="it decides against"),
        pytest.param("", "Should I call get_weather?", id="it wonders"),
        pytest.param("", "I called get_weather and the user has the answer.", id="it is done"),
        pytest.param("", "The user greets me. Let me say hello.", id="about no tool"),
        pytest.param("", "Nothing to search here. Let me think about it.", id="another verb"),
        pytest.param("", "I can use get_weather for that.", id="an ability"),
        pytest.param("", "I could use get_weather if a city is given.", id="a condition"),
    ],
)
def test_other_thoughts_are_none(content: str, reasoning: str) -> None:
    assert judged(content, reasoning=reasoning) is None


ARGUMENTS = '```json\n{"city": "Oslo", "days": 2}\n```'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(f"I will use the `get_weather` tool.\n\n{ARGUMENTS}", "get_weather", id="at the end"),
        pytest.param(
            f"To know that, I'll call get_weather. The final request:\n{ARGUMENTS}\nThen I will tell you.",
            "get_weather",
            id="with words behind it",
        ),
        pytest.param('Let me use OpenDoor:\n\n```\n{"door": 3}\n```', "OpenDoor", id="no schema, no language"),
        pytest.param(
            'I\'ll call `get_weather`:\n\n```json\n{"name": "get_weather", "arguments": '
            '{"city": "Oslo", "days": 2}}\n```'
            "\n\nAfter that I can tell you more.",
            "get_weather",
            id="the whole call, with words behind it",
        ),
        pytest.param(f"Ich verwende `get_weather`:\n{ARGUMENTS}", "get_weather", id="German"),
    ],
)
def test_arguments_in_a_fence_behind_the_announcement_are_a_printed_call(text: str, name: str) -> None:
    found = judged(text)
    assert found is not None
    assert (found.kind, found.tier, found.tool, len(found.calls)) == ("printed_call", "likely", name, 1)
    assert found.markup.startswith("```")
    if name == "get_weather":
        assert found.calls == (Call("get_weather", '{"city": "Oslo", "days": 2}'),)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"You can use `get_weather` for this:\n{ARGUMENTS}", id="advice"),
        pytest.param(f"I will use `get_weather`. You can do so too:\n{ARGUMENTS}", id="advice behind a commitment"),
        pytest.param(f"I used `get_weather`:\n{ARGUMENTS}", id="past"),
        pytest.param(f"A forecast as JSON:\n{ARGUMENTS}", id="an answer"),
        pytest.param(f"I'll use `get_weather`. The result:\n{ARGUMENTS}", id="a result"),
        pytest.param(f"I'll use `get_weather`, for example:\n{ARGUMENTS}", id="an example"),
        pytest.param('I\'ll use `get_weather`:\n```json\n{"temp": 21}\n```', id="keys that are none of the tool's"),
        pytest.param("I'll use `get_weather`:\n```json\n[1, 2]\n```", id="no object"),
        pytest.param("I'll use `get_weather`:\n```json\n{}\n```", id="an empty object"),
        pytest.param("I'll use `get_weather`:\n```json\n{city\n```", id="no JSON"),
        pytest.param(f"I'll use `get_weather`:\n{ARGUMENTS}\nor\n{ARGUMENTS}", id="two fences"),
        pytest.param(f"I'll use `fetch_page`:\n{ARGUMENTS}", id="not offered"),
        pytest.param(
            'I\'ll use `get_weather`:\n```json\n{"name": "search", "arguments": {"q": "x"}}\n```\nIt says so.',
            id="a call of another tool, with words behind it",
        ),
    ],
)
def test_other_fences_are_none(text: str) -> None:
    assert not leaks(text)
