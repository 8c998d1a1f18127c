"""Good answers that only quote tool-call markup: what a careless detector takes for a leak."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quote:
    """An answer about markup; `bare` is the marker that stands in it outside Markdown code, if one does."""

    text: str
    bare: str | None = None


QUOTES = (
    Quote(
        "The template of [file] asks for this form:\n\n```xml\n<tool_call>\n<function=read_file>\n"
        "<parameter=path>\n[file]\n</parameter>\n</function>\n</tool_call>\n```\n\nAll closers are required."
    ),
    Quote(
        "A test for the decoder could feed it a block without its opener:\n\n~~~text\n<function=run_tests>\n"
        "<parameter=path>\ntests\n</parameter>\n</function>\n</tool_call>\n~~~\n\nIt should be refused."
    ),
    Quote(
        "In [file] the sample for the other family reads:\n\n```\n[TOOL_CALLS]search_text[ARGS]"
        '{"pattern": "[word]"}\n```\n\nIt has no closing marker.'
    ),
    Quote("The marker in [file] is `<tool_call>`; inside it, `<function=` opens the line with the name."),
    Quote("Names go into `<function=NAME>` and values into `<parameter=KEY>`. [file] shows both."),
    Quote("That family writes `<|tool_call_begin|>` and `<|tool_call_end|>`, each one token; see [file]."),
    Quote("`[TOOL_CALLS]` is a control token, so a plain decode of [file] drops it and leaves the arguments."),
    Quote("The parser expects <function=identifier> here, and [file] passes a path.", "<function=identifier>"),
    Quote(
        "A header such as <function=name> must come first; in [file] a parameter precedes it.",
        "<function=name>",
    ),
    Quote(
        "The grammar of [file] has [number] rules. The start rule reads <function=IDENT> and then a newline.",
        "<function=IDENT>",
    ),
    Quote(
        "Line [number] of [file] compares the prefix with <function= byte by byte, which is why it is slow.",
        "<function= ",
    ),
    Quote(
        "Without the <tool_call> envelope the decoder treats the text as an answer. See [file].",
        "<tool_call>",
    ),
    Quote(
        "The old writer put <function=NAME> before and </function> after each call; [file] still does.",
        "<function=NAME>",
    ),
)
