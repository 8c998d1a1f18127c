"""Lists by page: how many rows one has, and the cursor that tells where the next one begins."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_json

from ingest.errors import UsageError

PAGE = 50
MOST = 500
"""Rows of a page, by default and at the most; also the generations of one run that are shown."""
_Place = TypeVar("_Place")


@dataclass(frozen=True, slots=True)
class Page:
    """Rows as plain JSON values, and the cursor of the next page; None on the last."""

    items: list[dict[str, Any]]
    next: str | None

    def as_json(self) -> dict[str, Any]:
        """The envelope of every list that has pages."""
        return {"items": self.items, "next": self.next}


def limited(limit: int) -> int:
    """`limit`; UsageError if no page has so many rows."""
    if not 1 <= limit <= MOST:
        raise UsageError(f"limit {limit}: from 1 to {MOST}")
    return limit


def page_of(found: list[dict[str, Any]], limit: int, place: Callable[[dict[str, Any]], Sequence[Any]]) -> Page:
    """The page of the rows found, of which there is one more than `limit` if another page follows; `place` tells
    where a row stands in the list."""
    shown = found[:limit]
    more = len(found) > limit
    return Page(shown, _cursor(place(shown[-1])) if more else None)


def _cursor(place: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(to_json(place)).decode().rstrip("=")


def position(cursor: str | None, place: TypeAdapter[_Place]) -> _Place | None:
    """What a cursor holds; UsageError for one that no page gave."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        return place.validate_json(text, strict=True)
    except ValueError:  # of either: pydantic's is one too
        raise UsageError(f"cursor {cursor!r}: not one that a page gave; start without it") from None
