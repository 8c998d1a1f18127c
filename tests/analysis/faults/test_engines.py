"""The table of engines and parsers: every row, by a call of its family that stayed text."""

import pytest

from analysis.faults.engines import Engine, Reader, engine_named, engines, families_named, families_read, setting_for
from analysis.faults.rules import fault
from analysis.grammars import grammars
from tests.analysis.faults.leaks import leaked

EXAMPLES = {family: text for grammar in grammars() for family, text in grammar.examples.items()} | {
    "xlam": '[{"name": "look", "arguments": {"at": "sky"}}]'
}
"""A whole call of each family, of `look` at the sky."""
BARE = {"bare_json_offered_tool", "glm4_name_newline_json", "xlam", "ui_tars"}
"""Families that write a call with nothing around it."""

every_row = pytest.mark.parametrize(
    ("engine", "row"),
    [pytest.param(each, row, id=f"{each.name} {row.family}") for each in engines() for row in each.readers],
)


@every_row
def test_a_call_that_stayed_text_is_the_parsers_and_names_the_setting(engine: Engine, row: Reader) -> None:
    found = fault(leaked(EXAMPLES[row.family], engine=engine.title))
    if row.family in BARE:
        assert (found.fault, found.evidence) == ("unknown", ("printed",))
        return
    assert (found.fault, found.family) == ("parser", row.family), found.reason
    assert found.evidence == ("valid_call", "parser_not_told")
    assert found.setting == setting_for(engine.name, row.family)
    assert found.setting is not None
    assert found.setting.source == row.source
    assert (row.parsers[0] if row.parsers else engine.otherwise) in found.setting.setting
    assert not found.setting.configured


@every_row
def test_each_parser_is_known_for_what_it_reads(engine: Engine, row: Reader) -> None:
    for parser in row.parsers:
        assert row.family in families_read(parser, engine.name)
        found = fault(leaked(EXAMPLES[row.family], engine=engine.name, tool_parser=parser))
        assert (found.fault, found.evidence) == ("parser", ("valid_call", "parser_of_this_family")), found.reason
        assert found.setting is not None
        assert found.setting.configured


@pytest.mark.parametrize("engine", [pytest.param(each, id=each.name) for each in engines()])
def test_what_an_engine_must_tell(engine: Engine) -> None:
    families = [row.family for row in engine.readers]
    assert len(set(families)) == len(families)
    assert all(row.source for row in engine.readers)
    assert engine.setting.count("{parser}") == (1 if any(row.parsers for row in engine.readers) else 0)
    assert engine.otherwise or all(row.parsers for row in engine.readers)
    assert engine_named(engine.name) is engine_named(engine.title) is engine


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("vLLM", "vllm", id="as it is written"),
        pytest.param("llama-server", "llama_cpp", id="by its server"),
        pytest.param("llama.cpp", "llama_cpp", id="with a dot"),
        pytest.param("LM Studio", "lm_studio", id="with a blank"),
        pytest.param("lm-studio", "lm_studio", id="with a hyphen"),
        pytest.param("Rapid-MLX", "rapid_mlx", id="not mlx-lm"),
        pytest.param("openrouter", None, id="no engine"),
        pytest.param("", None, id="nothing"),
        pytest.param(None, None, id="not told"),
    ],
)
def test_how_logs_call_an_engine(name: str | None, expected: str | None) -> None:
    found = engine_named(name)
    assert (found.name if found else None) == expected


@pytest.mark.parametrize(
    ("parser", "engine", "expected"),
    [
        pytest.param("qwen3_coder", "vllm", {"qwen3_coder_xml"}, id="one family"),
        pytest.param("Qwen3-Coder", "vllm", {"qwen3_coder_xml"}, id="in another spelling"),
        pytest.param("mistral", "vllm", {"mistral_old_json", "mistral_v11_args"}, id="two families"),
        pytest.param("hermes", "vllm", {"hermes_json"}, id="as this engine has it"),
        pytest.param("hermes", "Rapid-MLX", {"hermes_json", "function_eq_json", "qwen3_coder_xml"},
                     id="as another engine has it"),
        pytest.param("glm45", "lm-studio", {"glm_arg_kv"}, id="a name that only other engines have"),
        pytest.param("my_plugin", "vllm", set(), id="a parser of one's own"),
        pytest.param("", "vllm", set(), id="an empty name"),
        pytest.param(None, "vllm", set(), id="not told"),
    ],
)  # fmt: skip
def test_what_a_parser_reads(parser: str | None, engine: str, expected: set[str]) -> None:
    assert families_read(parser, engine) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("qwen3-coder", {"qwen3_coder_xml"}, id="called after a parser"),
        pytest.param("hermes_json", {"hermes_json"}, id="called after a family"),
        pytest.param("chatml", set(), id="called after neither"),
        pytest.param(None, set(), id="not told"),
    ],
)
def test_what_a_template_teaches(template: str | None, expected: set[str]) -> None:
    assert families_named(template) == expected


def test_a_setting_names_the_others_that_would_do_and_what_is_special() -> None:
    found = setting_for("vllm", "glm_arg_kv", "glm47")
    assert found is not None
    assert found.setting == "--enable-auto-tool-choice --tool-call-parser glm45"
    assert (
        found.note == "or glm47, poolside_v1, hyperclovax_seed_think; hyperclovax_seed_think stands in a fork @256c701"
    )
    assert found.configured


@pytest.mark.parametrize(
    ("engine", "family"),
    [
        pytest.param("my-engine", "hermes_json", id="an unknown engine"),
        pytest.param("ollama", "kimi_k2", id="a family that the engine has no parser for"),
        pytest.param("vllm", "claude_function_calls", id="a family that no engine reads"),
    ],
)
def test_where_nothing_is_known_to_be_set(engine: str, family: str) -> None:
    assert setting_for(engine, family) is None
