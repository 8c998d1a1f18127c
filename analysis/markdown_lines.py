"""A line of Markdown, read from left to right in columns.

Source: CommonMark 0.31.2, sections 2.1 and 2.2. A line ends with LF, CR or both; blanks are spaces and tabs, and no
other character; a tab goes to the next column that is a multiple of four, and may be used up in part.
"""

import re

BLANKS = re.compile(r"[ \t]*+")
CONTENT = re.compile(r"[^\r\n]*+")


class Line:
    """How far the line being read is used up, and what comes next; positions are code points of `text`.

    The text must end with a line ending, so that `next` is always a character of it.
    """

    __slots__ = ("column", "in_quote", "next", "next_column", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.start(0)

    def start(self, position: int) -> None:
        """Read the line at `position`."""
        self.in_quote = False  # block quote marks of the line were used up
        self.use_up_to(position, 0)

    @property
    def indent(self) -> int:
        """The columns of blanks that come next."""
        return self.next_column - self.column

    def use_up_to(self, position: int, column: int) -> None:
        """The line is used up to `position`, which stands at `column`."""
        self.column = column
        self.next = position  # the first character from there on that is no blank ...
        self.next_column = column  # ... and the column where it stands
        if self.text[position] in " \t":
            self.next = end_of(BLANKS, self.text, position)
            self.next_column += _width(self.text[position : self.next], column)

    def use_up_quotes(self, behind: int) -> None:
        """Block quote marks from `next` to `behind`, and one column of blanks after them."""
        self.use_up_to(behind, self.next_column + behind - self.next)
        if self.next_column > self.column:
            self.column += 1
        self.in_quote = True


def next_line(text: str, content_end: int) -> int:
    """Where the line starts that follows the one whose content ends at `content_end`."""
    return content_end + (2 if text.startswith("\r\n", content_end) else 1)


def last_content(text: str, position: int) -> int:
    """Where the content of the line ends that ends, line ending and all, at `position`."""
    return position - (2 if text.endswith("\r\n", 0, position) else 1)


def end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Where the match of `pattern` at `position` ends; `position` itself if it does not match."""
    match = pattern.match(text, position)
    return match.end() if match else position


def _width(blanks: str, column: int) -> int:
    """The columns that `blanks` take from `column` on."""
    lead = column % 4
    return len((" " * lead + blanks).expandtabs(4)) - lead if "\t" in blanks else len(blanks)
