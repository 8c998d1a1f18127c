"""Hostile texts for the Markdown scanner: its time grows with their length, and no faster."""

from collections.abc import Callable
from time import process_time

import pytest

from analysis.markdown import code_regions

RUNS = " `` ` ``` "


def runs_of_all_lengths(size: int) -> str:
    """Backtick runs, each one longer than the one before."""
    return " ".join("`" * length for length in range(1, int((2 * size) ** 0.5)))


def repeated(piece: str) -> Callable[[int], str]:
    """`piece` again and again, with runs at the end that might be a span's, so that all of it must be read."""
    return lambda size: piece * (size // len(piece)) + RUNS


def nested(opener: str, line: str) -> Callable[[int], str]:
    """A third of the text nests containers by `opener`; the rest are lines that may meet all of them."""
    return lambda size: opener * (size // 3 // len(opener)) + "a\n" + line * (size * 2 // 3 // len(line)) + RUNS


HOSTILE = [
    pytest.param(repeated("<tool_call>\n"), id="lines of opening tags"),
    pytest.param(repeated("`<tool_call>`"), id="quoted opening tags"),
    pytest.param(repeated("<tool_call>{"), id="opening tags in one line"),
    pytest.param(runs_of_all_lengths, id="backtick runs of all lengths"),
    pytest.param(repeated("` `` "), id="backtick runs of two lengths"),
    pytest.param(repeated("a`\n"), id="a backtick on each line"),
    pytest.param(repeated("\\`"), id="escaped backticks"),
    pytest.param(repeated("# `\n"), id="headings with a lone backtick"),
    pytest.param(repeated("```\n"), id="fences"),
    pytest.param(lambda size: "~~~\n" + "``` a\n" * (size // 6), id="closers that do not close"),
    pytest.param(repeated("```a`\n"), id="openers that are none"),
    pytest.param(repeated("> ```\n\n"), id="fences that end with their quotes"),
    pytest.param(repeated(">"), id="nested quotes"),
    pytest.param(repeated("> - "), id="nested quotes and items"),
    pytest.param(repeated("- "), id="nested items that may be a thematic break"),
    pytest.param(repeated("* - + "), id="nested items of three kinds"),
    pytest.param(repeated("1. "), id="nested numbered items"),
    pytest.param(repeated(">" * 500 + "\n"), id="lines of many quote marks"),
    pytest.param(nested("- ", "\n"), id="blank lines in nested items"),
    pytest.param(nested("- ", " \n"), id="blank lines with blanks in nested items"),
    pytest.param(nested("- ", "  \\\n"), id="lazy lines in nested items"),
    pytest.param(nested("- ", "-a\n"), id="lazy lines with a mark in nested items"),
    pytest.param(lambda size: "> " + nested("- ", ">\n")(size), id="blank quoted lines over nested items"),
    pytest.param(lambda size: "> " + nested("- > ", ">\n")(size), id="blank quoted lines over nested quotes"),
    pytest.param(lambda size: "- " * (size // 4) + "a\n" + " " * (size // 2) + "b" + RUNS, id="one wide indent"),
    pytest.param(repeated("\n"), id="blank lines"),
    pytest.param(repeated(" "), id="blanks"),
    pytest.param(repeated("\t"), id="tabs"),
    pytest.param(repeated("-"), id="dashes"),
    pytest.param(repeated("="), id="equals signs"),
    pytest.param(repeated("-\n"), id="empty items"),
    pytest.param(repeated("<!--"), id="comments that do not end"),
    pytest.param(repeated("<?"), id="instructions that do not end"),
    pytest.param(repeated("<!X"), id="declarations that do not end"),
    pytest.param(repeated("<![CDATA["), id="CDATA sections that do not end"),
    pytest.param(repeated("<a b='"), id="attributes that do not end"),
    pytest.param(repeated("<a b='c <a b=\"c "), id="attributes in two kinds of quotes"),
    pytest.param(lambda size: "<a" + repeated(" b=c")(size), id="a tag of many attributes"),
    pytest.param(repeated("<a@b."), id="addresses that do not end"),
    pytest.param(lambda size: "<a@" + repeated("b-")(size), id="an address of many hyphens"),
    pytest.param(repeated("[]("), id="links that do not end"),
    pytest.param(repeated("a"), id="one long line"),
]


@pytest.mark.parametrize("text_of", HOSTILE)
@pytest.mark.parametrize(
    "size", [pytest.param(60_000, id="240 kB"), pytest.param(250_000, marks=pytest.mark.slow, id="1 MB")]
)
def test_time_grows_linearly(text_of: Callable[[int], str], size: int) -> None:
    """Four times the text takes less than eight times as long (a quadratic scan: sixteen); the best of three."""
    small, large = text_of(size), text_of(4 * size)
    ratios = (seconds(large) / max(seconds(small), 0.0005) for _ in range(3))
    assert any(ratio < 8 for ratio in ratios)


def seconds(text: str) -> float:
    start = process_time()
    code_regions(text)
    return process_time() - start
