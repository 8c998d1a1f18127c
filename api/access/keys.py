"""Keys: 256 random bits behind a prefix by which secret scanners find them. The store has their hashes alone.

SHA-256 without salt or stretching is enough for a secret that is random throughout: there is nothing to guess.
"""

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import uuid4

from ingest.actions import LOCAL, note
from ingest.errors import Conflict, NotFound, UsageError
from ingest.store import Cursor, Store

Scope = Literal["ingest", "read", "label", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "leakdown_"
SHAPE = re.compile(rf"{PREFIX}[0-9a-f]{{64}}")
"""The text of a key."""
NAME = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"
MOST = 1_000
"""Keys in use: each request compares with all of them."""

_ALL = """
SELECT key_id::VARCHAR, name, digest, scopes, created_at, last_used_at, revoked_at FROM keys ORDER BY created_at, name
"""
_ADD = "INSERT INTO keys VALUES ($key_id, $name, $digest, $scopes, $created_at, NULL, NULL)"
_REVOKE = "UPDATE keys SET revoked_at = $at WHERE name = $name AND revoked_at IS NULL RETURNING name"
_USED = "UPDATE keys SET last_used_at = $at WHERE key_id::VARCHAR = $key_id"


@dataclass(frozen=True, slots=True)
class Key:
    """A key as the store has it; times are UTC."""

    key_id: str
    name: str
    digest: bytes = field(repr=False)
    scopes: tuple[str, ...]
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values without the hash; times in ISO 8601, UTC."""
        times = {name: getattr(self, name) for name in ("created_at", "last_used_at", "revoked_at")}
        told = {name: f"{at.isoformat(timespec='seconds')}Z" if at else None for name, at in times.items()}
        return {"name": self.name, "scopes": list(self.scopes), **told}


def digest(text: str) -> bytes:
    """The hash of a key's text, or of any other secret."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Keyring:
    """The keys of an open store, which are held in memory too: all changes go through here."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._held: tuple[Key, ...] | None = None
        self._used: dict[str, datetime] = {}

    def all(self) -> tuple[Key, ...]:
        """All keys, oldest first, those that were revoked as well."""
        held = self._held
        if held is not None:
            return held
        with self._lock, self._store.cursor() as cursor:
            self._held = _all(cursor)
            return self._held

    @property
    def in_force(self) -> bool:
        """Whether a key is asked for: once there was one, also after the last one was revoked."""
        return bool(self.all())

    def alive(self) -> list[Key]:
        """The keys that open something."""
        return [key for key in self.all() if key.revoked_at is None]

    def find(self, text: str) -> Key | None:
        """The key of this text. It is compared with every key, each in constant time."""
        given, found = digest(text), None
        for key in self.alive():
            if hmac.compare_digest(key.digest, given):
                found = key
        return found

    def by_id(self, key_id: str) -> Key | None:
        """The key of this id, unless it was revoked."""
        return next((key for key in self.alive() if key.key_id == key_id), None)

    def create(self, name: str, scopes: Sequence[str]) -> tuple[Key, str]:
        """A new key, and its text, which is nowhere else. UsageError for a name or scope that is none, Conflict for a
        name in use."""
        check_new(name, scopes)
        text = PREFIX + secrets.token_hex(32)
        chosen = tuple(each for each in SCOPES if each in scopes)
        made = Key(str(uuid4()), name, digest(text), chosen, datetime.now(UTC).replace(tzinfo=None))
        with self._changing() as cursor:
            _refuse_more(_all(cursor), name)
            cursor.execute(_ADD, {part: getattr(made, part) for part in _PARTS})
            note(cursor, "create key", f"{name} ({', '.join(chosen)})")
        return made, text

    def revoke(self, name: str) -> None:
        """From now on the key of this name opens nothing. NotFound."""
        with self._changing() as cursor:
            at = datetime.now(UTC).replace(tzinfo=None)
            if not cursor.execute(_REVOKE, {"name": name, "at": at}).fetchall():
                raise no_key(name)
            note(cursor, "revoke key", name)

    def used(self, key: Key) -> None:
        """Remember that a key was used; `keep_uses` writes it down."""
        self._used[key.key_id] = datetime.now(UTC).replace(tzinfo=None)

    def keep_uses(self) -> None:
        """Write down when keys were last used."""
        uses = dict(self._used)
        if uses:
            with self._changing() as cursor:
                for key_id, at in uses.items():
                    cursor.execute(_USED, {"key_id": key_id, "at": at})
            self._used = {key_id: at for key_id, at in dict(self._used).items() if uses.get(key_id) != at}

    def listed(self) -> list[dict[str, Any]]:
        """All keys as plain JSON values, with uses that are not yet written down."""
        keys = self.all()
        return [replace(key, last_used_at=self._used.get(key.key_id, key.last_used_at)).as_json() for key in keys]

    @contextmanager
    def _changing(self) -> Iterator[Cursor]:
        """A transaction, after which what is held in memory is what the store has, before anyone looks again."""
        with self._lock:
            with self._store.brief() as cursor:
                yield cursor
            with self._store.cursor() as cursor:
                self._held = _all(cursor)


_PARTS = ("key_id", "name", "digest", "scopes", "created_at")


def _all(cursor: Cursor) -> tuple[Key, ...]:
    rows = cursor.execute(_ALL).fetchall()
    return tuple(Key(key_id, name, found, tuple(scopes), *times) for key_id, name, found, scopes, *times in rows)


def no_key(name: str) -> NotFound:
    """There is no such key, or none any more."""
    return NotFound(f"no key {name!r} in use; `leakdown keys list` lists them")


def check_new(name: str, scopes: Sequence[str]) -> None:
    """UsageError for a name or a scope that is none."""
    if not re.fullmatch(NAME, name) or name == LOCAL:
        raise UsageError(f"{name!r} cannot be the name of a key: up to 64 letters, digits, . _ @ -, and not {LOCAL!r}")
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        told = f"unknown scope {', '.join(unknown)}" if unknown else "a key needs a scope"
        raise UsageError(f"{told}; there are {', '.join(SCOPES)}")


def _refuse_more(there: Sequence[Key], name: str) -> None:
    alive = [key for key in there if key.revoked_at is None]
    if any(key.name == name for key in alive):
        raise Conflict(f"a key {name!r} is in use; revoke it first, or choose another name")
    if len(alive) >= MOST:
        raise Conflict(f"{MOST:,} keys are in use, which is the most; revoke one first")
