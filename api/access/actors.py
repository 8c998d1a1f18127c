"""Who asks: a key, a browser that signed in by one, whoever works on this machine, or nobody."""

from collections.abc import Collection
from dataclasses import dataclass, field

from api.access.keys import SCOPES, Key
from ingest.actions import LOCAL


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, and what they may. `key_id`: by which key, if by one. `token`: what a form of theirs must bring, if
    they signed in, since a browser sends its cookie with any form."""

    name: str
    scopes: frozenset[str]
    key_id: str | None = None
    token: str | None = field(default=None, repr=False)

    def may(self, needed: Collection[str]) -> bool:
        """Whether one of the scopes `needed` is theirs; admin is all."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(needed)


NOBODY = Actor("nobody", frozenset())
ON_THE_MACHINE = Actor(LOCAL, frozenset(SCOPES))


def with_key(key: Key, token: str | None = None) -> Actor:
    """Whoever has this key."""
    return Actor(key.name, frozenset(key.scopes), key.key_id, token)
