"""Runs that no log names: records of one file whose history continues an earlier record's; and where in its run a
response stands, told by the history that it was asked with.

Clients rewrite what they send back (reasoning goes, arguments are re-serialised), so a message is known again
by its role, its text and the ids of its tool calls. Only hashes are kept: Python's own, keyed anew in each
process and so safe from made-up collisions, for linking; BLAKE2b for the ids, which must stay.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from ingest.repeats import MadeOnce
from ingest.shapes.history import Numbers, begun, walk
from ingest.shapes.nudges import nudge
from ingest.shapes.openai_message import Fields, part_text
from ingest.shapes.told import Place

Message = dict[str, Any]
START = 0
_RESPONSE = "response"
_offers = MadeOnce[bytes]()
"""Tool lists as JSON."""


def digest(value: Any) -> bytes:
    """The 16-byte hash of a JSON value."""
    return blake2b(to_json(value), digest_size=16).digest()


def joint_digest(messages: bytes, other: bytes) -> bytes:
    """The `digest` of the pair of two values that are JSON already."""
    return blake2b(b"[%b,%b]" % (messages, other), digest_size=16).digest()


class Threads:
    """The runs of one file so far; linear in its messages."""

    def __init__(self) -> None:
        self._after: dict[int, str] = {}
        """The run that stands at a conversation, by the hash of its messages up to an answer of the model."""
        self._asked: dict[int, str] = {}
        """The run that asked with a conversation."""
        self._issuer: dict[int, str | None] = {}
        """The run that issued a tool-call id; None if several did, as `call_1` is by every one."""
        self._begun: dict[bytes, int] = {}
        self._numbers: dict[str, Numbers] = {}
        self._places: dict[int, Place] = {}
        """Where the run stood after a response with an id."""
        self._hashed: tuple[Sequence[Message], list[int]] = ((), [START])
        """The messages hashed last, for they are asked for twice."""
        self._written: tuple[Sequence[Message], bytes] = ((), b"[]")
        """The messages last written as JSON, for the same reason."""

    def run_of(self, messages: Sequence[Message], answers: Sequence[Message]) -> str:
        """The run of a request with `messages` that was answered by `answers`, one a choice.

        It is that of the longest earlier conversation that `messages` begin with; else of the only run that
        issued a tool-call id in them; else of the one that asked the same before a nudge at their end; else a new
        one, named by its first request and answers.
        """
        states, kept = self._states(messages), _before_nudges(messages)
        run = self._continued(states) or self._caller(messages)
        run = run or (self._asked.get(states[kept]) if kept < len(messages) else None)
        run = run or self._begin(messages, answers)
        self._asked.setdefault(states[-1], run)
        for answer in answers:
            said = _fingerprint(answer, "assistant")
            self._after[hash((states[-1], said))] = self._after[hash((states[kept], said))] = run
            for call_id in _issued(answer):
                if self._issuer.setdefault(hash(call_id), run) != run:
                    self._issuer[hash(call_id)] = None
        return run

    def place(self, run: str, messages: Sequence[Message], name: Hashable = None) -> Fields:
        """Turn, round and attempt of the response to a request with the whole history `messages`, and what links it
        to the one before (`linked_by`); nothing without a history. `name` is the response's id: the same one told
        twice is no second attempt."""
        if not messages:
            return {}
        place, story, root = walk(messages)
        states, fields = self._states(messages), place.here()
        numbers = self._numbers.get(run) or self._numbers.setdefault(run, Numbers())
        fields["turn"], clear = numbers.turn(states[root], fields["turn"], states[story], fresh=not place.rounds)
        again = numbers.again(states[-1], name)
        if again:
            return fields | {"attempt": place.attempt + again, "linked_by": "identical_request"}
        return fields if clear else fields | {"linked_by": "unclear"}

    def issue(self, response_id: str, run: str) -> None:
        """Note that a response with this id is of `run`: a later request may name it in place of its history."""
        self._issuer[hash((_RESPONSE, response_id))] = run

    def issued(self, response_id: Any) -> str | None:
        """The run of the response with this id, if it was noted."""
        return self._issuer.get(hash((_RESPONSE, response_id))) if isinstance(response_id, str) else None

    def place_after(self, previous: Any, messages: Sequence[Message], response_id: Any) -> Fields:
        """The place of the response `response_id` to a request that names the response `previous` in place of its
        history and adds `messages`; nothing if `previous` is not known. Without one it begins a run."""
        before = (
            Place() if previous is None else self._places.get(hash(previous)) if isinstance(previous, str) else None
        )
        if before is None:
            return {}
        place = begun(replace(before), messages)
        told = place.take()
        if isinstance(response_id, str):
            self._places[hash(response_id)] = place
        return told

    def request(self, messages: Sequence[Message], tools: Any) -> bytes:
        """The hash of a request with `messages` that offers `tools`."""
        return joint_digest(self._json(messages), _offers.of(tools, to_json))

    def _json(self, messages: Sequence[Message]) -> bytes:
        if self._written[0] is not messages:
            self._written = messages, to_json(messages)
        return self._written[1]

    def _states(self, messages: Sequence[Message]) -> list[int]:
        """The hashes of the conversation after none, one, … all of `messages`."""
        if self._hashed[0] is not messages:
            self._hashed = messages, _states(messages)
        return self._hashed[1]

    def _continued(self, states: list[int]) -> str | None:
        return next((self._after[state] for state in reversed(states) if state in self._after), None)

    def _caller(self, messages: Sequence[Message]) -> str | None:
        ids = (call_id for message in reversed(messages) for call_id in (*_issued(message), *_answered(message)))
        return next((run for call_id in ids if (run := self._issuer.get(hash(call_id)))), None)

    def _begin(self, messages: Sequence[Message], answers: Sequence[Message]) -> str:
        name = joint_digest(self._json(messages), to_json(answers))
        again = self._begun.get(name, 0)
        self._begun[name] = again + 1
        return f"t{name.hex()}-{again}" if again else f"t{name.hex()}"


def _before_nudges(messages: Sequence[Message]) -> int:
    """How many messages stand before the nudges at the end; a conversation does not begin with one."""
    kept = len(messages)
    while kept > 1 and nudge(messages[kept - 1]):
        kept -= 1
    return kept


def _states(messages: Sequence[Message]) -> list[int]:
    states = [START]
    for message in messages:
        states.append(hash((states[-1], _fingerprint(message, message.get("role")))))
    return states


def _fingerprint(message: Message, role: Any) -> int:
    content = message.get("content")
    return hash((str(role), text_of(content), *_issued(message), 0, *_answered(message)))


def text_of(content: Any) -> str:
    """The text of a content; absent, null and empty are one, for clients turn each into another."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return to_json(content).decode() if content else ""
    texts = (part_text(part) for part in content)
    return "".join(to_json(part).decode() if text is None else text for part, text in zip(content, texts, strict=True))


def _issued(message: Message) -> list[str]:
    """The ids of the tool calls that a message makes."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    ids = (call.get("id") for call in calls if isinstance(call, dict))
    return [call_id for call_id in ids if isinstance(call_id, str) and call_id]


def _answered(message: Message) -> list[str]:
    """The id of the tool call that a message answers."""
    call_id = message.get("tool_call_id")
    return [call_id] if isinstance(call_id, str) and call_id else []
