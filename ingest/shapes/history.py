"""Where a response stands in its run, by the history that it was asked with: order and file do not matter for it.

A turn is known by its history up to the user's message that began it, so that requests of one turn share it, and
conversations that merely share a run (sub-agents, titles, what a summary replaced) do not.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from ingest.shapes.conversation import heard
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import Place


def walk(messages: Sequence[Fields]) -> tuple[Place, int, int]:
    """The place of the response to `messages`; how many of them stand up to the user's message that began its turn,
    and up to the first one of the user."""
    place = Place()
    story = root = 0
    for number, message in enumerate(messages, 1):
        users = place.users
        _hear(place, message)
        if place.users > users:
            story, root = number, root or number
    return place, story, root


def begun(place: Place, messages: Sequence[Fields]) -> Place:
    """`place` moved on by `messages`."""
    for message in messages:
        _hear(place, message)
    return place


def _hear(place: Place, message: Fields) -> None:
    if message.get("role") == "assistant":
        place.take()
    else:
        heard(place, message)


@dataclass(slots=True)
class Numbers:
    """The numbers of one run's turns, and the requests that it made."""

    _turns: dict[int, int] = field(default_factory=dict)
    """The number of a turn, by the hash of its story."""
    _told: dict[tuple[int, int], int] = field(default_factory=dict)
    """The story that the n-th turn of a conversation has, by that conversation's root and n."""
    _roots: set[int] = field(default_factory=set)
    _taken: set[int] = field(default_factory=set)
    _free: int = 0
    """No number from here on is taken."""
    _asked: dict[int, dict[Hashable, int]] = field(default_factory=dict)
    """The names of the responses to the same request, numbered."""

    def turn(self, root: int, number: int, story: int, *, fresh: bool) -> tuple[int, bool]:
        """The number in the run of a conversation's turn `number`, and whether it is clear where it comes from.

        It is not where the same turn had another story before (history was rewritten), and where a conversation whose
        beginning was not seen (not `fresh`) stands beside others, as after a summary.
        """
        if story in self._turns:
            return self._turns[story], True
        seen = root in self._roots
        clear = (root, number) not in self._told if seen else fresh or not self._roots
        self._roots.add(root)
        self._told.setdefault((root, number), story)
        own = self._free if number in self._taken else number
        self._taken.add(own)
        self._free = max(self._free, own + 1)
        self._turns[story] = own
        return own, clear

    def again(self, asked: int, name: Hashable) -> int:
        """How many other responses were asked for in the same words before."""
        names = self._asked.setdefault(asked, {})
        return names.setdefault(object() if name is None else name, len(names))
