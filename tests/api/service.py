"""A real service to test with: uvicorn in a thread on a free port, over a store of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

from api.problems import MEDIA_TYPE
from api.service import running
from api.settings import Settings
from tests.api.conftest import SCRIPT

PATIENCE = 30.0
"""Seconds after which something that was waited for has failed to come."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its address, its store, its application, and a client on it."""

    url: str
    store: Path
    app: FastAPI
    http: httpx.Client

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        url = httpx.URL(self.url)
        assert url.port
        return url.host, url.port

    def refused(self, status: int, method: str, path: str, **more: Any) -> str:
        """Send a request that is refused with `status`; the detail of the problem document."""
        return refusal(self.http.request(method, path, **more), status)

    def upload(self, *values: Any, name: str = "u.jsonl") -> dict[str, Any]:
        """Upload values as JSON lines; the result."""
        return self.upload_bytes(lines(*values), name)

    def upload_bytes(self, body: bytes, name: str = "u.jsonl") -> dict[str, Any]:
        """Upload a file; the result."""
        answer = self.http.post("/v1/uploads", params={"name": name}, content=body)
        assert answer.status_code == 201, answer.text
        [result] = answer.json()["uploads"]
        assert isinstance(result, dict)
        return result

    def beside(self) -> set[str]:
        """The files and folders beside the store, hidden ones too."""
        return {path.name for path in self.store.parent.iterdir()}


def refusal(answer: httpx.Response, status: int) -> str:
    """The detail of an answer that is a problem document of `status`."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE), answer.text
    body = answer.json()
    assert body.keys() >= {"type", "title", "status", "detail"}
    assert body["status"] == status
    return str(body["detail"])


def lines(*values: Any) -> bytes:
    """Values as JSON lines."""
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


@contextmanager
def served(store: Path, change: Callable[[FastAPI], object] = lambda _: None, **settings: Any) -> Iterator[Service]:
    """A service over `store` while it lasts; `change` may alter its application before it starts."""
    with running(store, Settings(port=0, **settings)) as (server, url, sockets):
        app = server.config.app
        assert isinstance(app, FastAPI)
        change(app)
        ready = threading.Event()
        server.when_ready(ready.set)
        thread = threading.Thread(target=server.run, args=(sockets,))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            with httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False) as http:
                yield Service(url, store, app, http)
        finally:
            server.should_exit = True
            thread.join()


def until(look: Callable[[], T], holds: Callable[[T], object]) -> T:
    """The first thing seen that holds; each look is a request, so that waiting takes no sleep."""
    deadline = time.monotonic() + PATIENCE
    while not holds(seen := look()):
        assert time.monotonic() < deadline, f"still {seen}"
    return seen


def half_sent(service: "Service | Process", head: bytes, sent: bytes) -> socket.socket:
    """A connection on which a part of an upload's body has been sent."""
    connection = socket.create_connection(service.address)
    connection.sendall(head + f"Host: {service.address[0]}:{service.address[1]}\r\n\r\n".encode() + sent)
    return connection


def answered(connection: socket.socket) -> bytes:
    """The whole answer on a connection: ours end with the brace of a JSON object."""
    answer = b""
    while not answer.endswith(b"}"):
        answer += (piece := connection.recv(10_000))
        assert piece, answer
    return answer


@dataclass(frozen=True, slots=True)
class Process:
    """`leakdown serve` as a process of its own."""

    popen: "subprocess.Popen[str]"
    url: str
    http: httpx.Client

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        url = httpx.URL(self.url)
        assert url.port
        return url.host, url.port

    def end(self, sign: signal.Signals) -> tuple[int, str]:
        """Send a signal; the exit code, and what was still said on stderr."""
        self.popen.send_signal(sign)
        _, said = self.popen.communicate(timeout=PATIENCE)
        return self.popen.returncode, said


@contextmanager
def process(store: Path, leakdown: Sequence[str] = (SCRIPT,), **environment: str) -> Iterator[Process]:
    """The real command on `store`, until it ends or the test does."""
    command = [*leakdown, "serve", "--port", "0", "--store", str(store)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}) as popen:
        try:
            assert popen.stderr
            [url] = re.findall(r"http://[\w.:\[\]]+", popen.stderr.readline())
            with httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False) as http:
                yield Process(popen, url, http)
        finally:
            popen.kill()
