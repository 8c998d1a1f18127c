"""Wrong keys, rate-limited by where they come from; in bounded memory, whoever sends them.

The limit is on failures alone. A right key always opens: 256 random bits are not guessed, and behind one proxy the
wrong key of one would else lock all the others out.
"""

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

AT_ONCE = 10
"""Failures that are answered one after the other."""
EVERY = 6.0
"""Seconds for one more."""
MOST = 1_000
"""Addresses that are told apart; what comes from others counts together."""


class Failures:
    """How many wrong keys came from each address, as a leaky bucket each (ITU-T I.371, GCRA)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._empty_at: dict[str, float] = {}

    def __len__(self) -> int:
        """Addresses that are remembered."""
        return len(self._empty_at)

    def count(self, address: str) -> float:
        """Count a failure; the seconds to wait if it is one too many, which is not counted, else 0."""
        now, where = self._clock(), self._bucket(address)
        empty_at = max(self._empty_at.get(where, now), now)
        too_early = empty_at - (AT_ONCE - 1) * EVERY - now
        if too_early > 0:
            return too_early
        self._empty_at[where] = empty_at + EVERY
        return 0.0

    def _bucket(self, address: str) -> str:
        where, now = _network(address), self._clock()
        if where not in self._empty_at and len(self._empty_at) >= MOST:
            self._empty_at = {each: at for each, at in self._empty_at.items() if at > now}
            return where if len(self._empty_at) < MOST else ""
        return where


def _network(address: str) -> str:
    """An IPv4 address as it is; of IPv6 the network, of which a client has as many addresses as it likes."""
    try:
        given = ip_address(address)
    except ValueError:
        return ""
    return str(int(given) >> 64) if isinstance(given, IPv6Address) else address
