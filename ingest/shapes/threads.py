"""Runs that no log names: records of one file whose history continues an earlier record's.

Clients rewrite what they send back (reasoning goes, arguments are re-serialised), so a message is known again
by its role, its text and the ids of its tool calls. Only hashes are kept: Python's own, keyed anew in each
process and so safe from made-up collisions, for linking; BLAKE2b for the ids, which must stay.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from ingest.shapes.openai_message import part_text

Message = dict[str, Any]
START = 0
_RESPONSE = "response"


def digest(value: Any) -> bytes:
    """The 16-byte hash of a JSON value."""
    return blake2b(to_json(value), digest_size=16).digest()


class Threads:
    """The runs of one file so far; linear in its messages."""

    def __init__(self) -> None:
        self._after: dict[int, str] = {}
        """The run that stands at a conversation, by the hash of its messages up to an answer of the model."""
        self._issuer: dict[int, str | None] = {}
        """The run that issued a tool-call id; None if several did, as `call_1` is by every one."""
        self._begun: Counter[bytes] = Counter()

    def run_of(self, messages: Sequence[Message], answers: Sequence[Message]) -> str:
        """The run of a request with `messages` that was answered by `answers`, one a choice.

        It is that of the longest earlier conversation that `messages` begin with; else of the only run that
        issued a tool-call id in them; else a new one, named by its first request and answers.
        """
        states = _states(messages)
        run = self._continued(states) or self._caller(messages) or self._begin(messages, answers)
        for answer in answers:
            self._after[hash((states[-1], _fingerprint(answer, "assistant")))] = run
            for call_id in _issued(answer):
                if self._issuer.setdefault(hash(call_id), run) != run:
                    self._issuer[hash(call_id)] = None
        return run

    def issue(self, response_id: str, run: str) -> None:
        """Note that a response with this id is of `run`: a later request may name it in place of its history."""
        self._issuer[hash((_RESPONSE, response_id))] = run

    def issued(self, response_id: Any) -> str | None:
        """The run of the response with this id, if it was noted."""
        return self._issuer.get(hash((_RESPONSE, response_id))) if isinstance(response_id, str) else None

    def _continued(self, states: list[int]) -> str | None:
        return next((self._after[state] for state in reversed(states) if state in self._after), None)

    def _caller(self, messages: Sequence[Message]) -> str | None:
        ids = (call_id for message in reversed(messages) for call_id in (*_issued(message), *_answered(message)))
        return next((run for call_id in ids if (run := self._issuer.get(hash(call_id)))), None)

    def _begin(self, messages: Sequence[Message], answers: Sequence[Message]) -> str:
        name = digest([messages, answers])
        self._begun[name] += 1
        again = self._begun[name] - 1
        return f"t{name.hex()}-{again}" if again else f"t{name.hex()}"


def _states(messages: Sequence[Message]) -> list[int]:
    """The hashes of the conversation after none, one, … all of `messages`."""
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
