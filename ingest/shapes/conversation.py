"""Conversations of agents, message by message: which are responses, where they stand, which were reprimanded.

A framework that misses a call says so to the model in a message of the user: weak evidence of a leak, kept with the
response that it answers. The response after it is another attempt of the same round.
"""

from collections.abc import Iterator, Sequence

from ingest.shapes.blocks import asks, said
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import REPRIMAND, RESULT, USER, Place

_REPRIMANDS = (
    "[ERROR] You did not use a tool in your previous response",  # Cline, Roo
    "No tool calls found in the response",  # mini-swe-agent
    "Your last response did not include a function call or a message",  # OpenHands
)
OTHER = "a message of neither the user nor the model"


def reprimand(message: Fields) -> str | None:
    """The framework's complaint about a missing call that `message` is."""
    return complaint(said(message.get("content"))) if message.get("role") == "user" else None


def complaint(text: str) -> str | None:
    """The start of `text` if it is a framework's complaint about a missing call."""
    return text[:REPRIMAND] if any(known in text for known in _REPRIMANDS) else None


def walked(messages: Sequence[Fields]) -> Iterator[tuple[Fields, Fields | str]]:
    """Each message with the place of the response that it is, or with why it is none."""
    place = Place()
    complaints = [reprimand(message) for message in messages]
    for message, this_one, next_one in zip(messages, complaints, [*complaints, None][1:], strict=True):
        match message.get("role"):
            case "assistant":
                told = {"reprimand": next_one} if next_one else {}
                yield message, place.take(failed=bool(next_one)) | told
            case "user" if this_one:
                yield message, "a reprimand of the framework"
            case "user" if asks(message.get("content")):
                place.user()
                yield message, USER
            case "user":
                yield message, RESULT
            case _:
                yield message, OTHER
