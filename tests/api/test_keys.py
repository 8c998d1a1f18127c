"""Keys over HTTP: made, used, revoked; wrong ones, and where no key may ever stand."""

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from pydantic import SecretStr

from api.access.failures import AT_ONCE, EVERY, MOST, Failures
from api.access.keys import SHAPE, Keyring
from api.discovery import serving
from api.settings import Settings
from ingest.export import TABLES
from ingest.redaction import Redactor
from ingest.store import Store
from tests.api.keyed import Keyed, bearer, keyed
from tests.api.service import refusal, served

WRONG = f"leakdown_{'0' * 64}"


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keyed]:
    """A service with a key of each scope."""
    with keyed(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """The same, for tests that change nothing of it."""
    with keyed(tmp_path_factory.mktemp("keys")) as made:
        made.make("gone", "admin")
        made.revoke("gone")
        yield made


def test_a_service_without_keys_asks_for_none_until_there_is_one(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as service:
        assert service.http.get("/v1/rates", headers=bearer("whatever")).status_code == 200
        made = service.http.post("/v1/keys", json={"name": "a", "scopes": ["admin"]})
        assert made.headers["cache-control"] == "no-store"
        assert service.http.get("/v1/rates").status_code == 401
        assert service.http.get("/v1/rates", headers=bearer(made.json()["key"])).status_code == 200


def test_keys_are_asked_for_after_the_last_one_was_revoked_and_after_a_restart(tmp_path: Path) -> None:
    with keyed(tmp_path) as made:
        for name in ("ingest", "read", "label", "admin"):
            made.revoke(name)
        assert made.send(None, "GET", "/v1/rates").status_code == 401
        assert made.send("admin", "GET", "/v1/rates").status_code == 401
    with served(tmp_path / "s.duckdb") as service:
        assert service.http.get("/v1/rates").status_code == 401


def test_a_key_is_random_and_has_a_prefix_that_scanners_find(shared: Keyed) -> None:
    assert len(set(shared.keys.values())) == 5
    assert all(SHAPE.fullmatch(key) for key in shared.keys.values())
    assert Redactor().value(f"export KEY={WRONG}.") == "export KEY=[redacted-key]."


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(None, "asks for a key", id="none"),
        pytest.param(f"Bearer {WRONG}", "wrong or was revoked", id="wrong"),
        pytest.param("Bearer revoked", "wrong or was revoked", id="revoked"),
        pytest.param("Bearer cut", "wrong or was revoked", id="cut short"),
        pytest.param("Bearer longer", "wrong or was revoked", id="with something behind it"),
        pytest.param(f"Bearer {'x' * 10_000}", "wrong or was revoked", id="long"),
        pytest.param("Bearer kléid\xff", "wrong or was revoked", id="beyond ASCII"),
        pytest.param("Bearer", "only keys are understood", id="empty"),
        pytest.param("Basic YWRtaW46YWRtaW4=", "only keys are understood", id="a password"),
        pytest.param("bare", "only keys are understood", id="without the word Bearer"),
    ],
)
def test_without_a_key_that_opens_it_there_is_a_401_that_repeats_nothing(
    shared: Keyed, given: str | None, why: str
) -> None:
    texts = {"revoked": shared.keys["gone"], "cut": shared.keys["read"][:-1], "longer": f"{shared.keys['read']}0"}
    for name, text in texts.items():
        given = given.replace(f"Bearer {name}", f"Bearer {text}") if given else given
    given = shared.keys["read"] if given == "bare" else given
    headers = [] if given is None else [(b"authorization", given.encode("latin-1"))]
    answer = shared.service.http.get("/v1/rates", headers=headers)
    assert why in refusal(answer, 401)
    assert answer.headers["www-authenticate"].startswith('Bearer realm="leakdown"')
    secret = (given or "").rpartition(" ")[2]
    assert secret in ("", "Bearer") or secret not in answer.text


def test_a_bearer_is_one_in_any_case(shared: Keyed) -> None:
    headers = {"Authorization": f"bearer  {shared.keys['read']}"}
    assert shared.service.http.get("/v1/rates", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("/v1/rates?key={key}", id="a parameter"),
        pytest.param("/v1/rates?access_token={key}", id="RFC 6750"),
    ],
)
def test_a_key_in_an_address_opens_nothing_and_is_not_repeated(shared: Keyed, address: str) -> None:
    answer = shared.service.http.get(address.format(key=shared.keys["read"]))
    assert answer.status_code == 401
    assert shared.keys["read"] not in answer.text


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        pytest.param("/v1/rates", False, id="numbers"),
        pytest.param("/v1/export.jsonl", False, id="a file"),
        pytest.param("/", False, id="a page"),
        pytest.param("/v1/nope", False, id="an error"),
        pytest.param("/static/app.css", True, id="a static file"),
    ],
)
def test_no_cache_keeps_what_a_key_opens(shared: Keyed, path: str, kept: bool) -> None:
    assert (shared.send("read", "GET", path).headers.get("cache-control") != "no-store") is kept


def test_wrong_keys_are_limited_and_a_right_one_always_opens(keys: Keyed) -> None:
    answers = [keys.service.http.get("/v1/rates", headers=bearer(WRONG)) for _ in range(AT_ONCE + 3)]
    assert [each.status_code for each in answers][:AT_ONCE] == [401] * AT_ONCE
    last = answers[-1]
    assert last.status_code == 429
    assert 1 <= int(last.headers["retry-after"]) <= EVERY
    assert "too many wrong keys" in refusal(last, 429)
    signing_in = keys.service.http.post("/sign-in", data={"key": WRONG})
    assert (signing_in.status_code, int(signing_in.headers["retry-after"]) >= 1) == (429, True)
    assert keys.send("read", "GET", "/v1/rates").status_code == 200


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_failures_are_let_through_again_as_time_passes() -> None:
    clock = Clock()
    failures = Failures(clock)
    assert [failures.count("192.0.2.1") for _ in range(AT_ONCE)] == [0.0] * AT_ONCE
    assert failures.count("192.0.2.1") == EVERY
    assert failures.count("192.0.2.2") == 0.0
    clock.now = EVERY
    assert failures.count("192.0.2.1") == 0.0
    assert failures.count("192.0.2.1") > 0
    clock.now = 1_000_000.0
    assert [failures.count("192.0.2.1") for _ in range(AT_ONCE)] == [0.0] * AT_ONCE


def test_addresses_are_remembered_in_bounded_memory() -> None:
    """Those beyond count together, so that no number of addresses buys more failures for long."""
    clock = Clock()
    failures = Failures(clock)
    let = sum(failures.count(f"10.{at >> 16}.{at >> 8 & 255}.{at & 255}") == 0.0 for at in range(3 * MOST))
    assert len(failures) <= MOST + 1
    assert let == MOST + AT_ONCE
    clock.now = 1_000.0
    assert failures.count("203.0.113.7") == 0.0
    assert len(failures) <= 2


def test_the_addresses_of_one_network_count_together() -> None:
    failures = Failures(Clock())
    waits = [failures.count(f"2001:db8::{at:x}") for at in range(AT_ONCE + 1)]
    assert (waits[0], waits[-1] > 0) == (0.0, True)
    assert failures.count("2001:db8:0:1::1") == 0.0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"name": "read", "scopes": ["read"]}, 409, id="a name in use"),
        pytest.param({"name": "local", "scopes": ["read"]}, 400, id="the name of whoever needs none"),
        pytest.param({"name": "", "scopes": ["read"]}, 400, id="no name"),
        pytest.param({"name": "a/b", "scopes": ["read"]}, 400, id="a name that no address holds"),
        pytest.param({"name": "a\nb", "scopes": ["read"]}, 400, id="a name of two lines"),
        pytest.param({"name": "x" * 65, "scopes": ["read"]}, 400, id="a long name"),
        pytest.param({"name": "a", "scopes": ["write"]}, 400, id="no scope of ours"),
        pytest.param({"name": "a", "scopes": []}, 400, id="no scope"),
        pytest.param({"name": "a"}, 400, id="no scopes"),
        pytest.param({"name": "a", "scopes": ["read"], "key": WRONG}, 400, id="a key of one's own"),
    ],
)
def test_a_key_that_cannot_be_is_refused(shared: Keyed, body: dict[str, object], status: int) -> None:
    refusal(shared.send("admin", "POST", "/v1/keys", json=body), status)
    assert len(shared.send("admin", "GET", "/v1/keys").json()) == 5


def test_a_name_is_free_again_once_its_key_is_revoked(keys: Keyed) -> None:
    first = keys.keys["read"]
    keys.revoke("read")
    assert refusal(keys.send("admin", "DELETE", "/v1/keys/read"), 404).startswith("no key 'read' in use")
    assert keys.make("read", "read") != first
    assert keys.service.http.get("/v1/rates", headers=bearer(first)).status_code == 401
    listed = keys.send("admin", "GET", "/v1/keys").json()
    assert [bool(each["revoked_at"]) for each in listed if each["name"] == "read"] == [True, False]


def test_when_a_key_was_last_used_is_listed_and_kept(tmp_path: Path) -> None:
    with keyed(tmp_path) as made:
        made.send("read", "GET", "/v1/rates")
        told = {each["name"]: each["last_used_at"] for each in made.send("admin", "GET", "/v1/keys").json()}
        assert told["read"]
        assert told["ingest"] is None
    with Store.open(tmp_path / "s.duckdb") as store:
        kept = {each["name"]: each["last_used_at"] for each in Keyring(store).listed()}
    assert kept["read"] == told["read"]
    assert kept["ingest"] is None


def test_no_key_stands_in_the_store_its_exports_or_any_list(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with keyed(tmp_path) as made:
        made.send("read", "GET", f"/v1/runs/{WRONG}")
        made.send("read", "POST", "/v1/labels", content=made.keys["read"].encode())
        made.browser("admin").http.get("/keys")
        answers = [made.send("admin", "GET", path).text for path in ("/v1/keys", "/v1/actions", "/keys", "/metrics")]
        answers.append(made.send("admin", "GET", "/v1/export.jsonl").text)
        tables = [made.send("admin", "GET", f"/v1/export/{table}.parquet").content for table in TABLES]
        left = (tmp_path / "s.duckdb.service.json").read_text()
    said = "".join(capfd.readouterr())
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for key in made.keys.values():
        secret = key.removeprefix("leakdown_")
        assert not [text for text in (*answers, said, left) if secret in text]
        assert secret.encode() not in kept
    columns = {name for body in tables for name in pl.read_parquet(body).columns}
    assert {"digest", "key_id", "scopes"}.isdisjoint(columns)
    assert "keys" not in TABLES


def test_a_key_shows_in_no_repr_of_what_holds_one(keys: Keyed) -> None:
    access = keys.service.app.state.access
    held = repr((access, access.keyring.all(), Settings(key=SecretStr(WRONG)), serving(keys.service.store)))
    assert "Owner" in held
    assert not re.search(r"digest=|[0-9a-f]{64}", held)
