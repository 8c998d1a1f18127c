"""What the routes of keys answer: the keys that stay."""

from api.access.keys import Scope
from api.routes.answers.base import Answer, Moment, like

_KEY = {
    "name": "agents", "scopes": ["ingest"], "created_at": "2026-11-01T12:00:00Z", "last_used_at": None,
    "revoked_at": None,
}  # fmt: skip


class ListedKey(Answer):
    """A key, without its text: that was told once. `last_used_at` is an hour late at most."""

    model_config = like(**_KEY)

    name: str
    scopes: list[Scope]
    created_at: Moment
    last_used_at: Moment | None
    revoked_at: Moment | None


class NewKey(ListedKey):
    """A new key with its text, this once."""

    model_config = like(**_KEY, key="leakdown_…")

    key: str


class LoggedAction(Answer):
    """Who did what, and when. `by` is the name of a key, or `local`: on the machine itself, or without keys."""

    model_config = like(at="2026-11-01T12:00:00Z", by="ana", action="promote", object="goat@1")

    at: Moment
    by: str
    action: str
    object: str
