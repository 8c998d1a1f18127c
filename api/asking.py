"""How a command asks a running service: requests, and the errors that its answers stand for."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

import httpx

from api.discovery import without_password
from api.work import Json, ReadProgress, silent
from ingest.errors import (
    Conflict,
    InputError,
    LeakdownError,
    NotAllowed,
    NotFound,
    StoreError,
    TooLarge,
    UnreadableInput,
    UsageError,
)
from ingest.files.containers import STDIN, Source
from ingest.pipeline import Progress as Read

_KINDS: dict[int, type[LeakdownError]] = {
    400: UsageError,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InputError,
    503: StoreError,
}
TIMEOUT = httpx.Timeout(connect=5, read=None, write=None, pool=None)
"""An upload or a promotion takes as long as it takes; only a service that is not there is given up."""
_PIECE = 1 << 20


class Service:
    """The service at `url`, asked by a key if one is given."""

    def __init__(self, url: str, key: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # trust_env off: a proxy of the environment has nothing to do with a service of this machine
        self._http = httpx.Client(base_url=url, timeout=TIMEOUT, trust_env=False, headers=headers)
        self._url = without_password(url)
        self.rules: dict[str, str] = {}
        """Rule files that go along with what names their detector, by its id."""

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def ask(self, method: str, address: str, **more: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, address, **more)
        except httpx.HTTPError as fault:
            raise self._gone(fault) from None
        if answer.is_error:
            raise _fault(answer)
        return answer

    def download(self, address: str, out: BinaryIO, **more: Any) -> Iterator[bytes]:
        try:
            with self._http.stream("GET", address, **more) as answer:
                if answer.is_error:
                    answer.read()
                    raise _fault(answer)
                for piece in answer.iter_bytes(_PIECE):
                    out.write(piece)
                    yield piece
        except httpx.HTTPError as fault:
            raise self._gone(fault) from None

    def _gone(self, fault: httpx.HTTPError) -> StoreError:
        return StoreError(
            f"the service at {self._url} broke off ({str(fault) or type(fault).__name__}); is it still running?"
        )


def keys_first(row: Json, by: Sequence[str]) -> Json:
    """A row with the keys that were asked for first: the service answers with them last."""
    return {**{key: row[key] for key in by}, **row}


def redacting(patterns: tuple[str, ...] | None) -> list[tuple[str, str]]:
    """Parameters that ask for redaction; none for None."""
    return [] if patterns is None else [("redact", "true"), *(("redact_pattern", each) for each in patterns)]


@contextmanager
def sent(source: Source, progress: ReadProgress = silent) -> Iterator[dict[str, Any]]:
    """One file as the body itself; files that belong together as a form."""
    if not source.more:
        yield {"content": _body(source, progress)}
        return
    with ExitStack() as stack:
        files = [(part.name, stack.enter_context(part.path.open("rb"))) for part in source.parts() if part.path]
        yield {"files": [("file", each) for each in files]}


def _body(source: Source, progress: ReadProgress) -> Iterator[bytes]:
    """The bytes of a file on their way; what is sent is what is known of how far the service is."""
    import sys

    gone, total = 0, source.path.stat().st_size if source.path and source.path.is_file() else None
    try:
        with sys.stdin.buffer if source == STDIN or source.path is None else source.path.open("rb") as body:
            while piece := body.read(_PIECE):
                yield piece
                gone += len(piece)
                progress(Read(0, gone, total))
    except OSError as fault:
        raise UnreadableInput(f"{source.name}: {(fault.strerror or str(fault)).lower()}") from None


def _fault(answer: httpx.Response) -> LeakdownError:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = f"the service answered {answer.status_code}"
    return _KINDS.get(answer.status_code, LeakdownError)(detail)
