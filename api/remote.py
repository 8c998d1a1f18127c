"""The same operations through a running service: what a command does while the service owns the store."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import httpx
from pydantic_core import from_json

from api.alerts import RemoteAlerts
from api.audits import RemoteAudits
from api.backend import BY_KIND, Given, Json, Progress, ReadProgress, _silent
from api.labels import RemoteLabels
from ingest.errors import (
    Conflict,
    InputError,
    LeakdownError,
    NotFound,
    StoreError,
    TooLarge,
    UnreadableInput,
    UsageError,
)
from ingest.files.containers import STDIN, Source
from ingest.pipeline import Progress as Read

if TYPE_CHECKING:
    from analysis.alerts.files import AnyRule
    from analysis.detectors import Detector

_KINDS: dict[int, type[LeakdownError]] = {
    400: UsageError,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InputError,
    503: StoreError,
}
TIMEOUT = httpx.Timeout(connect=5, read=None, write=None, pool=None)
"""An upload or a promotion takes as long as it takes; only a service that is not there is given up."""
_PIECE = 1 << 20
_POLL = (0.05, 0.1, 0.2, 0.5)
"""Seconds between looks at a job; the last one repeats."""


class RemoteBackend:
    """The operations through the service at `url`."""

    def __init__(self, url: str) -> None:
        # trust_env off: a proxy of the environment has nothing to do with a service of this machine
        self._http = httpx.Client(base_url=url, timeout=TIMEOUT, trust_env=False)
        self._url = url
        self.labels = RemoteLabels(self._ask, lambda source: _sent(source, _silent))
        self.alerts = RemoteAlerts(self._ask)
        self.audits = RemoteAudits(self._ask)
        self._rules: dict[str, str] = {}

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def ingest(self, source: Source, given: Given, progress: ReadProgress = _silent) -> Json:
        """Read one input; the result of the upload."""
        parameters = [("name", source.name)]
        parameters += [("format_name", given.format_name)] if given.format_name else []
        for name, fields in (("set", given.settings), ("sidecar", given.sidecar)):
            parameters += [(name, f"{key}={value}") for key, value in fields.items()]
        parameters += _redacting(given.redact)
        try:
            with _sent(source, progress) as body:
                answer = self._ask("POST", "/v1/uploads", params=parameters, **body)
        except TooLarge as fault:
            # the guard, which refuses a body, knows no name
            named = str(fault) if str(fault).startswith(source.name) else f"{source.name}: {fault}"
            raise TooLarge(named) from None
        result: Json = answer.json()["uploads"][0]
        return result

    def uploads(self) -> list[Json]:
        """All uploads, oldest first."""
        found: list[Json] = self._ask("GET", "/v1/uploads").json()
        return found

    def quarantine(self, upload_id: int, limit: int) -> list[Json]:
        """The first quarantined lines of an upload: line, reason, excerpt."""
        found: list[Json] = self._ask("GET", f"/v1/uploads/{upload_id}").json()["quarantine"]
        return found[:limit]

    def correct(self, upload_id: int, settings: dict[str, str]) -> None:
        """Set series fields of an upload."""
        self._ask("PATCH", f"/v1/uploads/{upload_id}", json={"settings": settings})

    def delete(self, upload_id: int) -> None:
        """Delete an upload."""
        self._ask("DELETE", f"/v1/uploads/{upload_id}")

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series."""
        parameters = [("by", ",".join(by)), *(("where", each) for each in where)]
        parameters += [("since", since)] if since else []
        found: list[Json] = self._ask("GET", "/v1/rates", params=parameters).json()
        return [_keys_first(row, by) for row in found]

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        parameters = [("where", each) for each in where] + ([("since", since)] if since else [])
        return str(self._ask("GET", "/v1/rates/why-none", params=parameters).json()["explanation"])

    def faults(
        self,
        by: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,  # noqa: ARG002 - the service tells none
    ) -> list[Json]:
        """Whose fault the leaks are, per series, and what to set."""
        parameters = [("by", ",".join(by)), *(("where", each) for each in where)]
        parameters += [("since", since)] if since else []
        found: list[Json] = self._ask("GET", "/v1/faults", params=parameters).json()
        # the service answers with the series keys last
        return [{**{key: row[key] for key in by}, **row} for row in found]

    def bring(self, of: "Detector", recompute: bool, progress: Progress = _silent) -> None:
        """Make a detector from outside known there under its id. A rule file goes along with the replay; code judges
        here what the service sends."""
        if of.brought and of.brought.rules is not None:
            self._rules[of.id] = of.brought.rules
        elif of.brought and of.brought.many:
            from api.remote_judging import judge_remotely

            judge_remotely(self._ask, of, recompute=recompute, progress=progress)

    def drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,  # noqa: ARG002 - the service tells none
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """What versions did to the leak rates, the days on which they changed, and alerts: by `rules`, else by those
        of the service."""
        if rules:
            given = {"where": list(where), "since": since or None, "rules": [each.model_dump() for each in rules]}
            return dict(self._ask("POST", "/v1/drift", json=given).json())
        parameters = [("where", each) for each in where] + ([("since", since)] if since else [])
        found: Json = self._ask("GET", "/v1/drift", params=parameters).json()
        return found

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,  # noqa: ARG002 - the service tells none
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        """What followed the leaks, and what each policy would have done."""
        parameters = [("policy", each) for each in policies] + [("where", each) for each in where]
        parameters.append(("by", ",".join(by)))
        parameters += [("since", since)] if since else []
        found: Json = self._ask("GET", "/v1/recovery", params=parameters).json()
        return found | {"rates": [_keys_first(row, by) for row in found["rates"]]}

    def replay(
        self,
        baseline: str,
        candidate: str,
        where: Sequence[str],
        recompute: bool,
        progress: Progress = _silent,
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> Json:
        """The report of a replay; interrupted, it is cancelled there as well."""
        pair = {"baseline": baseline, "candidate": candidate, "recompute": recompute}
        wanted = {**pair, "where": list(where), "since": since or None, "until": until or None}
        rules = [self._rules[each] for each in dict.fromkeys((baseline, candidate)) if each in self._rules]
        wanted |= {"rules": rules} if rules else {}
        job = self._ask("POST", "/v1/replays", json=wanted).json()
        address = f"/v1/replays/{job['id']}"
        try:
            for seconds in _waits():
                if job["state"] not in ("queued", "running"):
                    break
                time.sleep(seconds)
                job = self._ask("GET", address).json()
                progress(job["progress"])
        except KeyboardInterrupt:
            self._ask("DELETE", address)
            raise
        if job["state"] != "done":
            raise LeakdownError(f"the replay is {job['state']}" + (f": {job['error']}" if job["error"] else ""))
        report: Json = job["report"]
        return report

    def sample(
        self,
        baseline: str,
        candidate: str,
        budget: int,
        where: Sequence[str],
        seed: int,
        progress: Progress = _silent,  # noqa: ARG002 - the service tells none
    ) -> Json:
        """Draw a sample to label; it, and which bounds it can reach."""
        wanted = {"baseline": baseline, "candidate": candidate, "budget": budget, "where": list(where), "seed": seed}
        drawn: Json = self._ask("POST", "/v1/samples", json=wanted).json()
        return drawn

    def detectors(self) -> list[Json]:
        """All detectors, the current one marked."""
        found: list[Json] = self._ask("GET", "/v1/detectors").json()
        return found

    def promote(self, detector_id: str, progress: Progress = _silent) -> None:  # noqa: ARG002 - the service tells none
        """Make a detector the current one."""
        rules = {"rules": self._rules[detector_id]} if detector_id in self._rules else {}
        self._ask("PUT", "/v1/detectors/current", json={"detector": detector_id, **rules})

    def export_jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        return sum(piece.count(b"\n") for piece in self._download("/v1/export.jsonl", out))

    def export_parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        from ingest.export import TABLES

        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            with (folder / f"{table}.parquet").open("wb") as out:
                for _ in self._download(f"/v1/export/{table}.parquet", out):
                    pass
        return len(TABLES)

    def export_pack(self, out: BinaryIO, redact: tuple[str, ...] | None) -> Json:
        """Write the labelled outputs as a pack; its header."""
        start = b""
        for piece in self._download("/v1/export/pack.jsonl", out, params=_redacting(redact)):
            start += b"" if b"\n" in start else piece
        header: Json = from_json(start.partition(b"\n")[0])
        return header

    def _download(self, address: str, out: BinaryIO, **more: Any) -> Iterator[bytes]:
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

    def _ask(self, method: str, address: str, **more: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, address, **more)
        except httpx.HTTPError as fault:
            raise self._gone(fault) from None
        if answer.is_error:
            raise _fault(answer)
        return answer

    def _gone(self, fault: httpx.HTTPError) -> StoreError:
        return StoreError(
            f"the service at {self._url} broke off ({str(fault) or type(fault).__name__}); is it still running?"
        )


def _keys_first(row: Json, by: Sequence[str]) -> Json:
    """A row with the keys that were asked for first: the service answers with them last."""
    return {**{key: row[key] for key in by}, **row}


def _waits() -> Iterator[float]:
    yield from _POLL
    while True:
        yield _POLL[-1]


def _redacting(patterns: tuple[str, ...] | None) -> list[tuple[str, str]]:
    """Parameters that ask for redaction; none for None."""
    return [] if patterns is None else [("redact", "true"), *(("redact_pattern", each) for each in patterns)]


def _fault(answer: httpx.Response) -> LeakdownError:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = f"the service answered {answer.status_code}"
    return _KINDS.get(answer.status_code, LeakdownError)(detail)


@contextmanager
def _sent(source: Source, progress: ReadProgress) -> Iterator[dict[str, Any]]:
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

    sent, total = 0, source.path.stat().st_size if source.path and source.path.is_file() else None
    try:
        with sys.stdin.buffer if source == STDIN or source.path is None else source.path.open("rb") as body:
            while piece := body.read(_PIECE):
                yield piece
                sent += len(piece)
                progress(Read(0, sent, total))
    except OSError as fault:
        raise UnreadableInput(f"{source.name}: {(fault.strerror or str(fault)).lower()}") from None
