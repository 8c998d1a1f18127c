"""Which of many literals a text holds, found in less time than by looking through all of the text for each.

A literal with a sign in it, one that is rare in prose, can only stand around such a sign: so it is looked for there.
"""

from collections.abc import Iterable, Iterator

_SIGNS = "<[\"'|｜‖>_▁={:(."
"""The first of these that a literal holds is its sign."""
PIECE = 64
"""Bytes that a string takes besides its characters."""


class Literals:
    """Literals to look for."""

    def __init__(self, literals: Iterable[str]) -> None:
        every = sorted(set(literals))
        self._every = _by_sign(every)
        self._ascii = _by_sign([each for each in every if each.isascii()])

    def held(self, text: str) -> Iterator[str]:
        """Those that `text` holds."""
        for sign, literals, reach in self._ascii if text.isascii() else self._every:
            if sign in text:
                around = _around(text, sign, reach) if sign else text
                yield from [each for each in literals if each in around]


def _by_sign(literals: Iterable[str]) -> list[tuple[str, list[str], int]]:
    """The literals of each sign, and how many characters the longest has besides it."""
    found: dict[str, list[str]] = {}
    for each in literals:
        found.setdefault(next((sign for sign in _SIGNS if sign in each), ""), []).append(each)
    return [(sign, those, max(map(len, those)) - 1) for sign, those in found.items()]


def _around(text: str, sign: str, reach: int) -> str:
    """What of `text` stands no farther than `reach` from a `sign`; all of it where signs stand close together."""
    kept = 2 * reach
    if text.count(sign) * (kept + PIECE) >= len(text):
        return text  # the pieces would take as much as all of it
    parts = text.split(sign)
    near = [part if len(part) <= kept else f"{part[:reach]}\0{part[-reach:]}" for part in parts[1:-1]]
    return sign.join((parts[0][-reach:], *near, parts[-1][:reach]))
