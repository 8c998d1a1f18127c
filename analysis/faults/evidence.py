"""What each code of evidence says, in words for a person."""

from collections.abc import Iterable

from analysis.faults import Code

EVIDENCE: dict[Code, str] = {
    "calls_are_text": "calls were text by design, so no parser was to read them",
    "no_tools_offered": "no tools were offered, so the model was not to call any",
    "tool_choice_none": "the request said tool_choice none, so the model was not to call and no parser looked",
    "tools_unknown": "the log does not tell which tools were offered, so no call can be checked",
    "passed_both": "the same call came as a structured one too: the parser read it and let its text through",
    "inside_a_structured_call": "the markup stands inside a structured call that a parser made",
    "cut_at_length": "the length limit ended the reply inside the call",
    "log_cut": "the record itself breaks off, so the call may have gone on",
    "raw_text_whole": "the raw text before the parser holds the whole valid call",
    "raw_text_same": "the raw text before the parser holds the same markup, sign for sign",
    "raw_text_differs": "the raw text before the parser holds neither this markup nor a whole call",
    "frame_taken": "a part of the call was taken out on the way to the client",
    "special_tokens_gone": "the family's special tokens are gone: a decoder drops them unless it is told to keep them "
    "(skip_special_tokens), which the family's parser does",
    "in_reasoning": "the call stands in the reasoning, and nothing shows whether the model had ended it",
    "thinking_was_closed": "the raw text closes the thinking before the call, which still came as reasoning",
    "thinking_left_open": "the raw text shows the call inside thinking that the model had not closed",
    "no_markup": "no syntax of a known family stands there",
    "name_not_offered": "it calls a tool that was not offered",
    "printed": "the call is printed without any frame, as many models do without a parser's being to blame",
    "frame_gone": "the frame is missing, and the log does not tell who left it out",
    "frame_broken": "the frame of the call is incomplete",
    "markup_broken": "the markup is not well formed",
    "text_exact": "the log's text is exact",
    "text_not_exact": "the log does not say that its text is what the engine sent",
    "arguments_unfit": "the markup is whole, but its arguments do not fit the tool's schema: few parsers mind, so "
    "either may have kept it text",
    "valid_call": "the markup is a whole call of an offered tool, in the syntax of {family}",
    "schema_unknown": "the log has no schema to check its arguments by",
    "beside_structured_calls": "other calls of the same reply were parsed",
    "parser_of_this_family": "the parser {parser} reads that syntax, and did not here",
    "parser_of_another_family": "the parser {parser} reads another syntax",
    "parser_unknown": "the parser {parser} is not known here",
    "parser_not_told": "the log names no parser; often none is set",
    "template_of_another_family": "the template {template} teaches another syntax",
    "engine_unknown": "the log names no engine that is known here",
    "no_parser_there": "no parser of {engine} is known for it",
    "no_parser_anywhere": "no engine's parser is known for it",
}


def in_words(codes: Iterable[Code], **names: str | None) -> str:
    """The evidence as one sentence without a full stop. `names` are what the codes speak of; from a log, so hostile."""
    told = "; ".join(EVIDENCE[code].format_map({name: value or "?" for name, value in names.items()}) for code in codes)
    return told[:1].upper() + told[1:]
