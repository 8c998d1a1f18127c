"""What breaks calls in public reports, shape by shape: read with its calls, its damage and its exact span."""

from typing import Any

import pytest

from analysis.grammars import readings

NAMES = frozenset({"look", "send"})
SKY: dict[str, Any] = {"at": "sky"}
BODY = '{"name": "look", "arguments": {"at": "sky"}}'
PARAMETERS = '<parameter name="at">sky</parameter>\n'

SHAPES = [
    pytest.param(
        f'invoke name="look">\n{PARAMETERS}</invoke>',
        "claude_function_calls",
        "opener_missing",
        SKY,
        id="an element that lost its first sign",
    ),
    pytest.param(
        "function=look><parameter=at>sky</parameter></function>",
        "qwen3_coder_xml",
        "opener_missing",
        SKY,
        id="a function that lost its first sign",
    ),
    pytest.param(
        f"tool_call>\n{BODY}\n</tool_call>",
        "hermes_json",
        "opener_missing",
        SKY,
        id="a wrapper that lost its first sign",
    ),
    pytest.param(
        f"<tool_call\n{BODY}\n</tool_call>", "hermes_json", "fused", SKY, id="a wrapper that lost its last sign"
    ),
    pytest.param(
        f"<functioncall> {BODY}</functioncall>", "hermes_json", "look_alike", SKY, id="a wrapper of another name"
    ),
    pytest.param(
        '<function_calls>\n<tool_code>look(at="sky")</tool_code>\n</function_calls>',
        "olmo3",
        "noise",
        SKY,
        id="a wrapper in a wrapper",
    ),
    pytest.param(
        f"<|tool▁call|>{BODY}</|tool▁call|>", "hermes_json", "look_alike", SKY, id="a wrapper in foreign signs"
    ),
    pytest.param('[TOOL_CALL]look[ARGS]{"at": "sky"}', "mistral_v11_args", "look_alike", SKY, id="a singular token"),
    pytest.param('[tool_call:look]{"at": "sky"}', "calling_tool_text", "wrong_header", SKY, id="a name in the token"),
    pytest.param('[Tool call: look({"at": "sky"})]', "calling_tool_text", None, SKY, id="a history's line"),
    pytest.param(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.look!166...",
        "kimi_k2",
        "closer_missing wrong_header",
        None,
        id="an id with another separator",
    ),
    pytest.param(
        '<|tool_call_begin|>functions.look<|tool_call_argument_begin|>{"at": "sky"}<|tool_call_end|>',
        "kimi_k2",
        "opener_missing wrong_header",
        SKY,
        id="an id without its index",
    ),
    pytest.param(
        'look:0<|tool_call_argument_begin|>{"at": "sky"}<|tool_calls_section_end|>',
        "kimi_k2",
        "closer_missing opener_missing",
        SKY,
        id="an id with all before it lost",
    ),
    pytest.param(
        '<｜｜DSML｜｜tool_calls> <｜｜DSML｜｜invoke name="look">...',
        "deepseek_dsml",
        "closer_missing cut look_alike wrong_header",
        None,
        id="an element whose body is elided",
    ),
    pytest.param(
        '< calls>\n<|DSML|invoke name="look">\n<|DSML|parameter name="at" string="true">sky</|DSML|parameter>\n'
        "</|DSML|invoke>\n</|DSML|calls>",
        "deepseek_dsml",
        "look_alike",
        SKY,
        id="half of the token gone",
    ),
    pytest.param(
        "<tool_call>\n<function=look>\nset -e\nls\n</function>\n</tool_call>",
        "qwen3_coder_xml",
        "wrong_header",
        None,
        id="a body without parameters",
    ),
    pytest.param(
        "<tool_call>look<arg_key>at</arg_key><arg_value>sky</arg_value></tool_cal",
        "glm_arg_kv",
        "closer_missing",
        SKY,
        id="a closer that the text ends in",
    ),
    pytest.param(
        "look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n</tool_call>",
        "glm_arg_kv",
        "opener_missing",
        SKY,
        id="pairs behind a name alone",
    ),
    pytest.param(
        "<function=look>\n<parameter=at=sky</parameter>\n</function>\n</tool_call>",
        "qwen3_coder_xml",
        "fused opener_missing",
        SKY,
        id="key and value run together",
    ),
    pytest.param(f"{BODY}<|eot_id|>", "bare_json_offered_tool", "noise", SKY, id="a control token behind JSON"),
    pytest.param(
        f"<tool_call>{BODY}</tool_call><|im_end|>\n</s>", "hermes_json", "noise", SKY, id="two behind a wrapper"
    ),
    pytest.param("[look(at='sky')]<|eot_id|>", "pythonic_list", "noise", SKY, id="a control token behind a list"),
    pytest.param(
        '{"tool_uses": [{"recipient_name": "functions.look", "parameters": {"at": "sky"}}]}',
        "harmony",
        "wrong_header",
        SKY,
        id="the wrapper for several tools",
    ),
    pytest.param(
        '{"name": "look", "at": "sky"}', "bare_json_offered_tool", "wrong_header", SKY, id="arguments beside the name"
    ),
    pytest.param(f"(True, {BODY})", "bare_json_offered_tool", "noise", SKY, id="a member of a printed tuple"),
    pytest.param(
        '{"name": "look", "arguments": {...}}',
        "bare_json_offered_tool",
        "json_damage",
        None,
        id="arguments that are elided",
    ),
    pytest.param("<look><at>sky</at></look>", "client_tag_is_tool", None, SKY, id="a tag that is the tool"),
    pytest.param(
        "<tool_call>\n<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>",
        "qwen3_coder_xml",
        "noise",
        SKY,
        id="an opening twice",
    ),
]


@pytest.mark.parametrize(("text", "family", "damage", "arguments"), SHAPES)
@pytest.mark.parametrize("lead", [pytest.param("", id="alone"), pytest.param("I look.\n\n", id="after prose")])
def test_a_damaged_call_is_read(
    lead: str, text: str, family: str, damage: str | None, arguments: dict[str, Any] | None
) -> None:
    whole = f"{lead}{text}"
    [reading] = readings(whole, NAMES)
    assert (reading.family, whole[reading.start : reading.end]) == (family, text)
    assert damage is None or " ".join(sorted(reading.damage)) == damage
    assert [(call.name, call.arguments) for call in reading.calls] == [("look", arguments)]


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        pytest.param("\n\n<｜DSML｜tool_calls|\n", "<｜DSML｜tool_calls|", id="a token that lost its end"),
        pytest.param("hello<‖DSML‖tool_calls>world", "<‖DSML‖tool_calls>", id="a token between words"),
        pytest.param(
            "latest news</parameter></function></tool_call>",
            "</parameter></function></tool_call>",
            id="closers behind prose",
        ),
        pytest.param("Done.\n</minimax:tool_call>[e~[", "</minimax:tool_call>[e~[", id="a closer and a control token"),
        pytest.param(
            "It goes to <|tool_call_argument_begin|> then.", "<|tool_call_argument_begin|>", id="in a sentence"
        ),
    ],
)
def test_stray_tokens_are_orphans(text: str, markup: str) -> None:
    [reading] = readings(text, NAMES)
    assert (text[reading.start : reading.end], reading.calls) == (markup, ())
    assert "orphan" in reading.damage


@pytest.mark.parametrize(
    "opener", ["<tool_ca", "<|tool_calls_sec", "<function", "<invoke na", "<｜tool▁cal", "[TOOL_C"]
)
def test_an_opening_that_the_text_ends_in_is_cut(opener: str) -> None:
    [reading] = readings(f"I look.\n{opener}\n", NAMES)
    assert (reading.start, reading.end, reading.calls) == (8, 8 + len(opener), ())
    assert reading.damage == {"cut"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Sure. [look(at='sky')] Done.", id="a Python list in a sentence"),
        pytest.param('{"name": "Ada", "age": 36}', id="a record with a name"),
        pytest.param('[{"name": "Ada", "age": 36}]', id="a list of records"),
        pytest.param('{"name": "my-app", "version": "1.0.0"}', id="a package"),
        pytest.param(
            '{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}',
            id="a tool that is declared",
        ),
        pytest.param(
            "It opens with <tool_call> and </tool_call> closes it, for <function> too.", id="tags in a sentence"
        ),
        pytest.param("#include <functional>\nstd::function<int(int)> f;", id="C++"),
        pytest.param("from functools import cache\nprint(cache)", id="Python"),
        pytest.param("The header `<function=look>` opens it.", id="a header in a code span"),
        pytest.param("Please call: look, then send a letter to=all.", id="words of a frame in prose"),
        pytest.param("{} [] () <> {{ }} \"'", id="brackets and quotes"),
    ],
)
def test_no_call_is_read(text: str) -> None:
    assert [reading.calls for reading in readings(text, NAMES) if reading.calls] == []
