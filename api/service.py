"""A service as a process: its socket, its notice beside the store, its life from start to a clean stop."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn

from api.access.access import Access
from api.app import create_app
from api.discovery import announced, is_public, serving
from api.logs import SERVICE, configuration
from api.protocol import LONGEST_HEAD, Patience, protocol
from api.settings import Settings
from ingest.errors import StoreLocked, UsageError
from ingest.store import Store

_WHOLE_MACHINE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where commands of this machine find it
STOP_SECONDS = 5
"""Requests under way may take this long once a stop is asked for."""


class _Server(uvicorn.Server):
    """Tells `stopping` as soon as a signal asks for the end, so that long uploads end early."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._ready: Callable[[], object] = lambda: None

    def when_ready(self, ready: Callable[[], object]) -> None:
        """Call `ready` once requests can come."""
        self._ready = ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal."""
        self._stopping.set()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say so when requests can come."""
        await super().startup(sockets)
        self._ready()


def serve(store: Path, settings: Settings, ready: Callable[[str], object]) -> None:
    """Serve `store` until a signal; `ready` is told the address once requests can come.

    UsageError for a public address without a key, or a port in use; StoreLocked if the store has an owner already.
    """
    with running(store, settings) as (server, url, sockets), _ending_quietly():

        def told() -> None:
            SERVICE.info("serves", extra={"fields": {"url": url}})
            ready(url)

        server.when_ready(told)
        server.run(sockets=sockets)


@contextmanager
def running(store: Path, settings: Settings) -> Iterator[tuple[_Server, str, list[socket.socket]]]:
    """A server that is ready to run, with its address and its bound socket."""
    if is_public(settings.host) and not store.exists():
        raise _open_to_all(settings.host, store)
    owner = serving(store)
    if owner:
        told = f"{store}: already served at {owner.url}"
        raise StoreLocked(f"{told}; stop that service, or name another store with --store")
    with _bound(settings) as listening, Store.open(store, create=True) as opened:
        stopping = threading.Event()
        app = create_app(opened, settings, stopping)
        access: Access = app.state.access
        if access.always and not access.keyring.alive():
            raise _open_to_all(settings.host, store)
        config = uvicorn.Config(
            app,
            log_config=configuration(settings.log),
            http=protocol(Patience(settings.connections, settings.head_seconds, settings.idle_limit)),
            h11_max_incomplete_event_size=LONGEST_HEAD,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        port = listening.getsockname()[1]
        here = _url(_WHOLE_MACHINE.get(settings.host, settings.host), port)
        with announced(store, here, app.state.instance, access.secret):
            yield _Server(config, stopping), _url(settings.host, port), [listening]
        SERVICE.info("stopped")


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _open_to_all(host: str, store: Path) -> UsageError:
    return UsageError(
        f"--host {host}: others can reach this address, and the store has no key; make one first with "
        f"`leakdown keys create NAME --scope admin --store {store}`, or serve on 127.0.0.1"
    )


@contextmanager
def _ending_quietly() -> Iterator[None]:
    """Uvicorn raises the signal that stopped it once more after its clean stop: the store has still to be closed."""
    earlier = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in earlier.items():
            signal.signal(each, handler)


@contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off, which holds the end of an answer for 40 ms, only where the protocol is named
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((settings.host, settings.port))
        except OSError as fault:
            why = (fault.strerror or str(fault)).lower()
            raise UsageError(f"port {settings.port} on {settings.host}: {why}; name another with --port") from None
        yield listening
