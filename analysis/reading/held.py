"""Which of many literals a text holds, in one pass over it, however many they are.

By a set of RE2, an automaton over bytes: no part of a UTF-8 character looks like another one, so that bytes find the
same as characters, and half a surrogate pair is written like any other.
"""

from collections.abc import Iterable

import re2

MEMORY = 8 * 2**20
"""Bytes that the automaton and its states may take; what is more is forgotten and made again."""


class Literals:
    """Literals to look for."""

    def __init__(self, literals: Iterable[str]) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1  # bytes as they are
        options.max_mem = MEMORY
        self._literals = sorted(set(literals))
        self._set = re2.Set.SearchSet(options)
        for each in self._literals:
            self._set.Add(re2.escape(_bytes(each)))
        self._set.Compile()

    def held(self, text: str) -> list[str]:
        """Those that `text` holds."""
        return [self._literals[at] for at in self._set.Match(_bytes(text)) or ()]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
