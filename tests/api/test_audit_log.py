"""The audit log: who did what, noted with what was done, readable everywhere, and of bounded length."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.actions import KEPT, acting, actions, note, prune
from ingest.store import Store
from tests.api.conftest import Leakdown, small_history
from tests.api.keyed import Keyed, keyed
from tests.api.service import lines

PASSED_OFF = "3fec960f2cb001ee"
"""The finding of the small history whose leak is passed off."""
LABEL = {"generation_id": "b.0", "leak": True, "by": "ana"}
CONFLICT = {"generation_id": "a.0", "leak": False, "by": "bo"}
REASON = {"reason": "known", "by": "ana"}
ACKNOWLEDGE = f"POST /v1/audit/{PASSED_OFF}/acknowledgement"
EVENT = {"Markup": "x", "Leak": 1, "Retried": False}
CSV = b"generation_id,leak,by\nc.1,clean,cy\n"


@contextmanager
def with_history(folder: Path) -> Iterator[Keyed]:
    """A service with a key of each scope, and the small history."""
    with keyed(folder) as made:
        assert made.send("admin", "POST", "/v1/uploads", content=lines(*small_history())).status_code == 201
        yield made


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keyed]:
    """One for a test of its own."""
    with with_history(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """One for tests that change nothing of it."""
    with with_history(tmp_path_factory.mktemp("log")) as made:
        yield made


def log(keys: Keyed) -> list[tuple[str, str, str]]:
    """Who, what and to what, latest first, without the keys that every test makes."""
    found = keys.send("admin", "GET", "/v1/actions").json()
    return [(each["by"], each["action"], each["object"]) for each in found if each["action"] != "create key"]


FINDING = f"{PASSED_OFF} (leak_completed_turn), by ana"
ENGINE = {"settings": {"engine": "sglang"}}
ACTIONS = [
    pytest.param("admin", "PUT /v1/detectors/current", {"detector": "goat@1"}, "promote", "goat@1", id="promote"),
    pytest.param("label", "POST /v1/labels", LABEL, "label", "generation b.0, by ana", id="label"),
    pytest.param("label", "POST /v1/labels/import?name=l.csv", CSV, "import labels", "l.csv: 1 new", id="import"),
    pytest.param("admin", "PATCH /v1/uploads/1", ENGINE, "correct upload", "1: engine=sglang", id="correct"),
    pytest.param("admin", "DELETE /v1/uploads/1", None, "delete upload", "1: upload", id="delete"),
    pytest.param("label", ACKNOWLEDGE, REASON, "acknowledge finding", FINDING, id="acknowledge"),
    pytest.param("admin", "DELETE /v1/keys/read", None, "revoke key", "read", id="revoke"),
]


def sent(body: dict[str, Any] | bytes | None) -> dict[str, Any]:
    """A body as what sends it takes it."""
    return {"content": body} if isinstance(body, bytes) else {"json": body} if body else {}


@pytest.mark.parametrize(("who", "route", "body", "action", "what"), ACTIONS)
def test_what_a_key_does_is_noted_with_its_name(
    keys: Keyed, who: str, route: str, body: dict[str, Any] | bytes | None, action: str, what: str
) -> None:
    assert keys.send(who, *route.split(" "), **sent(body)).is_success
    assert log(keys) == [(who, action, what)]


def test_a_label_is_given_resolved_and_taken_back(keys: Keyed) -> None:
    given = keys.send("label", "POST", "/v1/labels", json=CONFLICT).json()
    resolved = {**CONFLICT, "by": "cy", "note": "a manual"}
    assert keys.send("label", "POST", "/v1/labels/resolutions", json=resolved).status_code == 201
    assert keys.send("label", "DELETE", f"/v1/labels/{given['label_id']}").status_code == 204
    assert [each[1:] for each in log(keys)] == [
        ("take back label", "generation a.0, by bo"),
        ("resolve", "generation a.0, by cy"),
        ("label", "generation a.0, by bo"),
    ]


def test_an_alert_is_acknowledged_and_opened_again(keys: Keyed) -> None:
    assert keys.send("admin", "DELETE", "/v1/uploads/1").status_code == 204
    sample = Path(__file__).parents[2] / "data" / "sample" / "runs.jsonl"
    assert keys.send("ingest", "POST", "/v1/uploads", content=sample.read_bytes()).status_code == 201
    [alert, *_] = keys.send("read", "GET", "/v1/alerts").json()["items"]
    for action in ("acknowledge", "unmute"):
        wanted = {"action": action, **REASON}
        assert keys.send("label", "POST", f"/v1/alerts/{alert['id']}", json=wanted).status_code == 201
    told = f"{alert['id']} ({alert['rule']}), by ana"
    assert log(keys)[:2] == [("label", "unmute alert", told), ("label", "acknowledge alert", told)]


@pytest.mark.parametrize(
    ("who", "route", "body"),
    [
        pytest.param("read", "DELETE /v1/uploads/1", None, id="without the scope"),
        pytest.param("admin", "DELETE /v1/uploads/9", None, id="of what there is not"),
        pytest.param("admin", "PUT /v1/detectors/current", {"detector": "x@1"}, id="an unknown detector"),
        pytest.param("label", "POST /v1/labels", {**LABEL, "generation_id": "x"}, id="an unknown output"),
        pytest.param("admin", "DELETE /v1/keys/none", None, id="an unknown key"),
        pytest.param("read", "GET /", None, id="a page"),
        pytest.param("ingest", "POST /v1/events", EVENT, id="records"),
    ],
)
def test_what_is_refused_or_only_looked_at_is_not_noted(
    shared: Keyed, who: str, route: str, body: dict[str, Any] | None
) -> None:
    shared.send(who, *route.split(" "), **sent(body))
    assert log(shared) == []


def test_the_same_is_read_on_the_command_line_the_page_and_over_http(keys: Keyed, leakdown: Leakdown) -> None:
    """A command on the machine acts as `local`."""
    store = keys.service.store
    assert leakdown("uploads", "set", "1", "engine=<b>", "--store", store).code == 0
    [entry] = leakdown("keys", "log", "--limit", "1", "--json", "--store", store).json
    assert entry == keys.send("admin", "GET", "/v1/actions?limit=1").json()[0]
    assert (entry["by"], entry["action"], entry["object"]) == ("local", "correct upload", "1: engine=<b>")
    assert "1: engine=&lt;b&gt;" in keys.send("admin", "GET", "/keys").text
    assert "correct upload" in leakdown("keys", "log", "--store", store).out


def test_a_command_on_a_store_is_noted_too(leakdown: Leakdown, small_store: Path) -> None:
    assert leakdown("detectors", "promote", "goat@1", "--store", small_store).code == 0
    found = leakdown("keys", "log", "--json", "--store", small_store).json
    assert [(each["by"], each["action"], each["object"]) for each in found] == [("local", "promote", "goat@1")]


def test_an_entry_is_there_with_what_it_tells_of_or_not_at_all(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        with acting("ana"), store.brief() as cursor:
            note(cursor, "promote", "x" * 1_000)
        with pytest.raises(ZeroDivisionError):
            _fails_after_its_note(store)
        [entry] = actions(store, 10)
    assert (entry["by"], len(entry["object"])) == ("ana", 300)


def _fails_after_its_note(store: Store) -> None:
    with store.brief() as cursor:
        note(cursor, "promote", "y")
        raise ZeroDivisionError


def test_the_log_is_pruned_by_number(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        with store.brief() as cursor:
            for at in range(7):
                note(cursor, "label", str(at))
        prune(store)
        assert len(actions(store, 10)) == 7 <= KEPT
        prune(store, 3)
        assert [each["object"] for each in actions(store, 10)] == ["6", "5", "4"]
