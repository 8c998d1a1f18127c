"""Conversations of agents, message by message: which are responses, where they stand, which were reprimanded.

A framework that misses a call says so to the model in a message of the user: weak evidence of a leak, kept with the
response that it answers. The response after it, or after any other nudge, is another attempt of the same round.
"""

from collections.abc import Iterator, Sequence

from ingest.shapes.blocks import asks
from ingest.shapes.nudges import complaint
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import REPRIMAND, RESULT, USER, Place

OTHER = "a message of neither the user nor the model"
NUDGED = "a message of the framework that asks to go on"


def walked(messages: Sequence[Fields]) -> Iterator[tuple[Fields, Fields | str]]:
    """Each message with the place of the response that it is, or with why it is none."""
    place = Place()
    complaints = [complaint(each.get("content")) if each.get("role") == "user" else None for each in messages]
    for message, this_one, next_one in zip(messages, complaints, [*complaints, None][1:], strict=True):
        if message.get("role") == "assistant":
            told = {"reprimand": next_one[:REPRIMAND]} if next_one else {}
            yield message, place.take() | told
        else:
            yield message, heard(place, message) or (this_one and "a reprimand of the framework") or NUDGED


def heard(place: Place, message: Fields) -> str | None:
    """Why a message that the model did not write is no response; None for a nudge. Moves `place` on."""
    match message.get("role"):
        case "user" if asks(message.get("content")):
            return USER if place.user(message.get("content")) else None
        case "user" | "tool" | "function":
            place.result()
            return RESULT
        case "system" | "developer":
            link = place.link
            place.user(message.get("content"), system=True)
            return OTHER if place.link == link else None
        case _:
            return OTHER
