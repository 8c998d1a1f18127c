"""A service with keys: one of each scope, and who holds them."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from api.access.keys import SCOPES
from tests.api.service import Service, served


def bearer(key: str) -> dict[str, str]:
    """The header that a program sends its key in."""
    return {"Authorization": f"Bearer {key}"}


@dataclass(frozen=True, slots=True)
class Keyed:
    """A service, and the text of a key of each scope by its name, which is that of the scope."""

    service: Service
    keys: dict[str, str]
    clients: ExitStack

    def send(self, who: str | None, method: str, path: str, **more: Any) -> httpx.Response:
        """A request by the key of this name, or without one."""
        headers = {**(bearer(self.keys[who]) if who else {}), **more.pop("headers", {})}
        return self.service.http.request(method, path, headers=headers, **more)

    def make(self, name: str, *scopes: str) -> str:
        """A further key; its text, which is also kept by its name."""
        answer = self.send("admin", "POST", "/v1/keys", json={"name": name, "scopes": scopes})
        assert answer.status_code == 201, answer.text
        self.keys[name] = answer.json()["key"]
        return self.keys[name]

    def revoke(self, name: str) -> None:
        """Revoke a key."""
        assert self.send("admin", "DELETE", f"/v1/keys/{name}").status_code == 204

    def client(self) -> httpx.Client:
        """A client with cookies of its own."""
        return self.clients.enter_context(httpx.Client(base_url=self.service.url, trust_env=False))

    def browser(self, name: str) -> "Browser":
        """A browser that signed in by the key of this name."""
        http = self.client()
        answer = http.post("/sign-in", data={"key": self.keys[name]})
        assert answer.status_code == 303, answer.text
        shown = http.get(answer.headers["location"]).text
        [token] = set(re.findall(r'name="form_token" value="([0-9a-f]{64})"', shown))
        return Browser(http, token, answer)


@dataclass(frozen=True, slots=True)
class Browser:
    """What a browser has after it signed in: its cookie, the token in its forms, the answer that let it in."""

    http: httpx.Client
    token: str
    let_in: httpx.Response

    def submit(self, path: str, **fields: str) -> httpx.Response:
        """Send a form of a page."""
        return self.http.post(path, data={"form_token": self.token, **fields})


@contextmanager
def keyed(folder: Path, **settings: Any) -> Iterator[Keyed]:
    """A service over an empty store in `folder` with a key of each scope alone, while it lasts."""
    with served(folder / "s.duckdb", **settings) as service, ExitStack() as clients:
        admin = service.http.post("/v1/keys", json={"name": "admin", "scopes": ["admin"]}).json()["key"]
        made = Keyed(service, {"admin": admin}, clients)
        for scope in SCOPES:
            if scope != "admin":
                made.make(scope, scope)
        yield made
