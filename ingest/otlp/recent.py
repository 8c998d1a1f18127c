"""What was noted lately, in bounded memory."""

from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """The last entries noted, at least half of `most` and at most all of it.

    Two halves: when the young one is full, the old one goes at once. A dict whose first entry is deleted again
    and again is walked from its start each time.
    """

    def __init__(self, most: int) -> None:
        self._half = max(most // 2, 1)
        self._young: dict[int, Value] = {}
        self._old: dict[int, Value] = {}

    def note(self, key: int, value: Value) -> None:
        """Keep an entry."""
        if len(self._young) >= self._half and key not in self._young:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def get(self, key: int) -> Value | None:
        """The value of an entry; None for one that was not noted, or long ago."""
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def __contains__(self, key: int) -> bool:
        return key in self._young or key in self._old
