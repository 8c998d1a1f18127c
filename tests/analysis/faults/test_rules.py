"""Whose fault a leak is: every rule, in both directions, on composed leaks."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import detector, judge
from analysis.faults import FAULTS, Code, Leaked
from analysis.faults.evidence import EVIDENCE
from analysis.faults.rules import fault
from analysis.grammars import grammars
from analysis.output import Call, OfferedTool, Output
from tests.analysis.faults.leaks import TOOLS, leaked, look

HERMES = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
CODER = "<tool_call>\n<function=look>\n<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>"
SEA = CODER.replace("sky", "sea")
TYPED = CODER.replace("</function>", "<parameter=n>\n3\n</parameter>\n</function>")
CODER_HEADLESS = CODER.removeprefix("<tool_call>\n")
CODER_BROKEN = CODER.replace("<parameter=at>", "<at>")
HERMES_HEADLESS = HERMES.removeprefix("<tool_call>\n")
CLOSERS = "</parameter>\n</function>\n</tool_call>"
CUT = CODER[:45]
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>"
    '{"at": "sky"}<|tool_call_end|><|tool_calls_section_end|>'
)
KIMI_BARE = 'functions.look:0{"at": "sky"}'
BARE = '{"name": "look", "arguments": {"at": "sky"}}'
PYTHONIC = '[look(at="sky")]'
LFM2 = f"<|tool_call_start|>{PYTHONIC}<|tool_call_end|>"
CLAUDE = '<function_calls>\n<invoke name="look">\n<parameter name="at">sky</parameter>\n</invoke>\n</function_calls>'
VLLM: dict[str, Any] = {"engine": "vllm", "tool_parser": "qwen3_coder"}
NO_SCHEMA = (OfferedTool("look"),)

Row = tuple[Leaked, str, tuple[str, ...], str]
ROWS: list[Row] = [
    # calls that no parser was to read, or that no model was to write
    (leaked(CODER, call_mode="text"), "unknown", ("calls_are_text",), "calls are text by design"),
    (leaked(CODER, call_mode="none", tools=()), "unknown", ("calls_are_text",), "no calls by design"),
    (leaked(CODER, tools=()), "model", ("no_tools_offered",), "no tools were offered"),
    (leaked(CODER, tool_choice="none"), "model", ("tool_choice_none",), "the request forbade calls"),
    (leaked(CODER, tools=None), "unknown", ("tools_unknown",), "tools unknown"),
    # structured calls beside the markup
    (leaked(CODER, calls=(look(at="sky"),)), "parser", ("passed_both",), "the same call came twice"),
    (leaked(TYPED, calls=(look(n=3, at="sky"),)), "parser", ("passed_both",), "the same call, its values typed"),
    (leaked(CODER, calls=(look(at="sky"),), tools=None), "parser", ("passed_both",), "twice, the tools unknown"),
    (leaked(CODER, calls=(look(at="sea"),), **VLLM), "parser",
     ("valid_call", "beside_structured_calls", "parser_of_this_family"), "another call came as one"),
    (leaked(CODER_BROKEN, calls=(look(at="sea"),), text_fidelity="exact"), "model", ("markup_broken", "text_exact"),
     "another call came as one, and this one is broken"),
    # markup inside a structured call
    (leaked(None, channel="tool_arguments", kind="contaminated_call", calls=(Call("look", '{"at": "</x>"}'),)),
     "unknown", ("inside_a_structured_call",), "markup inside the arguments"),
    (leaked(None, channel="tool_arguments", kind="contaminated_call", raw_text=CODER,
            calls=(Call("look", '{"at": "sky\\n</parameter>"}'),)),
     "parser", ("inside_a_structured_call", "raw_text_whole"), "and the raw text has the whole call"),
    (leaked(None, channel="tool_name", kind="contaminated_call", raw_text=CODER_BROKEN, calls=(Call("look>"),)),
     "unknown", ("inside_a_structured_call",), "and the raw text is broken as well"),
    # cut
    (leaked(CUT, kind="truncated_call", finish_reason="length"), "model", ("cut_at_length",), "cut at the length"),
    (leaked(CUT, kind="truncated_call", finish_reason="MAX_TOKENS"), "model", ("cut_at_length",), "in other words"),
    (leaked(CUT, kind="truncated_call", finish_reason="length", tools=None), "model", ("cut_at_length",),
     "cut at the length, the tools unknown"),
    (leaked(CUT, kind="truncated_call", status="cut"), "unknown", ("log_cut",), "the record broke off"),
    (leaked(CUT, kind="truncated_call", status="cancelled"), "unknown", ("log_cut",), "the reply was cancelled"),
    (leaked(CUT, kind="truncated_call", text_fidelity="truncated"), "unknown", ("log_cut",), "the log cuts its texts"),
    (leaked(CUT, kind="truncated_call", finish_reason="stop", text_fidelity="exact"), "model",
     ("markup_broken", "text_exact"), "the model ended inside the call"),
    (leaked(CUT, kind="truncated_call", finish_reason="stop"), "unknown", ("markup_broken", "text_not_exact"),
     "it ends inside the call, and who ended it is not told"),
    (leaked(CUT, kind="truncated_call", finish_reason="length", raw_text=CODER), "parser",
     ("raw_text_whole", "frame_taken"), "the raw text went on"),
    (leaked(CODER, finish_reason="length", **VLLM), "parser", ("valid_call", "parser_of_this_family"),
     "the length ended the reply after a whole call"),
    # raw text
    (leaked(CLOSERS, kind="orphan_markup", raw_text=f"Let me.\n{CODER}"), "parser", ("raw_text_whole", "frame_taken"),
     "closers are left of a whole call"),
    (leaked(CODER_HEADLESS, kind="malformed_call", raw_text=CODER, **VLLM), "parser", ("raw_text_whole", "frame_taken"),
     "the opening was taken"),
    (leaked(CODER_HEADLESS, kind="malformed_call", raw_text=CODER, engine="vllm", tool_parser="hermes"),
     "template_and_parser", ("raw_text_whole", "frame_taken", "parser_of_another_family"),
     "the opening was taken by a parser for another syntax"),
    (leaked(CODER_HEADLESS, kind="malformed_call", raw_text=f"I look.\n{CODER_HEADLESS}"), "model",
     ("frame_broken", "raw_text_same"), "the model left out the opening"),
    (leaked(CLOSERS, kind="orphan_markup", raw_text=f"Done. {CLOSERS}"), "model", ("frame_broken", "raw_text_same"),
     "the model wrote closers alone"),
    (leaked(CODER_BROKEN, kind="malformed_call", raw_text=CODER_BROKEN), "model", ("markup_broken", "raw_text_same"),
     "the model wrote it broken"),
    (leaked(CODER_BROKEN, kind="malformed_call", raw_text="I look."), "unknown", ("raw_text_differs",),
     "the raw text is of something else"),
    (leaked(CODER, raw_text="I look."), "unknown", ("raw_text_differs",), "a valid call that the raw text has not"),
    (leaked(CODER, raw_text=CODER, **VLLM), "parser", ("valid_call", "raw_text_whole", "parser_of_this_family"),
     "a valid call, in the raw text too"),
    (leaked(KIMI_BARE, kind="stripped_call", raw_text=KIMI), "parser", ("raw_text_whole", "special_tokens_gone"),
     "special tokens that the raw text has"),
    (leaked(KIMI_BARE, kind="stripped_call", raw_text=KIMI_BARE), "unknown", ("frame_gone",),
     "special tokens that the raw text has not either"),
    (leaked(BARE, kind="printed_call", raw_text=HERMES), "parser", ("raw_text_whole", "frame_taken"),
     "a printed call whose frame the raw text has"),
    (leaked(PYTHONIC, raw_text=LFM2, engine="vllm", tool_parser="lfm2"), "parser",
     ("raw_text_whole", "special_tokens_gone"), "a bare list whose frame the raw text has"),
    (leaked(CODER_BROKEN, kind="malformed_call", raw_text=f"{SEA}\n{CODER_BROKEN}", calls=(look(at="sea"),)),
     "model", ("markup_broken", "raw_text_same"), "the whole call of the raw text came as one"),
    (leaked(CODER_BROKEN, kind="malformed_call", raw_text=f"{CODER}\n{CODER_BROKEN}"), "model",
     ("markup_broken", "raw_text_same"), "a whole call and a broken one of the same tool: the broken one is this"),
    # reasoning
    (leaked(CODER, channel="reasoning"), "unknown", ("in_reasoning",), "in the reasoning"),
    (leaked(CODER, channel="reasoning", raw_text=f"<think>Hm.</think>\n{CODER}"), "parser",
     ("valid_call", "thinking_was_closed"), "behind thinking that was closed"),
    (leaked(CODER, channel="reasoning", raw_text=f"<think>Hm.\n{CODER}"), "model", ("thinking_left_open",),
     "inside thinking that was not"),
    (leaked(CODER, channel="reasoning", raw_text=CODER), "unknown", ("in_reasoning",), "no thinking in the raw text"),
    # what cannot be read, or whom it calls
    (leaked("I will look at the sky now:"), "unknown", ("no_markup",), "a call in words"),
    (leaked(CODER.replace("look", "rm")), "model", ("name_not_offered",), "a tool that was not offered"),
    (leaked(CODER.replace("look", "rm"), tools=None), "unknown", ("tools_unknown",), "nobody knows what was"),
    # without a frame
    (leaked(KIMI_BARE, kind="stripped_call", engine="sglang"), "parser", ("special_tokens_gone",),
     "special tokens are gone"),
    (leaked(KIMI_BARE.replace("at", "on"), kind="stripped_call"), "unknown", ("frame_gone",),
     "and the arguments do not fit"),
    (leaked('look{"at": "sky"}', kind="stripped_call"), "unknown", ("frame_gone",), "a shape of several families"),
    (leaked(BARE, kind="printed_call"), "unknown", ("printed",), "printed JSON"),
    (leaked(BARE, kind="printed_call", engine="vllm", tool_parser="qwen3_coder"), "unknown", ("printed",),
     "printed JSON, and a parser of markup"),
    (leaked(BARE, kind="printed_call", engine="vllm", tool_parser="hermes"), "unknown", ("frame_gone",),
     "printed JSON, which may be left of the parser's own syntax"),
    (leaked(BARE, kind="printed_call", engine="vllm", tool_parser="llama3_json"), "parser",
     ("valid_call", "parser_of_this_family"), "printed JSON is what this parser reads"),
    (leaked(PYTHONIC, engine="vllm", tool_parser="lfm2"), "unknown", ("frame_gone",),
     "a bare list, which may be left of the parser's own syntax"),
    (leaked(PYTHONIC, engine="vllm", tool_parser="pythonic"), "parser", ("valid_call", "parser_of_this_family"),
     "a bare list is what this parser reads"),
    # damage
    (leaked(CODER_HEADLESS, kind="malformed_call", text_fidelity="exact"), "model", ("frame_broken", "text_exact"),
     "no opening, which no decoder drops"),
    (leaked(HERMES_HEADLESS, kind="malformed_call", text_fidelity="exact"), "unknown", ("frame_gone",),
     "no opening, which a decoder may drop"),
    (leaked(CODER_HEADLESS, kind="malformed_call"), "unknown", ("frame_broken", "text_not_exact"),
     "no opening, in a text of which nothing is told"),
    (leaked(CLOSERS, kind="orphan_markup", text_fidelity="exact"), "model", ("frame_broken", "text_exact"),
     "closers alone"),
    (leaked(CODER_BROKEN, kind="malformed_call", text_fidelity="exact"), "model", ("markup_broken", "text_exact"),
     "a broken parameter"),
    (leaked(CODER_BROKEN, kind="malformed_call", text_fidelity="normalised"), "unknown",
     ("markup_broken", "text_not_exact"), "a broken parameter in a normalised text"),
    (leaked(HERMES.replace("}}", "}"), kind="malformed_call", text_fidelity="exact"), "model",
     ("markup_broken", "text_exact"), "a brace is missing"),
    # valid calls
    (leaked(CODER, **VLLM), "parser", ("valid_call", "parser_of_this_family"), "the parser for it missed it"),
    (leaked(f"I look.\n{CODER}", markup=CODER, **VLLM), "parser", ("valid_call", "parser_of_this_family"),
     "behind prose"),
    (leaked(CODER, engine="vllm", tool_parser="hermes"), "template_and_parser",
     ("valid_call", "parser_of_another_family"), "the parser is for another syntax"),
    (leaked(HERMES, engine="vllm", tool_parser="hermes"), "parser", ("valid_call", "parser_of_this_family"), "Hermes"),
    (leaked(HERMES, engine="vllm", tool_parser="qwen3_coder"), "template_and_parser",
     ("valid_call", "parser_of_another_family"), "and the other way round"),
    (leaked(CODER, engine="vllm", tool_parser="my_plugin"), "parser", ("valid_call", "parser_unknown"),
     "a parser of one's own"),
    (leaked(CODER, engine="vllm"), "parser", ("valid_call", "parser_not_told"), "no parser is told"),
    (leaked(CODER, engine="vllm", template="qwen3-coder"), "parser", ("valid_call", "parser_not_told"),
     "no parser is told, and the template teaches it"),
    (leaked(CODER, engine="vllm", template="hermes"), "template_and_parser",
     ("valid_call", "parser_not_told", "template_of_another_family"), "the template teaches another syntax"),
    (leaked(CODER), "parser", ("valid_call", "parser_not_told", "engine_unknown"), "no engine is told"),
    (leaked(CODER, engine="lm-studio"), "parser", ("valid_call", "parser_not_told", "no_parser_there"),
     "the engine has no parser for it"),
    (leaked(CLAUDE, engine="vllm"), "unknown", ("no_parser_anywhere",), "no engine has one"),
    (leaked(CODER, tools=NO_SCHEMA, **VLLM), "parser", ("valid_call", "schema_unknown", "parser_of_this_family"),
     "no schema in the log"),
    (leaked(CODER.replace("=at", "=on"), **VLLM), "unknown", ("arguments_unfit",), "an unknown parameter"),
    (leaked(TYPED.replace("3", "three"), **VLLM), "unknown", ("arguments_unfit",), "a wrong type"),
    (leaked(CODER, text_fidelity="rebuilt", **VLLM), "unknown", ("text_not_exact",), "the log rebuilt its text"),
    (leaked(CODER, text_fidelity="redacted", **VLLM), "parser", ("valid_call", "parser_of_this_family"),
     "something else was redacted"),
]  # fmt: skip


@pytest.mark.parametrize(("leak", "of", "evidence"), [pytest.param(*row[:3], id=row[3]) for row in ROWS])
def test_a_rule(leak: Leaked, of: str, evidence: tuple[str, ...]) -> None:
    found = fault(leak)
    assert (found.fault, found.evidence) == (of, evidence), found.reason
    assert (found.setting is not None) <= (of in ("parser", "template_and_parser"))


def test_every_code_of_evidence_is_tested_and_told_in_words() -> None:
    assert {code for row in ROWS for code in row[2]} == set(get_args(Code)) == EVIDENCE.keys()
    assert {row[1] for row in ROWS} == set(FAULTS)


def test_the_setting_is_that_of_the_markup_and_the_reason_a_sentence() -> None:
    found = fault(leaked(CODER, engine="vllm", tool_parser="hermes"))
    assert found.as_json() == {
        "fault": "template_and_parser",
        "evidence": ["valid_call", "parser_of_another_family"],
        "reason": "The markup is a whole call of an offered tool, in the syntax of qwen3_coder_xml; the parser hermes "
        "reads another syntax",
        "family": "qwen3_coder_xml",
        "setting": {
            "engine": "vLLM",
            "family": "qwen3_coder_xml",
            "parsers": ["qwen3_coder", "qwen3_xml", "mimo", "step3p5"],
            "setting": "--enable-auto-tool-choice --tool-call-parser qwen3_coder",
            "source": "vllm-project/vllm vllm/tool_parsers/qwen3coder_tool_parser.py",
            "described": "docs.vllm.ai/en/latest/features/tool_calling",
            "note": "or qwen3_xml, mimo, step3p5",
            "configured": False,
        },
    }


def test_names_out_of_a_log_are_told_as_they_are() -> None:
    found = fault(leaked(CODER, engine="{0.__class__}", tool_parser="{parser}<b>%s"))
    assert "{parser}<b>%s" in found.reason


EXAMPLES = [text for grammar in grammars() for text in grammar.examples.values()]
PIECES = st.sampled_from([*EXAMPLES, CUT, CLOSERS, KIMI_BARE, BARE, "I look. ", "<think>", "</think>", "\n", "\ud800"])
TEXTS = st.one_of(st.none(), st.lists(PIECES, max_size=4).map("".join))
LOGGED = st.sampled_from([None, "", "vllm", "ollama", "hermes", "qwen3_coder", "none", "exact", "rebuilt", "{x}"])


@given(
    content=TEXTS,
    reasoning=TEXTS,
    raw_text=TEXTS,
    told=st.fixed_dictionaries(dict.fromkeys(("engine", "tool_parser", "template", "text_fidelity", "status"), LOGGED)),
    tools=st.sampled_from([TOOLS, NO_SCHEMA, (), None]),
    calls=st.sampled_from([(), (look(at="sky"),), (Call("look", "{"),)]),
)
def test_any_leak_has_one_fault_with_its_reason(
    content: str | None,
    reasoning: str | None,
    raw_text: str | None,
    told: dict[str, str | None],
    tools: tuple[OfferedTool, ...] | None,
    calls: tuple[Call, ...],
) -> None:
    output = Output(content, reasoning, calls, tools, frozenset({"look"}))
    found = judge(detector("leakdown@1"), output)
    if found is None:
        return
    of = fault(Leaked(output, found, raw_text, **told))
    assert of.fault in FAULTS
    assert of.evidence
    assert of.reason
    assert (of.fault == "unknown") <= (of.setting is None)
