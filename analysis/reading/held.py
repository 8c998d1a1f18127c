"""Which of many literals a text holds, found in less time than by looking through all of the text for each.

A literal with a sign in it, one that is rare in prose, can only stand around such a sign: so it is looked for there.
"""

from collections.abc import Iterable, Iterator

_SIGNS = "<[\"'|｜‖>_▁={:(."
"""The first of these that a literal holds is its sign."""


class Literals:
    """Literals to look for."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._by_sign: dict[str, list[str]] = {}
        for each in sorted(set(literals)):
            sign = next((sign for sign in _SIGNS if sign in each), "")
            self._by_sign.setdefault(sign, []).append(each)
        # of all but its sign
        self._longest = {sign: max(map(len, found)) - 1 for sign, found in self._by_sign.items()}

    def held(self, text: str) -> Iterator[str]:
        """Those that `text` holds."""
        for sign, literals in self._by_sign.items():
            if sign in text:
                around = _around(text, sign, self._longest[sign]) if sign else text
                yield from [each for each in literals if each in around]


def _around(text: str, sign: str, reach: int) -> str:
    """What of `text` stands no farther than `reach` from a `sign`."""
    kept = 2 * reach
    parts = text.split(sign)
    near = [part if len(part) <= kept else f"{part[:reach]}\0{part[-reach:]}" for part in parts[1:-1]]
    return sign.join((parts[0][-reach:], *near, parts[-1][:reach]))
