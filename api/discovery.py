"""How commands find the service that owns a store: a small file beside it, and whether it is stale."""

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.errors import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
PROBE_SECONDS = 2.0


def notice(store: Path) -> Path:
    """The file beside `store` that says who serves it."""
    return store.with_name(f"{store.name}.service.json")


@dataclass(frozen=True, slots=True)
class Owner:
    """The service that owns a store: its address, and the secret that lets in whoever may read the notice."""

    url: str
    secret: str | None = field(default=None, repr=False)


@contextmanager
def announced(store: Path, url: str, instance: str, secret: str) -> Iterator[None]:
    """While it lasts, commands on `store` find the service at `url`, and are let in by `secret`: those that may read
    the notice, which are its owner's alone."""
    path = notice(store)
    temporary = path.with_name(f".{path.name}.new")  # only the owner of the store writes it: a crash leaves one at most
    temporary.unlink(missing_ok=True)
    told = {"url": url, "pid": os.getpid(), "instance": instance, "secret": secret}
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(told) + "\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    try:
        yield
    finally:
        if _read(path).get("instance") == instance:
            path.unlink(missing_ok=True)


def new_instance() -> str:
    """A name for one life of a service."""
    return secrets.token_hex(8)


def new_secret() -> str:
    """What lets in whoever may read the notice, for one life of a service."""
    return secrets.token_hex(32)


def is_public(host: str) -> bool:
    """Whether others than this machine can reach a service on `host`."""
    return host.lower() not in LOOPBACK


def host_of(authority: str) -> str:
    """The host of `host:port`, without brackets."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]


def serving(store: Path) -> Owner | None:
    """The live service that owns `store`; None if there is none, or only a stale notice.

    A notice that names another machine is no service's: they announce themselves on loopback alone, and a file
    that came with a folder sends nobody's logs elsewhere.
    """
    noted = _read(notice(store))
    url, instance = noted.get("url"), noted.get("instance")
    if not isinstance(url, str) or not isinstance(instance, str):
        return None
    scheme, _, authority = url.partition("://")
    if scheme != "http" or host_of(authority) not in LOOPBACK:
        return None
    secret = noted.get("secret")
    found = Owner(url, secret if isinstance(secret, str) else None)
    return found if _instance_at(url) == instance else None


def without_password(url: str) -> str:
    """An address to be shown: without a name and a password in it."""
    return re.sub(r"//[^/]*@", "//", url)


def check(url: str) -> str:
    """`url` without a trailing slash; UsageError if no leakdown answers there."""
    if _instance_at(url.rstrip("/")) is None:
        raise UsageError(
            f"LEAKDOWN_URL={without_password(url)}: no leakdown service answers there; start one with `leakdown serve`"
        )
    return url.rstrip("/")


def _instance_at(url: str) -> str | None:
    import httpx  # slow to import, and most commands find no notice

    try:
        answer = httpx.get(f"{url}/healthz", timeout=PROBE_SECONDS, trust_env=False)
        body = answer.json() if answer.status_code == httpx.codes.OK else {}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None
    found = body.get("instance") if isinstance(body, dict) else None
    return found if isinstance(found, str) else None


def _read(path: Path) -> dict[str, Any]:
    try:
        noted = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}
