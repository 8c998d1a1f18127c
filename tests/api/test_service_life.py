"""The life of a service as a process: its start, its clean end, its sudden end, and who is refused."""

import signal
import socket
import time
from pathlib import Path

import pytest

from api.discovery import notice
from tests.api.conftest import LEAK, Leakdown, generation
from tests.api.service import Process, half_sent, lines, process, until

SECONDS = 30
"""A clean stop takes no longer, whatever is under way."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def acknowledge(service: Process, run_id: str) -> None:
    answer = service.http.post("/v1/uploads", content=lines(generation(run_id, 0, LEAK)))
    assert answer.status_code == 201, answer.text


def runs(service: Process) -> list[str]:
    return [row["run_id"] for row in service.http.get("/v1/runs").json()["items"]]


def test_a_service_announces_itself_and_takes_the_notice_away(store: Path) -> None:
    with process(store) as service:
        assert notice(store).exists()
        assert service.http.get("/readyz").status_code == 200
        assert service.end(signal.SIGTERM) == (0, "")
    assert sorted(path.name for path in store.parent.iterdir()) == [store.name]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_in_the_middle_of_a_body_leaves_nothing_of_it(store: Path, sign: signal.Signals) -> None:
    with process(store) as service:
        acknowledge(service, "kept")
        head = b"PUT /v1/uploads/big HTTP/1.1\r\nContent-Length: 100000000\r\n"
        with half_sent(service, head, lines(generation("lost", 0, "x" * 100_000)) * 50):
            until(lambda: service.http.get("/v1/uploads/big").json(), lambda seen: seen.get("received_bytes"))
            started = time.monotonic()
            code, said = service.end(sign)
        assert (code, "Traceback" in said) == (0, False), said
        assert time.monotonic() - started < SECONDS
    with process(store) as service:
        assert runs(service) == ["kept"]
        assert len(service.http.get("/v1/uploads").json()) == 1
        assert not list(store.parent.glob(".*arriving*"))


def test_a_stop_in_the_middle_of_reading_leaves_nothing_of_it(store: Path) -> None:
    body = b"".join(lines(generation("lost", number, f"{number} {LEAK}")) for number in range(40_000))
    with process(store) as service:
        acknowledge(service, "kept")
        head = f"PUT /v1/uploads/big HTTP/1.1\r\nContent-Length: {len(body)}\r\n".encode()
        with half_sent(service, head, body):
            until(lambda: service.http.get("/v1/uploads/big").json(), lambda seen: seen.get("lines"))
            started = time.monotonic()
            code, said = service.end(signal.SIGTERM)
        assert (code, "Traceback" in said) == (0, False), said
        assert time.monotonic() - started < SECONDS
    with process(store) as service:
        assert runs(service) == ["kept"]


def test_what_was_acknowledged_survives_kill_9(store: Path) -> None:
    with process(store) as service:
        acknowledge(service, "kept")
        with half_sent(service, b"POST /v1/uploads HTTP/1.1\r\nContent-Length: 1000000\r\n", b"{" * 100_000):
            until(lambda: list(store.parent.glob(".*arriving*")), bool)
            assert service.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert notice(store).exists()
    with process(store) as service:
        assert runs(service) == ["kept"]
        assert not list(store.parent.glob(".*arriving*"))


def test_a_stale_notice_is_passed_over_by_commands_too(leakdown: Leakdown, store: Path) -> None:
    with process(store) as service:
        acknowledge(service, "kept")
        service.end(signal.SIGKILL)
    ran = leakdown("uploads", "list", "--store", store)
    assert (ran.code, ran.err) == (0, "")


def one_line(text: str) -> str:
    assert text.startswith("leakdown: ")
    assert text.count("\n") == 1
    return text


def test_a_second_service_on_a_store_is_told_the_address_of_the_first(leakdown: Leakdown, store: Path) -> None:
    with process(store) as service:
        ran = leakdown("serve", "--port", "0", "--store", store)
        assert ran.code == 2
        assert service.url in one_line(ran.err)
        assert service.http.get("/readyz").status_code == 200


def test_a_port_in_use_is_one_clear_line(leakdown: Leakdown, store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = leakdown("serve", "--port", str(port), "--store", store)
    assert ran.code == 2
    assert f"port {port} on 127.0.0.1: address already in use" in one_line(ran.err)
    assert not store.exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.org", ""])  # noqa: S104 - it is refused
def test_an_address_that_others_reach_is_refused(leakdown: Leakdown, store: Path, host: str) -> None:
    ran = leakdown("serve", "--host", host, "--port", "0", "--store", store)
    assert ran.code == 2
    assert "keys" in one_line(ran.err)
    assert not store.exists()


def test_an_address_to_nothing_is_one_clear_line(leakdown: Leakdown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKDOWN_URL", "http://127.0.0.1:9")
    ran = leakdown("rates")
    assert ran.code == 2
    assert "no leakdown service answers there" in one_line(ran.err)
