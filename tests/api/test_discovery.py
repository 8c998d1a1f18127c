"""How commands find the service of a store, and how they know that a notice is stale."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.discovery import announced, check, notice, serving
from ingest.errors import UsageError
from tests.api.service import Service, served


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with served(tmp_path / "s.duckdb") as running:
        yield running


@pytest.fixture
def silent() -> Iterator[str]:
    """An address at which nobody answers."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_a_service_is_found_while_it_runs_and_not_afterwards(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    assert serving(store) is None
    with served(store) as running:
        assert (found := serving(store))
        assert found.url == running.url
        assert json.loads(notice(store).read_text())["pid"] == os.getpid()
    assert serving(store) is None
    assert not notice(store).exists()


def test_a_store_beside_a_served_one_has_no_service(service: Service) -> None:
    assert serving(service.store.with_name("other.duckdb")) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="half a document"),
        pytest.param("[]", id="no object"),
        pytest.param('{"url": 1, "instance": "x"}', id="an address that is none"),
        pytest.param('{"url": "http://127.0.0.1:{port}"}', id="no instance"),
        pytest.param('{"url": "nonsense", "instance": "x"}', id="nonsense"),
        pytest.param('{"url": "http://127.0.0.1:99999999", "instance": "x"}', id="a port beyond any"),
        pytest.param("\xff\xfe", id="no text"),
    ],
)
def test_garbage_is_a_stale_notice(tmp_path: Path, text: str) -> None:
    notice(tmp_path / "s.duckdb").write_bytes(text.encode("latin-1"))
    assert serving(tmp_path / "s.duckdb") is None


def test_a_notice_of_a_dead_service_is_stale(tmp_path: Path, silent: str) -> None:
    told = {"url": silent, "pid": 2**22 + 1, "instance": "gone"}
    notice(tmp_path / "s.duckdb").write_text(json.dumps(told))
    assert serving(tmp_path / "s.duckdb") is None


def test_a_notice_of_an_earlier_life_is_stale(service: Service) -> None:
    told = json.loads(notice(service.store).read_text())
    notice(service.store).write_text(json.dumps({**told, "instance": "earlier"}))
    assert serving(service.store) is None


def test_a_service_of_another_store_on_the_same_port_is_not_taken_for_ours(service: Service) -> None:
    other = service.store.with_name("other.duckdb")
    notice(other).write_text(json.dumps({"url": service.url, "pid": os.getpid(), "instance": "of-the-other"}))
    assert serving(other) is None


def test_a_notice_that_came_with_a_folder_sends_nothing_elsewhere(service: Service) -> None:
    told = json.loads(notice(service.store).read_text())
    port = service.address[1]
    for url in (f"http://localhost.evil.example:{port}", f"http://0.0.0.0:{port}", f"ftp://127.0.0.1:{port}"):
        notice(service.store).write_text(json.dumps({**told, "url": url}))
        assert serving(service.store) is None


def test_a_service_that_ends_leaves_the_notice_of_its_successor(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    with announced(store, "http://127.0.0.1:1", "first", "s"):
        with announced(store, "http://127.0.0.1:2", "second", "s"):
            pass
        assert not notice(store).exists()
    with announced(store, "http://127.0.0.1:1", "first", "s"):
        notice(store).write_text(json.dumps({"url": "http://127.0.0.1:2", "instance": "second"}))
    assert json.loads(notice(store).read_text())["instance"] == "second"


def test_an_address_that_is_given_is_checked(service: Service, silent: str) -> None:
    assert check(f"{service.url}/") == service.url
    for url in (silent, "nonsense", "http://"):
        with pytest.raises(UsageError, match="no leakdown service answers there"):
            check(url)
