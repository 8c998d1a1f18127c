"""Reading a call out of text: what a grammar is given, and what it answers.

A grammar reads tolerantly and says what is wrong. It never executes anything, and it never guesses: an argument
whose end the text does not show has no value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Damage = Literal[
    "opener_missing",  # the call stands without the wrapper or token that should open it, or without its first sign
    "closer_missing",  # complete, but its outermost closer never comes
    "wrong_closer",  # closed by another tag
    "cut",  # the text ends inside the call
    "fused",  # two parts of the frame run together
    "look_alike",  # a token in other characters or under another name than its own
    "stripped",  # the special tokens are gone
    "escaped",  # backslashes where the frame has none
    "wrong_header",  # a parameter or inner tag of another form
    "json_damage",  # JSON that needed repair
    "noise",  # other tokens in or behind the frame
    "orphan",  # closers or stray tokens alone
]
Damages = frozenset[Damage]

CHARGE_FACTOR, CHARGE_FREE = 24, 1 << 20
"""How much may be looked at: so many characters for each of the text, and so many free."""
HONEST = 32
"""What a reading gives back for each of its characters, at most what it took: a text of nothing but calls is read to
its end, while what finds nothing is still bounded."""
STEP = 24
"""Looking at one token costs as much as passing so many characters."""
MINIMAX = "]<]minimax[>["
"""MiniMax M3 writes it before each of its tags; it is blanked in the folded text."""
BLANKS = " \t\r\n\f\v\u200b\ufeff"
_FOLD = str.maketrans({"｜": "|", "‖": "|", "▁": "_"})


@dataclass(slots=True)
class Scan:
    """One text being read: the offered names, and how much looking is left.

    `folded` is the text with the look-alike characters of wire tokens in ASCII, character for character, so that
    positions hold in both. Hostile text makes every opening look promising; the budget keeps the reading linear.
    `end` is where its content ends, without blanks behind; `minimax` tells whether MiniMax M3's mark stands in it.
    `memo` keeps what was read at a position, since several grammars look at the same one.
    """

    text: str
    names: frozenset[str] = frozenset()
    folded: str = field(init=False)
    end: int = field(init=False)
    minimax: bool = field(init=False)
    left: int = field(init=False)
    memo: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        folded = self.text if self.text.isascii() else self.text.translate(_FOLD)
        self.minimax = MINIMAX in folded
        self.end = len(self.text.rstrip(BLANKS))
        if self.minimax:
            self.end = _without_cut_mark(folded, self.end)
            folded = folded.replace(MINIMAX, " " * len(MINIMAX))
            folded = folded[: self.end] + " " * (len(folded) - self.end)
        self.folded = folded
        self.left = CHARGE_FACTOR * len(self.text) + CHARGE_FREE

    def charge(self, characters: int, steps: int = 1) -> bool:
        """Take so much from the budget; False once it is spent."""
        self.left -= characters + STEP * steps
        return self.left > 0

    def earn(self, before: int, characters: int) -> None:
        """Give back what a reading of so many characters took, `before` having been left before it."""
        self.left += min(before - self.left, HONEST * characters)


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call read from text. `arguments` is None where the text does not tell the whole of them; `closed` holds
    those that the text tells whole. `typed` is False where values are raw text, to be typed by the tool's schema."""

    name: str
    arguments: Mapping[str, Any] | None
    start: int
    end: int
    closed: Mapping[str, Any] = field(default_factory=dict)
    typed: bool = True
    arguments_text: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A stretch of text that one family explains.

    `marked`: markup of the family stands there; else only its shape does, which counts for an offered name alone.
    `fenced`: its own syntax holds a Markdown fence.
    """

    family: str
    start: int
    end: int
    calls: tuple[TextCall, ...]
    damage: Damages = frozenset()
    marked: bool = True
    fenced: bool = False


def damages(*found: Damage | None) -> Damages:
    """The damages among `found` that are there."""
    return frozenset(each for each in found if each)


def union(parts: Iterable[Damages]) -> Damages:
    """All damages of several parts."""
    return frozenset[Damage]().union(*parts)


def _without_cut_mark(text: str, end: int) -> int:
    """`end` of `text`, or where a piece of MiniMax's mark begins there."""
    start = text.rfind(MINIMAX[:2], max(0, end - len(MINIMAX) + 1), end)
    if text[max(0, end - 2) : end] in (">]", "\n]"):
        return end - 1
    return start if start >= 0 and MINIMAX.startswith(text[start:end]) else end


def skip_blanks(text: str, at: int) -> int:
    """The first position from `at` on that holds no blank."""
    end = len(text)
    while at < end and text[at] in BLANKS:
        at += 1
    return at


def partial(scan: Scan, at: int, token: str) -> bool:
    """True if the text ends within `token` at `at`, at least two characters of it being there."""
    return 1 < scan.end - at < len(token) and token.startswith(scan.folded[at : scan.end])
