"""What the session logs of agent tools share: counted steps, bounded memory, ids that outlive a copied session."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ingest.shapes.nudges import Nudge, nudge_in
from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import digest

PART = "part of a response told on several lines"
COPY = "a copy of a response already read"
NOTICE = "a notice of the tool, no output of a model"
NO_GENERATION = "no response of a model"

REPRIMAND = 500
"""Characters of a reprimand that are kept."""
LASTING = 20
"""Characters from which on an id is taken for random; `call_1` and `msg_mock` are given out again and again."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The entries used last, `size` of them: a file has millions of lines."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        """The entry, which counts as used now."""
        if key not in self._entries:
            return None
        self._entries[key] = value = self._entries.pop(key)
        return value

    def put(self, key: Key, value: Value) -> Value:
        """Keep an entry and give it back; the one unused for longest makes room."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._size:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = value
        return value


@dataclass(slots=True)
class Steps:
    """Turn, round and attempt of the generations of one run, in their order."""

    turn: int = -1
    round: int = -1
    attempt: int = 0
    asked: bool = True
    nudged: Nudge | None = None

    def ask(self, content: Any = None) -> None:
        """A user asked for something: what follows is another turn, unless it is the nudge of a host."""
        kind = nudge_in(content) if self.round >= 0 and not self.asked else None
        if kind:
            self.nudge(kind)
        else:
            self.asked, self.nudged = True, None

    def nudge(self, kind: Nudge = "reprimand") -> None:
        """The tool asked the model to try again: what follows is another attempt."""
        self.nudged = kind if self.round >= 0 and not self.asked else None

    def next(self) -> Fields:
        """The fields of the next generation."""
        again = self.nudged and not self.asked
        link = self.nudged if again else "new_turn" if self.asked else "next_round"
        self.turn += self.asked
        self.round += not again
        self.attempt = self.attempt + 1 if again else 0
        self.asked, self.nudged = False, None
        place = {"turn": self.turn, "round": self.round, "linked_by": link}
        return place | ({"attempt": self.attempt} if again else {})


def request(tool: str, *ids: Any) -> bytes | None:
    """What names a request in every copy of its session: the first id that nobody else gives out; None for none.

    Counters are no such ids, nor is what a local server makes up, such as `functions.ls:0`.
    """
    lasting = (each for each in ids if isinstance(each, str) and len(each) >= LASTING and ":" not in each)
    found = next(lasting, None)
    return None if found is None else digest([tool, found])


def texts(value: Any, *keys: str) -> Fields:
    """Those of `keys` that hold a text in `value`."""
    return {key: value[key] for key in keys if isinstance(value.get(key), str)}


def counts(usage: Any, **names: str) -> Fields:
    """Token counts under our names, which stand for theirs; nothing else of `usage`."""
    found = usage if isinstance(usage, dict) else {}
    numbers = {ours: found.get(theirs) for ours, theirs in names.items()}
    good = {ours: number for ours, number in numbers.items() if type(number) is int and 0 <= number < 2**63}
    return {"usage": good} if good else {}
