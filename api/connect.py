"""Which backend a command works on: the service that owns the store if there is one, else the store itself."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from api.settings import settings
from ingest.errors import UsageError

if TYPE_CHECKING:
    from analysis.alerts.files import AnyRule
    from api.backend import Backend


def store_path(given: Path | None) -> Path:
    """The store that is meant: the option, else the environment, else the default."""
    configured = settings().store
    return given or configured


def alert_rules(given: Path | None) -> "tuple[AnyRule, ...] | None":
    """The rules of alerts in the file `given`; None without one. UsageError."""
    if given is None:
        return None
    from analysis.alerts.files import load

    return load(given)


@contextmanager
def connect(given: Path | None, *, create: bool = False) -> Iterator["Backend"]:
    """The backend for the store option `given`. LEAKDOWN_URL counts where no store is named; a store that a live
    service owns is worked on through it. StoreError without a store, unless `create`."""
    from api.backend import LocalBackend
    from api.discovery import Owner, check, serving
    from ingest.store import Store

    path, url = store_path(given), settings().url
    owner = Owner(check(url), _key()) if url and not given else serving(path)
    if owner:
        from api.remote import RemoteBackend

        with closing(RemoteBackend(owner.url, owner.secret)) as remote:
            yield remote
        return
    rules = alert_rules(settings().alerts)
    with Store.open(path, create=create) as store:
        yield LocalBackend(store, rules=rules)


def _key() -> str | None:
    """The key of the environment, for LEAKDOWN_URL alone. UsageError for what is none, which is not repeated."""
    from api.access.keys import PREFIX, SHAPE

    given = settings().key
    text = given.get_secret_value().strip() if given else ""
    if text and not SHAPE.fullmatch(text):
        raise UsageError(f"LEAKDOWN_KEY: not a key; one begins with {PREFIX} and has 64 digits 0-9 a-f after it")
    return text or None
