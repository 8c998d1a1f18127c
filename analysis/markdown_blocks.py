"""The block structure of a Markdown text, as far as fenced code and the bounds of inline text depend on it.

Source: CommonMark 0.31.2, sections 2.1, 2.2, 4 and 5, and the parsing strategy of its appendix, without indented
code, HTML blocks and link reference definitions: the lines of those are paragraph text.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass

from analysis.markdown_inlines import Inlines
from analysis.markdown_lines import BLANKS, CONTENT, Line, end_of, last_content, next_line

# Only a line that starts so can open or close a block; any other is text, whatever containers are open.
_MARKED = r"(?:[ \t\r\n>#*+\-_=0-9]|```|~~~)"
_MARKED_LINE = re.compile(_MARKED)
_BEFORE_MARKED_LINE = re.compile(rf"\r\n?+(?={_MARKED})|\n(?={_MARKED})")
_BLANK_LINES = re.compile(r"(?:[ \t]*+[\r\n])++")

_HEADING = re.compile(r"#{1,6}+(?=[ \t\r\n])")
_UNDERLINE = re.compile(r"(?:=++|-++)[ \t]*+(?=[\r\n])")
_BREAKS = {mark: re.compile(rf"[{re.escape(mark)} \t]++") for mark in "-_*"}
_QUOTES = re.compile(r">(?: ?+>)*+")
_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}+[.)])(?=[ \t\r\n])")
_OPENER = re.compile(r"`{3,}+(?=[^`\r\n]*+[\r\n])|~{3,}+")
_CLOSER = re.compile(r"(`{3,}+|~{3,}+)[ \t]*+(?=[\r\n])")
_CLOSER_LINE = re.compile(rf"[\r\n] {{0,3}}+{_CLOSER.pattern}")


@dataclass(slots=True)
class Fence:
    """A fenced code block: code points from its opening run `mark` to the end of its last line's content."""

    start: int
    end: int
    mark: str


def leaf_blocks(text: str) -> list[Fence | Inlines]:
    """The fenced code blocks of `text`, and its paragraphs and headings that may hold a code span, in order."""
    return _Blocks(text).scan()


class _Blocks:
    """A cursor over the lines of a text, with the containers and the leaf block that are open there."""

    def __init__(self, text: str) -> None:
        # With an ending on the last line too, every look at the next character is in bounds.
        self.text = text if text.endswith("\n") else text + "\n"
        self.found: list[Fence | Inlines] = []
        # The open containers: 0 for a block quote, for a list item the columns its content is indented by.
        self.containers: list[int] = []
        self.quotes: list[int] = []  # where in them the block quotes stand
        self.fence: Fence | None = None
        self.paragraph: Inlines | None = None
        self.position = 0  # where the next line to read starts
        self.line = Line(self.text)
        self.item_is_empty = False  # the line before opened a list item and said no more
        self.no_break_before = 0  # one failed try at "- - - - x" speaks for all its marks

    def scan(self) -> list[Fence | Inlines]:
        # Behind the last run that could be code, only what is still open can matter.
        last = max(self.text.rfind("`"), self.text.rfind("~~~"))
        while self.position < len(self.text) and (self.position <= last or self.fence or self.paragraph):
            if self.fence and not self.containers:
                self._rest_of_fence(self.fence)
            elif blank := _BLANK_LINES.match(self.text, self.position):
                self._blank_lines(blank.end())
            elif _MARKED_LINE.match(self.text, self.position):
                self._marked_line()
            else:
                self._text_lines()
        self._close(0)
        return self.found

    def _rest_of_fence(self, fence: Fence) -> None:
        """All further lines of a fenced block that stands in no container."""
        for line in _CLOSER_LINE.finditer(self.text, self.position - 1):
            if line[1].startswith(fence.mark):
                fence.end = line.end()
                self.position = next_line(self.text, fence.end)
                break
        else:
            self.position = len(self.text)
            fence.end = last_content(self.text, self.position)
        self._close(0)

    def _blank_lines(self, end: int) -> None:
        kept = self._kept_by_blank(0)
        if self.fence and kept == len(self.containers):
            self.fence.end = last_content(self.text, end)
        else:
            self._close(kept)
        self.position, self.item_is_empty = end, False

    def _text_lines(self) -> None:
        """Lines that neither open nor close a block: they go on with a paragraph, lazily or not, or start one."""
        before = _BEFORE_MARKED_LINE.search(self.text, self.position)
        end = before.end() if before else len(self.text)
        if self.paragraph:
            self.paragraph.ends[-1] = end
        else:
            self._close(0)
            self.paragraph = Inlines([self.position], [end])
        self.position, self.item_is_empty = end, False

    def _marked_line(self) -> None:
        """A line that starts with a blank or a mark."""
        self.line.start(self.position)
        kept = self._continued_containers()
        self.item_is_empty = False
        content_end = end_of(CONTENT, self.text, self.line.next)
        self.position = next_line(self.text, content_end)
        if self.fence and kept == len(self.containers):
            self._fence_line(self.fence, content_end)
            return
        if self.fence:
            self._close(kept)
        while not (leaf := self._is_leaf(kept, content_end)) and self._opens_container(kept):
            kept = len(self.containers)
        if not leaf:
            self._text(kept)

    def _fence_line(self, fence: Fence, content_end: int) -> None:
        fence.end = content_end
        closer = _CLOSER.match(self.text, self.line.next)
        if closer and closer[1].startswith(fence.mark) and self.line.indent <= 3:
            self._close(len(self.containers))

    def _text(self, kept: int) -> None:
        """The rest of the line is blank, goes on with the paragraph (perhaps lazily), or starts one."""
        if self.text[self.line.next] in "\r\n":
            self._close(kept)
        elif not self.paragraph:
            self._close(kept)
            self.paragraph = Inlines([self.line.next], [self.position])
        elif self.line.in_quote:
            self.paragraph.starts.append(self.line.next)
            self.paragraph.ends.append(self.position)
        else:
            self.paragraph.ends[-1] = self.position

    def _continued_containers(self) -> int:
        """How many of the open containers the line goes on with; their marks and indentation are used up."""
        line, passed = self.line, 0
        for index, width in enumerate(self.containers):
            if self.text[line.next] in "\r\n":
                return self._kept_by_blank(passed)
            if width:
                if line.indent < width:
                    return index
                line.column += width
            elif line.indent > 3 or self.text[line.next] != ">":
                return index
            else:
                line.use_up_quotes(line.next + 1)
                passed += 1
        return len(self.containers)

    def _kept_by_blank(self, passed: int) -> int:
        """How many containers a blank line goes on with, if its marks were those of the first `passed` quotes.

        That is all up to the next quote, but no list item whose first two lines are blank.
        """
        if passed < len(self.quotes):
            return self.quotes[passed]
        return len(self.containers) - self.item_is_empty

    def _is_leaf(self, kept: int, content_end: int) -> bool:
        """Whether the rest of the line is a heading, its underline, a thematic break or an opening fence."""
        mark = self.text[self.line.next]
        if mark not in "=-_*#`~" or self.line.indent > 3:
            return False
        if mark in "=-" and self._goes_on_with_paragraph(kept) and _UNDERLINE.match(self.text, self.line.next):
            self._close(kept)
        elif mark == "#" and _HEADING.match(self.text, self.line.next):
            self._close(kept)
            self.paragraph = Inlines([self.line.next], [content_end])
            self._close(kept)
        elif mark in "`~" and (opener := _OPENER.match(self.text, self.line.next)):
            self._close(kept)
            self.fence = Fence(self.line.next, content_end, opener[0])
        elif self._is_thematic_break(mark):
            self._close(kept)
        else:
            return False
        return True

    def _is_thematic_break(self, mark: str) -> bool:
        if mark not in _BREAKS or self.line.next < self.no_break_before:
            return False
        end = end_of(_BREAKS[mark], self.text, self.line.next)
        if self.text[end] in "\r\n":
            return self.text.count(mark, self.line.next, end) >= 3
        self.no_break_before = end
        return False

    def _opens_container(self, kept: int) -> bool:
        """Whether block quotes or a list item open here; if so their marks are used up."""
        mark = self.text[self.line.next]
        if mark not in ">-+*0123456789" or self.line.indent > 3:
            return False
        if mark == ">":
            self._open_quotes(kept)
            return True
        item = _ITEM.match(self.text, self.line.next)
        return item is not None and self._opens_item(kept, item[0])

    def _open_quotes(self, kept: int) -> None:
        """As many block quotes as marks stand here with one space or none between them."""
        self._close(kept)
        end = end_of(_QUOTES, self.text, self.line.next)
        first, count = len(self.containers), self.text.count(">", self.line.next, end)
        self.containers += [0] * count
        self.quotes += range(first, first + count)
        self.line.use_up_quotes(end)

    def _opens_item(self, kept: int, marker: str) -> bool:
        """A list item, unless it may not interrupt a paragraph: then it is empty, or its number is not 1."""
        behind = self.line.next + len(marker)
        empty = self.text[end_of(BLANKS, self.text, behind)] in "\r\n"
        if self._goes_on_with_paragraph(kept) and (empty or int(marker[:-1] or 1) != 1):
            return False
        self._close(kept)
        start = self.line.column
        self.line.use_up_to(behind, self.line.next_column + len(marker))
        blanks = self.line.indent
        self.line.column += 1 if empty or blanks > 4 else blanks
        self.containers.append(self.line.column - start)
        self.item_is_empty = empty
        return True

    def _goes_on_with_paragraph(self, kept: int) -> bool:
        return self.paragraph is not None and kept == len(self.containers)

    def _close(self, kept: int) -> None:
        """The open leaf block ends, and so do all containers but the first `kept`."""
        if self.fence:
            self.found.append(self.fence)
        elif self.paragraph and self._holds_two_backticks(self.paragraph):
            self.found.append(self.paragraph)
        self.fence = self.paragraph = None
        if kept < len(self.containers):
            del self.containers[kept:]
            del self.quotes[bisect_left(self.quotes, kept) :]

    def _holds_two_backticks(self, inlines: Inlines) -> bool:
        bounds = inlines.starts[0], inlines.ends[-1]
        return self.text.find("`", *bounds) != self.text.rfind("`", *bounds)
