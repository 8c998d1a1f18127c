"""Browsers that signed in by a key, in the memory of the service: they end with it, with their key, or in time."""

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from api.access.keys import digest

SECONDS = 12 * 3600
"""A sign-in holds no longer, however much it is used."""
MOST = 1_000
"""Sign-ins at a time; the oldest gives way."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """A browser that signed in by the key of an id. `token` is what its forms must bring."""

    key_id: str
    token: str = field(repr=False)
    until: float


class SignIns:
    """The sign-ins of a service, by the hash of what the browser's cookie holds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_cookie: OrderedDict[bytes, SignIn] = OrderedDict()

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._by_cookie)

    def begin(self, key_id: str) -> str:
        """Sign in by a key; what to put into the cookie."""
        self._forget()
        cookie = secrets.token_hex(32)
        self._by_cookie[digest(cookie)] = SignIn(key_id, secrets.token_hex(32), self._clock() + SECONDS)
        return cookie

    def find(self, cookie: str) -> SignIn | None:
        """The sign-in of this cookie, unless it has ended."""
        found = self._by_cookie.get(digest(cookie))
        if found and found.until <= self._clock():
            self.end(cookie)
            return None
        return found

    def _forget(self) -> None:
        """Those that have ended, and the oldest where there are too many: they stand in the order of their ends."""
        while self._by_cookie:
            first = next(iter(self._by_cookie.values()))
            if first.until > self._clock() and len(self._by_cookie) < MOST:
                break
            self._by_cookie.popitem(last=False)

    def end(self, cookie: str) -> None:
        """Sign out."""
        self._by_cookie.pop(digest(cookie), None)


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in constant time."""
    return hmac.compare_digest(digest(one), digest(other))
