"""The labelled outputs: every row has the shape that the scoring of detectors relies on."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from data import generate

Json = dict[str, Any]

CORPUS = Path(generate.__file__).parent / "corpus"
FILES = ("leaks-open", "leaks-held", "clean-open", "clean-held")

ROW = ["id", "why", "family", "output", "leak", "kind", "channel", "calls"]
OUTPUT = ["content", "reasoning", "tool_calls", "tools", "finish_reason", "call_mode"]
CALL_MODES = {"native", "text", "none"}
FINISH_REASONS = {"stop", "length", "tool_calls", "content_filter", None}
KINDS = {
    *("leaked_call", "malformed_call", "truncated_call", "orphan_markup"),
    *("stripped_call", "printed_call", "contaminated_call"),
}
STRUCTURED = {"tool_name": "name", "tool_arguments": "arguments"}
CHANNELS = {"content", "reasoning", *STRUCTURED}
FAMILIES = {
    *("hermes_json", "qwen3_coder_xml", "llama3_json", "function_eq_json", "pythonic_list"),
    *("mistral_old_json", "mistral_v11_args", "deepseek_v3", "deepseek_v31", "deepseek_dsml"),
    *("kimi_k2", "kimi_k3", "glm_arg_kv", "glm4_name_newline_json", "longcat", "harmony"),
    *("minimax_m1", "minimax_m2", "minimax_m3", "functiongemma", "gemma4", "gemma3_prompted"),
    *("gemini_textual", "phi4_mini", "granite"),
    *("cohere_action_text", "cohere_start_action", "tool_calls_json_list", "hunyuan3", "internlm", "xlam"),
    *("functionary_v32", "functionary_v2", "step3", "seed_oss", "olmo3", "apertus", "nemotron_toolcall"),
    *("lfm2", "minicpm5", "muse_atem", "gigachat3", "inkling", "ui_tars", "claude_function_calls"),
    *("react_text", "lmstudio_tool_request", "client_tag_is_tool", "bare_json_offered_tool"),
    *("calling_tool_text", "narrated"),
}
SECRET = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|xox[abpr]-[0-9A-Za-z-]{10,}"
    r"|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{20,}\.|hf_[A-Za-z0-9]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


@cache
def rows(name: str) -> tuple[Json, ...]:
    path = CORPUS / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"data/corpus/{path.name} is not there")
    return tuple(json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)


def everything() -> list[Json]:
    return [row for name in FILES for row in rows(name)]


def leaks() -> list[Json]:
    return [row for row in everything() if row["leak"]]


def is_tool(tool: Json) -> bool:
    return list(tool) == ["name", "description", "parameters"] and isinstance(tool["parameters"], dict)


def texts(row: Json) -> list[str]:
    """What stands in the channel that the row names."""
    output, channel = row["output"], row["channel"]
    if channel in STRUCTURED:
        return [call[STRUCTURED[channel]] for call in output["tool_calls"]]
    return [output[channel] or ""]


@pytest.mark.parametrize("name", FILES)
def test_lines_are_written_as_json_dumps_writes_them(name: str) -> None:
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(name))
    assert (CORPUS / f"{name}.jsonl").read_bytes().decode("utf-8") == written


@pytest.mark.parametrize("name", FILES)
def test_rows_have_the_keys_of_a_row_and_no_other(name: str) -> None:
    for row in rows(name):
        assert list(row) == ROW, row["id"]
        assert list(row["output"]) == OUTPUT, row["id"]
        assert all(list(call) == ["name", "arguments"] for call in row["output"]["tool_calls"]), row["id"]
        assert all(map(is_tool, row["output"]["tools"] or ())), row["id"]
        assert all(list(call) == ["name", "arguments"] for call in row["calls"]), row["id"]


@pytest.mark.parametrize("name", FILES)
def test_words_come_from_the_closed_lists(name: str) -> None:
    for row in rows(name):
        output = row["output"]
        assert row["family"] in FAMILIES | {None}, row["id"]
        assert row["kind"] in KINDS | {None}, row["id"]
        assert row["channel"] in CHANNELS | {None}, row["id"]
        assert output["call_mode"] in CALL_MODES, row["id"]
        assert output["finish_reason"] in FINISH_REASONS, row["id"]


@pytest.mark.parametrize("name", FILES)
def test_a_row_is_explained_in_one_sentence(name: str) -> None:
    for row in rows(name):
        assert row["why"].strip() == row["why"] != "", row["id"]
        assert "\n" not in row["why"], row["id"]


@pytest.mark.parametrize("name", FILES)
def test_texts_are_text_or_null(name: str) -> None:
    for row in rows(name):
        output = row["output"]
        assert all(isinstance(output[key], str | None) for key in ("content", "reasoning")), row["id"]
        structured = [value for call in output["tool_calls"] for value in call.values()]
        assert all(isinstance(value, str) for value in structured), row["id"]


@pytest.mark.parametrize("name", FILES)
def test_kind_channel_and_calls_are_those_of_a_leak_or_absent(name: str) -> None:
    for row in rows(name):
        assert isinstance(row["leak"], bool), row["id"]
        assert (row["kind"] is not None) == row["leak"], row["id"]
        assert (row["channel"] is not None) == row["leak"], row["id"]
        assert row["leak"] or row["calls"] == [], row["id"]


@pytest.mark.parametrize("name", FILES)
def test_calls_are_a_name_and_an_object_or_null(name: str) -> None:
    for call in (call for row in rows(name) for call in row["calls"]):
        assert isinstance(call["name"], str), call
        assert call["name"], call
        assert isinstance(call["arguments"], dict | None), call


def test_leaks_name_a_family_and_belong_to_native_calling() -> None:
    """Where calls are text by design, or ruled out, no row is a leak."""
    assert [row["id"] for row in leaks() if row["family"] is None] == []
    assert [row["id"] for row in leaks() if row["output"]["call_mode"] != "native"] == []


def test_the_channel_of_a_leak_holds_text() -> None:
    assert [row["id"] for row in leaks() if not any(map(str.strip, texts(row)))] == []


def test_contamination_stands_in_structured_calls_and_nothing_else_does() -> None:
    contaminated = {row["id"] for row in leaks() if row["kind"] == "contaminated_call"}
    assert {row["id"] for row in leaks() if row["channel"] in STRUCTURED} == contaminated


def test_orphans_name_no_call() -> None:
    assert [row["id"] for row in leaks() if row["kind"] == "orphan_markup" and row["calls"]] == []


def test_a_meant_call_is_named_in_what_the_model_wrote() -> None:
    for row in leaks():
        written = json.dumps(row["output"] | {"tools": None}, ensure_ascii=False)
        assert all(call["name"] in written for call in row["calls"]), row["id"]


def test_printed_calls_are_of_offered_tools_where_the_tools_are_known() -> None:
    for row in (row for row in leaks() if row["kind"] == "printed_call"):
        tools = row["output"]["tools"]
        names = {call["name"] for call in row["calls"]}
        assert tools is None or names <= {tool["name"] for tool in tools}, row["id"]


def test_ids_are_unique_and_those_of_leak_files_begin_with_the_family() -> None:
    assert [one for one, count in Counter(row["id"] for row in everything()).items() if count > 1] == []
    for row in (*rows("leaks-open"), *rows("leaks-held")):
        assert row["id"].startswith(f"{row['family'] or 'none'}-"), row["id"]


def test_no_output_stands_twice() -> None:
    counts = Counter(json.dumps(row["output"], sort_keys=True) for row in everything())
    assert [text[:200] for text, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("name", FILES)
def test_nothing_looks_like_a_key(name: str) -> None:
    found = [row["id"] for row in rows(name) if SECRET.search(json.dumps(row, ensure_ascii=False))]
    assert found == []


def test_every_family_has_leaks_and_every_kind() -> None:
    assert {row["family"] for row in leaks()} == FAMILIES
    assert {row["kind"] for row in leaks()} == KINDS


def test_there_are_enough_leaks() -> None:
    assert len(leaks()) >= 430


def test_there_are_enough_clean_rows() -> None:
    assert sum(not row["leak"] for name in ("clean-open", "clean-held") for row in rows(name)) >= 200


@pytest.mark.parametrize("half", ["leaks", "clean"])
def test_about_a_third_is_held_back(half: str) -> None:
    held, opened = len(rows(f"{half}-held")), len(rows(f"{half}-open"))
    assert 0.28 < held / (held + opened) < 0.38
