"""Which log format a file has: its content decides, or the user does."""

from collections.abc import Sequence
from typing import Any

from ingest.errors import UnknownFormat, UsageError
from ingest.formats import Format, formats


def choose(first: Sequence[Any], name: str) -> Format:
    """The format that recognises the largest share of `first`, the decoded lines that `name` begins with.

    Of several that recognise as much, the least generic. UnknownFormat if none recognises any, or if several of
    the same rank recognise as many.
    """
    shares = {found: found.sniff(first) for found in formats()}
    best = max(shares.values(), default=0.0)
    if best <= 0:
        tried = "; ".join(f"{found.title} ({found.name})" for found in shares)
        raise UnknownFormat(f"{name}: in no format that leakdown reads: {tried}. If it is one, say --format NAME")
    top = [found for found in shares if shares[found] == best]
    top = [found for found in top if found.generic == min(each.generic for each in top)]
    if len(top) > 1:
        tied = " and ".join(found.name for found in top)
        raise UnknownFormat(f"{name}: looks like {tied} alike; say which with --format NAME")
    return top[0]


def by_name(name: str) -> Format:
    """The format called `name`; UsageError that lists them if there is none."""
    known = {found.name: found for found in formats()}
    if name not in known:
        raise UsageError(f"no format {name!r}; known are {', '.join(known)}")
    return known[name]
