"""What can be done with keys, in one place: on an open store, or through the service that owns it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

if TYPE_CHECKING:
    from api.asking import Service
    from ingest.store import Store

Json = dict[str, Any]


class Keys(Protocol):
    """The operations on keys, and the audit log. Answers are plain JSON values."""

    def listed(self) -> list[Json]:
        """All keys, oldest first, those that were revoked as well; never their texts."""
        ...

    def create(self, name: str, scopes: Sequence[str]) -> Json:
        """A new key; its text under `key`, this once."""
        ...

    def revoke(self, name: str) -> None:
        """From now on the key of this name opens nothing."""
        ...

    def log(self, limit: int) -> list[Json]:
        """Who did what: the latest entries, latest first."""
        ...


class LocalKeys:
    """Keys of an open store."""

    def __init__(self, store: "Store") -> None:
        from api.access.keys import Keyring

        self.store = store
        self.ring: Keyring = Keyring(store)

    def listed(self) -> list[Json]:
        """All keys, oldest first, those that were revoked as well; never their texts."""
        return self.ring.listed()

    def create(self, name: str, scopes: Sequence[str]) -> Json:
        """A new key; its text under `key`, this once. UsageError, Conflict."""
        made, text = self.ring.create(name, scopes)
        return {**made.as_json(), "key": text}

    def revoke(self, name: str) -> None:
        """From now on the key of this name opens nothing. NotFound."""
        self.ring.revoke(name)

    def log(self, limit: int) -> list[Json]:
        """Who did what: the latest entries, latest first."""
        from ingest.actions import actions

        return actions(self.store, limit)


class RemoteKeys:
    """Keys through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def listed(self) -> list[Json]:
        """All keys, oldest first, those that were revoked as well; never their texts."""
        found: list[Json] = self._service.ask("GET", "/v1/keys").json()
        return found

    def create(self, name: str, scopes: Sequence[str]) -> Json:
        """A new key; its text under `key`, this once. UsageError, Conflict."""
        from api.access.keys import check_new

        check_new(name, scopes)
        made: Json = self._service.ask("POST", "/v1/keys", json={"name": name, "scopes": list(scopes)}).json()
        return made

    def revoke(self, name: str) -> None:
        """From now on the key of this name opens nothing. NotFound."""
        from api.access.keys import NAME, no_key

        if not re.fullmatch(NAME, name):
            raise no_key(name)  # no address need hold it
        self._service.ask("DELETE", f"/v1/keys/{quote(name, safe='')}")

    def log(self, limit: int) -> list[Json]:
        """Who did what: the latest entries, latest first."""
        found: list[Json] = self._service.ask("GET", "/v1/actions", params={"limit": limit}).json()
        return found
