"""Which log format a file has: its content decides, or the user does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ingest.errors import UnknownFormat, UsageError
from ingest.files.refusals import textless_kind
from ingest.formats import Format, formats

HALF = 0.5
"""Share of the first records below which a format that recognises them is only a guess."""
_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a format is a guess: `share` of the first records it recognises, and which others recognise as much."""

    guess: str
    also: tuple[str, ...]
    share: float

    def __str__(self) -> str:
        if self.also:
            return f"looks like {' and '.join((self.guess, *self.also))} alike"
        return f"looks like {self.guess}, by {self.share:.0%} of its first records"


@dataclass(frozen=True, slots=True)
class Choice:
    """A format; `key` names the list that holds the records, where the file is one object around them."""

    format: Format
    key: str | None = None
    doubt: Doubt | None = None


def decide(first: Sequence[Any], name: str, chosen: Format | None = None) -> Choice:
    """The format of a file whose first decoded records are `first`, unless it was `chosen`.

    It is the one that recognises the largest share; of several that recognise as much, the least generic, then
    the first by name, in doubt. UnknownFormat if none recognises any, with the reason where that is known.
    """
    tried = [chosen] if chosen else list(formats())
    found = _best(first, tried) or _inside(first, tried)
    if found is None and chosen is None:
        raise UnknownFormat(_unknown(first, name))
    return found or Choice(chosen or tried[0])


def choose(first: Sequence[Any], name: str) -> Format:
    """The format that `decide` finds."""
    return decide(first, name).format


def _best(first: Sequence[Any], tried: Sequence[Format], key: str | None = None) -> Choice | None:
    shares = {each: each.sniff(first) for each in tried}
    best = max(shares.values(), default=0.0)
    if best <= 0:
        return None
    top = [each for each in tried if shares[each] == best]
    rank = min(each.generic for each in top)
    guess, *also = [each for each in top if each.generic == rank]
    sure = not also and best >= HALF
    doubt = None if sure else Doubt(guess.name, tuple(each.name for each in also), best)
    return Choice(guess, key, doubt)


def _inside(first: Sequence[Any], tried: Sequence[Format]) -> Choice | None:
    """The format of the records in a list that one object holds: `{"runs": [...]}`."""
    if not first or not isinstance(first[0], dict):
        return None
    for key, inner in first[0].items():
        records = isinstance(inner, list) and all(isinstance(value, dict) for value in inner[:_SAMPLE])
        if records and inner and (found := _best(inner[:_SAMPLE], tried, key)):
            return found
    return None


def _unknown(first: Sequence[Any], name: str) -> str:
    if why := textless_kind(first):
        return f"{name}: {why}"
    tried = "; ".join(f"{found.title} ({found.name})" for found in formats())
    return f"{name}: in no format that leakdown reads: {tried}. If it is one, say --format NAME"


def by_name(name: str) -> Format:
    """The format called `name`; UsageError that lists them if there is none."""
    known = {found.name: found for found in formats()}
    if name not in known:
        raise UsageError(f"no format {name!r}; known are {', '.join(known)}")
    return known[name]
