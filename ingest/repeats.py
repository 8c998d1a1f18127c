"""Values that a log repeats on every line, as it does its tool list: what is made of one is made once.

Equal values become one object; what was made of that is then known by its identity. Nobody may change what comes from
here.
"""

import marshal
from collections.abc import Callable
from typing import Any, Generic, TypeVar

_MOST, _LONGEST = 64, 1 << 16
"""Values that are known again, and bytes of one that may be: together a few megabytes."""

_equal: dict[bytes, Any] = {}
_ones: dict[int, Any] = {}
"""The same by their identity; they stay alive here, so that no other object takes it over."""


def one_of_equals(value: Any) -> Any:
    """The first that was met of the JSON values that equal `value`, or `value`. Marshalled, 1 and 1.0 and True differ,
    and so do the orders of keys."""
    if id(value) in _ones:
        return value
    try:
        key = marshal.dumps(value, 2)  # version 2 writes equal values alike
    except ValueError:  # it holds something other than JSON values
        return value
    found = _equal.get(key)
    if found is None and len(key) <= _LONGEST:
        if len(_equal) >= _MOST:
            _equal.clear()
            _ones.clear()
        _equal[key] = _ones[id(value)] = value
    return value if found is None else found


Made = TypeVar("Made")


class MadeOnce(Generic[Made]):
    """What was made of the values that are repeated, by one pure function."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Made]] = {}

    def of(self, value: Any, make: Callable[[Any], Made]) -> Made:
        """`make(value)`, kept if `value` comes from `one_of_equals`."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        made = make(value)
        if id(value) in _ones:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[id(value)] = value, made
        return made
