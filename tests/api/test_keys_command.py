"""`leakdown keys`, commands through a service that asks for a key, and addresses that others reach."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.access.keys import SHAPE, Keyring
from api.discovery import notice
from ingest.store import Store
from tests.api.conftest import Leakdown, generation, spawn, write
from tests.api.keyed import Keyed, bearer, keyed
from tests.api.service import Service, refusal, served
from tests.api.test_keys import WRONG


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keyed]:
    """A service with a key of each scope."""
    with keyed(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """The same with one that was revoked, for tests that change nothing of it."""
    with keyed(tmp_path_factory.mktemp("keys")) as made:
        made.make("gone", "admin")
        made.revoke("gone")
        yield made


def test_keys_are_made_listed_and_revoked_on_a_store(leakdown: Leakdown, tmp_path: Path) -> None:
    are_made_listed_and_revoked(leakdown, tmp_path / "s.duckdb")


def test_keys_are_made_listed_and_revoked_through_a_service(leakdown: Leakdown, tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as service:
        are_made_listed_and_revoked(leakdown, service.store)


def are_made_listed_and_revoked(leakdown: Leakdown, store: Path) -> None:
    made = leakdown("keys", "create", "agents", "--scope", "read", "--scope", "ingest", "--store", store)
    assert (made.code, bool(SHAPE.fullmatch(made.out.strip()))) == (0, True)
    assert made.err == "key agents (ingest, read): shown this once, keep it where you keep secrets\n"
    other = leakdown("keys", "create", "ops", "--scope", "admin", "--json", "--store", store).json
    assert SHAPE.fullmatch(other["key"])
    again = leakdown("keys", "create", "ops", "--scope", "admin", "--store", store)
    assert (again.code, again.out) == (2, "")
    assert again.err == "leakdown: a key 'ops' is in use; revoke it first, or choose another name\n"
    assert leakdown("keys", "revoke", "agents", "--store", store).err == "key agents is revoked\n"
    for name in ("agents", "no/such", "../x"):
        gone = leakdown("keys", "revoke", name, "--store", store)
        told = f"leakdown: no key {name!r} in use; `leakdown keys list` lists them\n"
        assert (gone.code, gone.err) == (2, told)
    listed = leakdown("keys", "list", "--json", "--store", store).json
    assert [(each["name"], bool(each["revoked_at"])) for each in listed] == [("agents", True), ("ops", False)]
    assert "key" not in listed[0]
    assert leakdown("keys", "list", "--store", store).out.splitlines()[1].split()[:2] == ["agents", "ingest,read"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(("a b", "--scope", "read"), "'a b' cannot be the name of a key", id="a space"),
        pytest.param(("local", "--scope", "read"), "and not 'local'", id="the name of whoever needs none"),
        pytest.param(
            ("a", "--scope", "write"), "unknown scope write; there are ingest, read, label, admin", id="scope"
        ),
        pytest.param(("a",), "Missing option '--scope'", id="no scope"),
    ],
)
def test_a_key_that_cannot_be_is_one_clear_line(leakdown: Leakdown, arguments: tuple[str, ...], why: str) -> None:
    ran = leakdown("keys", "create", *arguments, "--store", "s.duckdb")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert why in ran.err


def test_a_command_on_the_machine_needs_no_key(keys: Keyed, leakdown: Leakdown) -> None:
    """The notice beside the store lets in whoever may read it, which is its owner alone."""
    store = keys.service.store
    assert leakdown("ingest", write("a.jsonl", generation("a", 0, "x")), "--store", store).code == 0
    assert leakdown("uploads", "delete", "1", "--store", store).code == 0
    assert stat.S_IMODE(notice(store).stat().st_mode) == 0o600


def test_without_the_secret_of_the_notice_a_command_is_refused(keys: Keyed, leakdown: Leakdown) -> None:
    told = json.loads(notice(keys.service.store).read_text())
    notice(keys.service.store).write_text(json.dumps({**told, "secret": "f" * 64}))
    ran = leakdown("rates", "--store", keys.service.store)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "this key is wrong or was revoked" in ran.err


def test_the_secret_is_another_one_after_a_restart(tmp_path: Path) -> None:
    secrets = []
    for _ in range(2):
        with served(tmp_path / "s.duckdb") as service:
            secrets.append(json.loads(notice(service.store).read_text())["secret"])
    assert len(set(secrets)) == 2
    assert all(len(each) == 64 for each in secrets)


@pytest.mark.parametrize(
    ("key", "call", "why"),
    [
        pytest.param(None, ("rates",), "this service asks for a key", id="none"),
        pytest.param(WRONG, ("rates",), "this key is wrong or was revoked", id="wrong"),
        pytest.param("gone", ("rates",), "this key is wrong or was revoked", id="revoked"),
        pytest.param("read", ("ingest", "a.jsonl"), "scope ingest; the key 'read' has read", id="another scope"),
        pytest.param("read", ("uploads", "delete", "1"), "a key with the scope admin", id="admin"),
        pytest.param("ingest", ("export", "--jsonl", "-"), "a key with the scope read", id="a download"),
        pytest.param("nonsense", ("rates",), "LEAKDOWN_KEY: not a key; one begins with leakdown_", id="nonsense"),
        pytest.param("a\nb", ("rates",), "LEAKDOWN_KEY: not a key", id="two lines"),
    ],
)  # fmt: skip
def test_a_command_from_elsewhere_without_the_key_is_one_clear_line(
    shared: Keyed, leakdown: Leakdown, monkeypatch: pytest.MonkeyPatch, key: str | None, call: tuple[str, ...], why: str
) -> None:
    write("a.jsonl", *(generation("a", at, "x" * 100_000) for at in range(20)))
    monkeypatch.setenv("LEAKDOWN_URL", shared.service.url)
    if key:
        monkeypatch.setenv("LEAKDOWN_KEY", shared.keys.get(key, key))
    ran = leakdown(*call)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert why in ran.err
    assert not key or shared.keys.get(key, WRONG) not in ran.err


def test_a_command_from_elsewhere_works_with_the_key(
    keys: Keyed, leakdown: Leakdown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAKDOWN_URL", keys.service.url)
    monkeypatch.setenv("LEAKDOWN_KEY", f" {keys.keys['ingest']}\n")
    assert leakdown("ingest", write("a.jsonl", generation("a", 0, "x"))).code == 0
    monkeypatch.setenv("LEAKDOWN_KEY", keys.keys["admin"])
    assert leakdown("uploads", "set", "1", "engine=vllm").code == 0
    assert leakdown("keys", "log", "--json").json[0]["by"] == "admin"


def test_the_key_of_the_environment_goes_to_the_named_address_alone(
    keys: Keyed, leakdown: Leakdown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beside a store sends it nowhere."""
    monkeypatch.setenv("LEAKDOWN_KEY", keys.keys["ingest"])
    assert leakdown("uploads", "list", "--store", keys.service.store).code == 0


EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is tested


def test_others_reach_a_service_that_has_a_key(tmp_path: Path, leakdown: Leakdown) -> None:
    store = tmp_path / "s.duckdb"
    key = leakdown("keys", "create", "ops", "--scope", "admin", "--store", store).out.strip()
    with served(store, host=EVERYWHERE, names=["leakdown.example.org"]) as service:
        assert service.http.get("/readyz").status_code == 200
        assert service.http.get("/v1/rates").status_code == 401
        assert service.http.get("/v1/rates", headers=bearer(key)).status_code == 200
        assert leakdown("uploads", "list", "--store", store).code == 0
        assert service.http.delete("/v1/keys/ops", headers=bearer(key)).status_code == 204
        assert service.http.get("/v1/rates").status_code == 401
    ran = leakdown("serve", "--host", EVERYWHERE, "--port", "0", "--store", store)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "others can reach this address, and the store has no key" in ran.err
    assert f"`leakdown keys create NAME --scope admin --store {store}`" in ran.err


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("leakdown.example.org", 200, id="a name that was given"),
        pytest.param("LEAKDOWN.example.org:8443", 200, id="in capitals, with a port"),
        pytest.param("192.0.2.7:8321", 200, id="an address"),
        pytest.param("[2001:db8::7]", 200, id="an IPv6 address"),
        pytest.param("localhost", 200, id="this machine"),
        pytest.param("evil.example", 400, id="a name that was not"),
        pytest.param("192.0.2.7.evil.example", 400, id="a name like an address"),
    ],
)
def test_a_public_service_answers_to_addresses_and_its_names(public: Service, host: str, status: int) -> None:
    answer = public.http.get("/healthz", headers={"host": host})
    assert answer.status_code == status
    assert status == 200 or "LEAKDOWN_NAMES adds names" in refusal(answer, 400)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that others reach."""
    store = tmp_path_factory.mktemp("public") / "s.duckdb"
    with Store.open(store, create=True) as opened:
        Keyring(opened).create("ops", ["admin"])
    with served(store, host=EVERYWHERE, names=["leakdown.example.org"]) as service:
        yield service


def test_a_notice_that_cannot_be_read_is_none(keys: Keyed) -> None:
    """To another user of the machine the store is in use; they need the address and a key."""
    notice(keys.service.store).unlink()
    ran = spawn("rates", "--store", keys.service.store)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "in use by process" in ran.err
