"""Every limit of docs/limits.md, gone beyond on a real service: one clear answer each, and the service goes on."""

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from analysis import filters, rules
from analysis.candidates.limits import Limits
from api import arrivals, guard, protocol, telemetry
from api.otlp_answers import JSON
from api.problems import MEDIA_TYPE, RETRY_AFTER
from api.routes import events, rates
from api.settings import PREFIX, Settings
from ingest import redaction
from ingest.files import compression, containers, jsonlines
from tests.api.conftest import generation, spawn
from tests.api.service import Service, lines, served, until
from tests.test_docs import ROOT

UPLOAD = "POST /v1/uploads?name=u.jsonl HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\n"
EXPORT = "POST /v1/traces HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
SETTING = re.compile(rf"{PREFIX}\w+")
Crossed = httpx.Response | str


def size(number: int) -> str:
    """Bytes in words."""
    unit, shift = next((unit, at) for unit, at in (("GiB", 30), ("MiB", 20), ("KiB", 10)) if number % (1 << at) == 0)
    return f"{number >> shift} {unit}"


def default(name: str) -> Any:
    """The default of a setting."""
    return Settings.model_fields[name].default


def open_with(service: Service, sent: str) -> socket.socket:
    """A connection on which so much has been sent."""
    connection = socket.create_connection(service.address, timeout=30)
    connection.sendall(sent.format(host=f"{service.address[0]}:{service.address[1]}").encode())
    return connection


def answer_on(connection: socket.socket) -> httpx.Response:
    """The answer that comes on a connection, which it ends."""
    data = b""
    while not data.endswith(b"}"):
        piece = connection.recv(65_536)
        assert piece, data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in rest)
    return httpx.Response(int(first.split()[1]), headers=headers, content=body)


def slowly(sent: str) -> Callable[[Service], httpx.Response]:
    """A client that sends so much and then waits."""

    def cross(service: Service) -> httpx.Response:
        with open_with(service, sent) as connection:
            return answer_on(connection)

    return cross


def dripping(service: Service) -> httpx.Response:
    """A body that comes byte by byte, and never stands still."""
    with open_with(service, UPLOAD) as connection:
        connection.settimeout(0.05)
        while True:
            connection.sendall(b" ")
            try:
                head = connection.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            assert head
            connection.settimeout(30)
            return answer_on(connection)


def untaken(service: Service) -> str:
    """An answer of megabytes that nobody takes."""
    service.upload(*(generation("r", at, "x" * 100_000, generation_id=f"g{at}") for at in range(200)))
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(service.address)
        host = f"{service.address[0]}:{service.address[1]}"
        connection.sendall(f"GET /v1/export.jsonl HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        until(lambda: service.http.get("/metrics").text, lambda told: 'route="/v1/export.jsonl"' in told)
        taken = drained(connection)
    assert b"200 OK" in taken[:100]
    assert not taken.endswith(b"0\r\n\r\n")
    return "the connection is closed"


def drained(connection: socket.socket) -> bytes:
    """What comes until the end."""
    connection.settimeout(30)
    data = b""
    try:
        while piece := connection.recv(1 << 20):
            data += piece
    except ConnectionResetError:
        return data
    return data


def after(number: int, sent: str, then: Callable[[Service], httpx.Response]) -> Callable[[Service], httpx.Response]:
    """One request more, while so many connections stand with a part of theirs sent."""

    def cross(service: Service) -> httpx.Response:
        with ExitStack() as stack:
            for _ in range(number + 1):  # one of them may meet the request that asks, in the last place
                stack.enter_context(open_with(service, sent))

            def ask() -> httpx.Response:
                answer = then(service)
                if answer.status_code not in RETRY_AFTER and sent in (UPLOAD, EXPORT):
                    # it had a place, and whoever came meanwhile was refused
                    stack.enter_context(open_with(service, sent))
                return answer

            return retried(ask, lambda answer: answer.status_code in RETRY_AFTER)

    return cross


def retried(ask: Callable[[], httpx.Response], holds: Callable[[httpx.Response], bool]) -> httpx.Response:
    """The first answer that holds: the connections before it may not have been looked at yet."""
    for _ in range(200):
        answer = ask()
        if holds(answer):
            return answer
    raise AssertionError(answer.text)


def upload(body: bytes, **more: Any) -> Callable[[Service], httpx.Response]:
    return lambda service: service.http.post("/v1/uploads", content=body, params={"name": "u.jsonl"}, **more)


def get(path: str, **more: Any) -> Callable[[Service], httpx.Response]:
    return lambda service: service.http.get(path, **more)


def post(path: str, body: Any) -> Callable[[Service], httpx.Response]:
    return lambda service: service.http.post(path, json=body)


def export(body: bytes, **headers: str) -> Callable[[Service], httpx.Response]:
    return lambda service: service.http.post("/v1/traces", content=body, headers={"content-type": JSON, **headers})


def quarantined(bad: bytes) -> Callable[[Service], str]:
    """A bad line beside a good one; why it was not understood."""

    def cross(service: Service) -> str:
        result = service.upload_bytes(lines(generation("r", 0, "x")) + bad + b"\n")
        assert (result["mapped"] + result["duplicate"], result["quarantined"]) == (1, 1)
        return f"the line is quarantined: {next(iter(result['quarantined_why']))}"

    return cross


def many_parts(service: Service) -> httpx.Response:
    files = [("file", (f"{at}.jsonl", b"{}")) for at in range(arrivals.FILES + 1)]
    return service.http.post("/v1/uploads", files=files)


def waiting(service: Service) -> httpx.Response:
    """Exports that nobody reads: the second finds the first."""
    span = {"name": "x", "traceId": "1" * 32, "spanId": "1" * 16}
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    assert export(body)(service).status_code == 200
    return export(body)(service)


def replays(service: Service) -> httpx.Response:
    """Replays behind one that is held up by an upload's hold on the store."""
    service.upload(generation("r", 0, "x"))
    pair = {"baseline": "openrouter-net@1", "candidate": "goat@1"}
    with service.app.state.backend.store.writing():
        return retried(lambda: service.http.post("/v1/replays", json=pair), lambda answer: answer.status_code == 429)


def two_series(service: Service) -> httpx.Response:
    service.upload(generation("a", 0, "x", model="one"), generation("b", 0, "x", model="two"))
    return service.http.get("/v1/rates")


def candidate(code: str, *options: str) -> Callable[[Service], str]:
    """Code that goes beyond on each output; what the report says of its failures."""

    def cross(service: Service) -> str:
        service.upload(generation("candidate", 0, "beyond"))
        script = service.store.with_name("candidate.py")
        script.write_text(f"def find(output):\n    if output.content == 'beyond':\n        {code}\n")
        call = ("replay", "--baseline", "openrouter-net@1", "--candidate", f"{script}:find", "--json", "-")
        ran = spawn(*call, "--store", service.store, "--where", "run_id=candidate", *options)
        assert (ran.code, ran.json["errors"]["candidate"]) == (0, 1), ran.err
        return f"a failure in the report: {ran.out}"

    return cross


ZEROS = zstandard.ZstdCompressor().compress(bytes(compression.RATIO_FREE + 1))
DEEP = b'{"a":' * (jsonlines.DEEPEST + 2) + b"1" + b"}" * (jsonlines.DEEPEST + 2)
LONG = b'{"a":"' + b"x" * containers.LINE_LIMIT + b'"}'
RULES = "# " + "x" * rules.LIMIT
CODE = Limits()


@dataclass(frozen=True, slots=True)
class Limit:
    """A row of docs/limits.md, and how it is gone beyond: on a service with `settings`, or with constants changed."""

    what: str
    most: str
    change: str
    answer: str
    cross: Callable[[Service], Crossed]
    says: str
    settings: dict[str, Any] = field(default_factory=dict)
    patched: tuple[Any, str, int] | None = None


LIMITS = [
    Limit("bytes of an upload's body", size(default("body_limit")), "`LEAKDOWN_BODY_LIMIT`", "413",
          upload(b" " * 2_000), "over 1,000 bytes", {"body_limit": 1_000}),
    Limit("bytes of any other body", size(guard.SMALL_BODY), "–", "413",
          lambda service: service.http.post("/v1/events", content=b" " * (guard.SMALL_BODY + 1)), "over 8,388,608"),
    Limit("bytes of an exporter's body", size(default("otlp_body_limit")), "`LEAKDOWN_OTLP_BODY_LIMIT`", "413",
          export(b" " * 2_000), "over 1,000 bytes", {"otlp_body_limit": 1_000}),
    Limit("bytes of an exporter's body, unfolded", size(default("otlp_body_limit")), "`LEAKDOWN_OTLP_BODY_LIMIT`",
          "413", export(gzip.compress(b" " * 2_000), **{"content-encoding": "gzip"}), "unfolds to more than 1,000",
          {"otlp_body_limit": 1_000}),
    Limit("bytes of a line", size(containers.LINE_LIMIT), "–", "the line is quarantined",
          quarantined(LONG), "longer than 64 MiB"),
    Limit("levels of JSON", f"{jsonlines.DEEPEST}", "–", "the line is quarantined",
          quarantined(DEEP), "nested deeper than 200 levels"),
    Limit("ratio of decompression", f"{compression.RATIO_LIMIT:,}, after {size(compression.RATIO_FREE)}", "–", "413",
          upload(ZEROS), "like a bomb"),
    Limit("bytes that a compressed stream unfolds to", size(compression.TOTAL_LIMIT), "–", "413",
          upload(gzip.compress(lines(generation("r", 0, "x" * 9_999)))), "unfolds to more than",
          patched=(compression, "TOTAL_LIMIT", 1_000)),
    Limit("files of a form", f"{arrivals.FILES}", "–", "400", many_parts, "Maximum number of files is 100"),
    Limit("bytes of an address with its query", size(guard.LONGEST_ADDRESS), "–", "414",
          get("/v1/runs", params={"where": "x" * guard.LONGEST_ADDRESS}), "over 8,192 bytes"),
    Limit("bytes of the head of a request", size(protocol.LONGEST_HEAD), "–", "431",
          get("/healthz", headers={"x-long": "x" * protocol.LONGEST_HEAD}), "over 32,768 bytes"),
    Limit("seconds for the head of a request", f"{default('head_seconds'):g}", "`LEAKDOWN_HEAD_SECONDS`", "408",
          slowly("GET /healthz HTTP/1.1\r\nHost: "), "within 0.2 seconds", {"head_seconds": 0.2}),
    Limit("seconds that a body stands still", f"{default('idle_limit'):g}", "`LEAKDOWN_IDLE_LIMIT`", "408",
          slowly(UPLOAD + "x"), "stood still for 0.2 seconds", {"idle_limit": 0.2}),
    Limit("bytes a second of a body, at the least", f"{default('slowest_body'):,}", "`LEAKDOWN_SLOWEST_BODY`", "408",
          dripping, "slower than 1,024 bytes a second", {"idle_limit": 1}),
    Limit("seconds that an answer is not taken", f"{default('idle_limit'):g}", "`LEAKDOWN_IDLE_LIMIT`",
          "the connection is closed", untaken, "closed", {"idle_limit": 0.5}),
    Limit("connections at a time", f"{default('connections')}", "`LEAKDOWN_CONNECTIONS`", "503",
          after(2, "GET", get("/healthz", headers={"connection": "close"})), "2 connections are open",
          {"connections": 2}),
    Limit("uploads at a time", f"{default('uploads_at_once')}", "`LEAKDOWN_UPLOADS_AT_ONCE`", "429",
          after(2, UPLOAD, upload(b"{}")), "2 uploads are under way", {"uploads_at_once": 2}),
    Limit("exports at a time", f"{telemetry.AT_ONCE}", "–", "429",
          after(telemetry.AT_ONCE, EXPORT, export(b"{}")), "32 exports are being received"),
    Limit("bytes of exporters that wait to be read", size(default("otlp_waiting_limit")),
          "`LEAKDOWN_OTLP_WAITING_LIMIT`", "503", waiting, "wait to be read",
          {"otlp_waiting_limit": 1, "otlp_seconds": 600}),
    Limit("replays that wait", f"{default('replays_waiting')}", "`LEAKDOWN_REPLAYS_WAITING`", "429", replays,
          "2 replays wait already", {"replays_waiting": 2}),
    Limit("rows of a page", "500", "–", "400", get("/v1/runs?limit=501"), "less than or equal to 500"),
    Limit("rows of rates", f"{rates.MOST_ROWS:,}", "–", "400", two_series, "group by fewer keys",
          patched=(rates, "MOST_ROWS", 1)),
    Limit("filters of a question", f"{filters.MOST}", "–", "400",
          get("/v1/rates", params={"where": ["model=x"] * (filters.MOST + 1)}), "give at most 50"),
    Limit("events of a request", f"{events.MOST:,}", "–", "400",
          post("/v1/events", [{"markup": "x", "leak": 1}] * (events.MOST + 1)), "send from 1 to 10,000"),
    Limit("bytes of a rule file", size(rules.LIMIT), "–", "400",
          post("/v1/replays", {"baseline": "x", "candidate": "y", "rules": [RULES]}), "at most 262144"),
    Limit("patterns to redact", f"{redaction.MOST}", "–", "400",
          lambda service: service.http.post("/v1/uploads", params={"redact_pattern": ["x"] * 51}, content=b"{}"),
          "give at most 50"),
    Limit("seconds of a candidate for an output", f"{CODE.seconds:g}", "`--time-limit`", "a failure in the report",
          candidate("import time; time.sleep(600)", "--time-limit", "0.5"), "no answer within 0.5 s"),
    Limit("memory of a candidate", size(CODE.memory), "`--memory-limit`", "a failure in the report",
          candidate("bytearray(2**30)", "--memory-limit", "256"), "MemoryError"),
]  # fmt: skip


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the limits as they are."""
    with served(tmp_path_factory.mktemp("limits") / "s.duckdb") as running:
        yield running


@pytest.fixture
def limited(usual: Service, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service with the limits of a row."""
    limit: Limit = request.node.callspec.params["limit"]
    if not limit.settings:
        yield usual
        return
    with served(tmp_path / "s.duckdb", **limit.settings) as running:
        yield running


@pytest.mark.parametrize("limit", [pytest.param(each, id=each.what) for each in LIMITS])
def test_beyond_a_limit_there_is_one_clear_answer(
    limit: Limit, limited: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit.patched:
        monkeypatch.setattr(*limit.patched)
    crossed = limit.cross(limited)
    if isinstance(crossed, str):
        assert crossed.startswith(limit.answer)
        assert limit.says in crossed
    else:
        assert crossed.status_code == int(limit.answer), crossed.text
        assert crossed.headers["content-type"] in (MEDIA_TYPE, JSON)
        assert limit.says in crossed.json().get("detail", crossed.json().get("message"))
        assert ("retry-after" in crossed.headers) == (crossed.status_code in RETRY_AFTER)
    assert retried(lambda: limited.http.get("/healthz"), lambda answer: answer.status_code == 200)


def table() -> list[tuple[str, ...]]:
    """The rows of the page."""
    text = (ROOT / "docs" / "limits.md").read_text("utf-8")
    return [tuple(row.strip("|").split(" | ")) for row in re.findall(r"^\| (.+) \|$", text, re.MULTILINE)][1:]


def test_the_page_lists_these_limits_and_no_other() -> None:
    assert table() == [(each.what, each.most, each.change, each.answer) for each in LIMITS]


def test_every_setting_that_is_a_limit_has_a_row() -> None:
    named = {name for each in LIMITS for name in SETTING.findall(each.change)}
    settings = Settings.model_fields.items()
    numbers = {f"{PREFIX}{name.upper()}" for name, each in settings if each.annotation in (int, float)}
    assert numbers - named == {f"{PREFIX}{name}" for name in ("PORT", "OTLP_SECONDS", "OTLP_WAIT")}
    assert named <= numbers


def test_slow_clients_and_uploads_leave_room_for_readers(tmp_path: Path) -> None:
    """As many uploads, exports and half requests as there is room for, all standing still."""
    with served(tmp_path / "s.duckdb") as service, ExitStack() as stack:
        service.upload(generation("r", 0, "x"))
        slow = [UPLOAD + "x"] * default("uploads_at_once") + [EXPORT] * telemetry.AT_ONCE + ["GET /v1/runs HT"] * 200
        standing = [stack.enter_context(open_with(service, sent)) for sent in slow]
        for path in ("/v1/rates", "/v1/runs", "/", "/runs", "/healthz") * 3:
            assert service.http.get(path).status_code == 200
        for connection in standing:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)


HEAD = "GET /healthz HTTP/1.1\r\nHost: {host}\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(HEAD + "X: " + "x" * 40_000 + "\r\n\r\n", 431, id="headers too long in one piece"),
        pytest.param(HEAD + "X: " + "x" * 400_000, 431, id="a header that never ends"),
        pytest.param("GET /" + "x" * 400_000, 431, id="an address that never ends"),
        pytest.param("hello\r\n\r\n", 400, id="no HTTP"),
        pytest.param("GET /healthz HTTP/1.1\r\n\r\n", 400, id="no host"),
    ],
)
def test_what_is_no_request_is_told_so(usual: Service, sent: str, status: int) -> None:
    answer = slowly(sent)(usual)
    assert (answer.status_code, answer.headers["content-type"], answer.json()["status"]) == (status, MEDIA_TYPE, status)


def test_the_second_request_of_a_connection_must_come_in_time_too(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb", head_seconds=0.5) as service, open_with(service, HEAD + "\r\n") as connection:
        assert answer_on(connection).status_code == 200
        connection.sendall(b"GET /healthz HT")
        assert answer_on(connection).status_code == 408


def test_the_rest_of_a_body_that_was_refused_holds_its_connection_for_so_long(tmp_path: Path) -> None:
    sent = "POST /v1/events HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100000000\r\n\r\n"
    with served(tmp_path / "s.duckdb", idle_limit=0.5) as service, open_with(service, sent) as connection:
        assert answer_on(connection).status_code == 413
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            until(lambda: connection.send(b" "), lambda _: service.http.get("/healthz").is_error)


@pytest.mark.parametrize("cross", [slowly(UPLOAD + "x"), dripping], ids=["stands still", "drips"])
def test_a_slow_body_ends_its_connection(tmp_path: Path, cross: Callable[[Service], httpx.Response]) -> None:
    with served(tmp_path / "s.duckdb", idle_limit=0.5) as service:
        assert cross(service).headers["connection"] == "close"
