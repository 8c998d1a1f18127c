"""Conversations of agents, message by message: which are responses, where they stand, which were reprimanded.

A framework that misses a call says so to the model, mostly in a message of the user: weak evidence of a leak, kept
with the response that it answers. The response after it is another attempt of the same round.
"""

from collections.abc import Iterator, Sequence

from ingest.shapes.blocks import BESIDE_RESULTS, asks
from ingest.shapes.nudges import complaint, nudge
from ingest.shapes.openai_message import Fields, said
from ingest.shapes.told import REPRIMAND, RESULT, USER, Place

OTHER = "a message of neither the user nor the model"
NUDGED = "a message of the framework that asks to go on"
REPRIMANDED = "a reprimand of the framework"


def walked(messages: Sequence[Fields]) -> Iterator[tuple[Fields, Fields | str]]:
    """Each message with the place of the response that it is, or with why it is none."""
    place = Place()
    for message, following in zip(messages, [*messages, {}][1:], strict=True):
        if message.get("role") == "assistant":
            told = {"reprimand": said(following.get("content"))[:REPRIMAND]} if nudge(following) else {}
            yield message, place.take() | told
        else:
            yield message, heard(place, message) or _why_none(message)


def _why_none(message: Fields) -> str:
    return REPRIMANDED if complaint(message.get("content")) else NUDGED


def heard(place: Place, message: Fields) -> str | None:
    """Why a message that the model did not write is no response; None for a nudge. Moves `place` on."""
    match message.get("role"):
        case "user" if asks(message.get("content")) and BESIDE_RESULTS not in message:
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
