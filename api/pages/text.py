"""Text of models and files on a page: what cannot be seen is made visible, what is long is cut around its mark.

Everything here is hostile: it is escaped, and no control or direction character of it reaches the page.
"""

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

MOST = 4_000
"""Characters of one text that a page shows."""

_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
"""Marks that combine with any letter. No writing needs more than four on one."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
    f"|(?<={_MARKS}{{4}}){_MARKS}"
)
"""Controls (but tab and line feed), bidirectional and zero-width characters, surrogates, variation selectors, tags;
and marks piled so high that they would cover other lines, or make a letter wider than a window."""
_PICTURES = 0x2400
"""Where Unicode has pictures of the C0 controls."""


def visible(text: object) -> Markup:
    """`text`, escaped, with each character that cannot be seen replaced by its picture or code point."""
    given = str(text)
    parts: list[Markup] = []
    seen = 0
    for found in _UNSEEN.finditer(given):
        parts += [escape(given[seen : found.start()]), _shown(found[0])]
        seen = found.end()
    return Markup("").join([*parts, escape(given[seen:])])


def _shown(char: str) -> Markup:
    code = ord(char)
    picture = chr(_PICTURES + code) if code < 0x20 else f"[U+{code:04X}]"
    return Markup('<span class="ctl" title="{}">{}</span>').format(f"U+{code:04X}", picture)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, or the part of it around its mark; `hidden_*` count the characters that are not shown."""

    before: str
    marked: str = ""
    after: str = ""
    hidden_before: int = 0
    hidden_marked: int = 0
    hidden_after: int = 0

    @property
    def hidden(self) -> int:
        """Characters that are not shown."""
        return self.hidden_before + self.hidden_marked + self.hidden_after


@dataclass(frozen=True, slots=True)
class Window:
    """Which code points of a text are shown: from `low` to `start`, marked to `cut`, and from `end` to `high`.

    `cut` is less than `end` where the mark itself is longer than is shown.
    """

    low: int
    start: int
    cut: int
    end: int
    high: int


def window(start: int, end: int, most: int = MOST) -> Window:
    """What to show of a text whose [start, end) is marked: `most` characters of the mark and at least a quarter of
    that around it. `high` may lie behind the text's end."""
    cut = min(end, start + most)
    room = max(most - (cut - start), most // 4) // 2
    return Window(max(0, start - room), start, cut, end, end + room)


def passage(text: str, span: tuple[int, int] | None, most: int = MOST) -> Passage:
    """The part of `text` around `span`, which is marked; its head without one."""
    if span is None:
        return Passage(text[:most], hidden_after=max(0, len(text) - most))
    part = window(*span, most)
    return Passage(
        text[part.low : part.start],
        text[part.start : part.cut],
        text[part.end : part.high],
        part.low,
        part.end - part.cut,
        max(0, len(text) - part.high),
    )
