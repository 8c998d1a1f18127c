"""`leakdown alerts`, alerts of `leakdown drift` and its gate, `/v1/alerts`, and the section of the page."""

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.routes.answers.alerts import Alerts
from api.routes.answers.drift import Drift
from tests.analysis.drift.histories import history
from tests.api.conftest import LEAK, Leakdown, write
from tests.api.owners import STORE, paired
from tests.api.service import Service, served, until

RECORDS = [
    {**each, "content": LEAK if each["content"] == "LEAK" else each["content"]}
    for leaks, days in ((1, range(28)), (6, range(28, 40)))
    for each in history(days, leaks, runs=10)
]
"""Four weeks with 10 % of leaks, and twelve days with 60 %: one alarm by the built-in rules."""
RULES = '[[rule]]\nname = "strict"\nkind = "threshold"\nrate = 0.05\n'
NONE = "0123456789abcdef"
"""An id that no alert has."""
TODAY = datetime.now(UTC).date()
LATER = str(TODAY + timedelta(days=30))
WHY = ("--reason", "the new template", "--by", "ana")
SAID = {"reason": "the new template", "by": "ana"}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log."""
    return write(tmp_path_factory.mktemp("log") / "log.jsonl", *RECORDS)


@pytest.fixture
def worse(leakdown: Leakdown, log: Path) -> Path:
    """A store with it."""
    assert leakdown("ingest", "--store", "worse.duckdb", log).code == 0
    return Path("worse.duckdb")


@pytest.fixture
def service(tmp_path: Path, log: Path) -> Iterator[Service]:
    """A service with it."""
    with served(tmp_path / "served.duckdb") as running:
        running.upload_bytes(log.read_bytes())
        yield running


def listed(leakdown: Leakdown, store: Path) -> dict[str, Any]:
    """The one alert of the store."""
    [item] = leakdown("alerts", "list", "--store", store, "--json").json["items"]
    assert isinstance(item, dict)
    return item


def shown(service: Service) -> dict[str, Any]:
    """The one alert of the service."""
    [item] = service.http.get("/v1/alerts").raise_for_status().json()["items"]
    assert isinstance(item, dict)
    return item


def settled(service: Service, path: str) -> str:
    """The page once what it shows is of the store as it is."""
    return until(lambda: service.http.get(path).text, lambda text: "looks again by itself" not in text)


def words(page: str) -> str:
    """What a page says, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_the_keys_that_stay(leakdown: Leakdown, worse: Path) -> None:
    item = listed(leakdown, worse)
    assert item.keys() == {
        "id", "rule", "kind", "model", "provider", "engine", "client", "tools_known", "of", "since", "baseline",
        "recent", "usual", "e_value", "needed", "text", "state", "by", "reason", "at", "until",
    }  # fmt: skip
    assert (item["rule"], item["state"], item["by"]) == ("change", "open", None)
    assert item["text"] == (
        "m · vllm: leaks 60.0% (72 of 120) since 2026-09-29, and 10.0% (28 of 280) in its first 28 days"
    )


def test_drift_has_the_same_alerts(leakdown: Leakdown, worse: Path) -> None:
    found = leakdown("drift", "--store", worse, "--json").json
    assert found["alerts"] == leakdown("alerts", "list", "--store", worse, "--json").json
    assert found["counts"]["alerts"] == 1
    assert [each["rule"] for each in found["alerts"]["rules"]] == ["change", "recovery_drop", "first_seen"]
    assert found["alerts"]["items"][0]["text"] in leakdown("drift", "--store", worse).out


@pytest.mark.parametrize(
    ("given", "said", "state"),
    [
        pytest.param(("acknowledge",), "acknowledged by ana: the new template", "acknowledged", id="acknowledged"),
        pytest.param(("mute", "--until", LATER), f"muted until {LATER} by ana: the new template", "muted", id="muted"),
    ],
)
def test_an_alert_that_is_answered_fails_no_gate(
    leakdown: Leakdown, worse: Path, given: tuple[str, ...], said: str, state: str
) -> None:
    gate = ("drift", "--store", worse, "--fail-on", "counts.alerts > 0")
    assert leakdown(*gate).code == 1
    alert = listed(leakdown, worse)["id"]
    action, *more = given
    done = leakdown("alerts", action, alert, *more, *WHY, "--store", worse)
    assert (done.code, done.out, done.err) == (0, "", f"alert {alert} (change) is {said}\n")
    assert leakdown(*gate).code == 0
    assert (listed(leakdown, worse)["state"], listed(leakdown, worse)["reason"]) == (state, "the new template")
    again = leakdown("alerts", action, alert, *more, *WHY, "--store", worse)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert f"alert {alert} was {state}" in again.err
    opened = leakdown("alerts", "unmute", alert, *WHY, "--store", worse)
    assert (opened.code, opened.err) == (0, f"alert {alert} (change) is open again\n")
    assert leakdown(*gate).code == 1


def test_every_command_says_the_same_through_a_service(leakdown: Leakdown, worse: Path, tmp_path: Path) -> None:
    alert = listed(leakdown, worse)["id"]
    with paired(tmp_path, worse) as pair:
        for folder in (pair.direct, pair.served):
            (folder / "rules.toml").write_text(RULES)
        for call, code in (
            (("alerts", "list"), 0),
            (("alerts", "list", "--where", "model=none", "--json"), 0),
            (("drift", "--alerts", "rules.toml", "--json"), 0),
            (("drift", "--alerts", "rules.toml", "--where", "model=m", "--since", "2026-09-05"), 0),
            (("drift", "--fail-on", "counts.alerts > 0"), 1),
            (("alerts", "mute", alert, "--until", LATER, *WHY), 0),
            (("alerts", "mute", alert, "--until", LATER, *WHY), 2),
            (("alerts", "acknowledge", alert, *WHY), 0),
            (("alerts", "acknowledge", "x/y", *WHY), 2),
            (("alerts", "acknowledge", NONE, *WHY), 2),
            (("alerts", "mute", alert, "--until", "2020-01-01", *WHY), 2),
            (("alerts", "list", "--json"), 0),
            (("drift", "--fail-on", "counts.alerts > 0"), 0),
            (("alerts", "unmute", alert, *WHY), 0),
            (("alerts", "unmute", alert, *WHY), 2),
            (("drift",), 0),
        ):
            pair.assert_same(lambda call=call: leakdown(*call, "--store", STORE), code)  # type: ignore[misc]


def test_rules_of_a_file_take_the_place_of_the_built_in_ones(
    leakdown: Leakdown, worse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("rules.toml").write_text(RULES)
    found = leakdown("drift", "--store", worse, "--alerts", "rules.toml", "--json").json["alerts"]
    assert [(each["rule"], each["kind"]) for each in found["items"]] == [("strict", "threshold")]
    assert [each["rule"] for each in found["rules"]] == ["strict"]
    monkeypatch.setenv("LEAKDOWN_ALERTS", "rules.toml")
    assert leakdown("alerts", "list", "--store", worse, "--json").json == found


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param(("drift", "--alerts", "none.toml"), "none.toml: cannot be read", id="no file"),
        pytest.param(("drift", "--alerts", "bad.toml"), "bad.toml: rule 1: rate: input should be", id="a bad file"),
        pytest.param(("alerts", "acknowledge", NONE, *WHY), f"no alert '{NONE}'", id="no alert"),
        pytest.param(("alerts", "acknowledge", "x/y", *WHY), "no alert 'x/y'", id="no id"),
        pytest.param(("alerts", "mute", NONE, *WHY, "--until", "soon"), "until soon: write a day", id="no day"),
        pytest.param(("alerts", "mute", NONE, *WHY, "--until", "2020-01-01"), "is over", id="a day that is over"),
        pytest.param(("alerts", "mute", NONE, *WHY), "Missing option '--until'", id="a mute without an end"),
        pytest.param(("alerts", "unmute", NONE, "--reason", " ", "--by", "a"), "needs a reason", id="no reason"),
        pytest.param(("alerts", "list", "--where", "x=y"), "--where x=y", id="an unknown filter"),
    ],
)
def test_a_wrong_call_is_one_clear_line(leakdown: Leakdown, worse: Path, call: tuple[str, ...], said: str) -> None:
    Path("bad.toml").write_text(RULES.replace("0.05", "5"))
    ran = leakdown(*call, "--store", worse)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_a_bad_file_in_the_settings_is_one_clear_line(
    leakdown: Leakdown, worse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a command, and for the service before it serves."""
    Path("bad.toml").write_text(RULES.replace("rate", "rat"))
    monkeypatch.setenv("LEAKDOWN_ALERTS", "bad.toml")
    for call in (("rates",), ("serve", "--port", "0")):
        ran = leakdown(*call, "--store", worse)
        assert (ran.code, ran.err) == (2, "leakdown: bad.toml: rule 1: rate: field required\n")


def test_the_service_answers_with_all_that_it_documents(service: Service) -> None:
    declared = Alerts.model_validate(service.http.get("/v1/alerts").json())
    drift = Drift.model_validate(service.http.get("/v1/drift").json())
    assert drift.alerts == declared
    [item] = declared.items
    assert item.baseline
    assert item.model_extra == item.recent.model_extra == item.baseline.model_extra == declared.model_extra == {}
    assert [each.model_extra for each in declared.rules] == [{}] * 3


def test_the_service_goes_by_the_rules_of_its_settings(tmp_path: Path, log: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    with served(tmp_path / "s.duckdb", alerts=tmp_path / "rules.toml") as running:
        running.upload_bytes(log.read_bytes())
        assert shown(running)["rule"] == "strict"


def test_rules_that_come_along_are_asked_instead(service: Service) -> None:
    rules = [{"name": "strict", "kind": "threshold", "rate": 0.05, "where": ["model=m"], "since": "2026-09-01"}]
    found = service.http.post("/v1/drift", json={"rules": rules}).raise_for_status().json()
    assert [each["rule"] for each in found["alerts"]["items"]] == ["strict"]
    assert found["counts"]["alerts"] == 1
    assert shown(service)["rule"] == "change"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param({"rules": []}, "rules", id="no rule"),
        pytest.param({"rules": [{"name": "a", "kind": "threshold"}]}, "rate: Field required", id="no rate"),
        pytest.param({"rules": [{"name": "a", "kind": "change"}] * 2}, "is the name of rule 1 too", id="a name twice"),
        pytest.param({"rules": [{"name": "a", "kind": "change", "where": ["x=y"]}]}, "x=y", id="no filter"),
    ],
)
def test_rules_that_are_none_are_refused(service: Service, body: dict[str, Any], said: str) -> None:
    assert said in service.refused(400, "POST", "/v1/drift", json=body)


def test_over_http_an_alert_is_answered_once(service: Service) -> None:
    address = f"/v1/alerts/{shown(service)['id']}"
    given = service.http.post(address, json={"action": "acknowledge", **SAID})
    assert given.status_code == 201
    assert (
        given.json().items() >= {"id": shown(service)["id"], "rule": "change", "state": "acknowledged", **SAID}.items()
    )
    assert "was acknowledged by ana" in service.refused(409, "POST", address, json={"action": "acknowledge", **SAID})
    assert service.http.get("/v1/drift").json()["counts"]["alerts"] == 0
    muted = service.http.post(address, json={"action": "mute", "until": LATER, **SAID}).json()
    assert (muted["state"], muted["until"]) == ("muted", LATER)
    opened = service.http.post(address, json={"action": "unmute", **SAID}).json()
    assert (opened["state"], opened["by"]) == ("open", None)
    assert "is open" in service.refused(409, "POST", address, json={"action": "unmute", **SAID})


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        pytest.param({"action": "acknowledge", **SAID}, 404, f"no alert '{NONE}'", id="an alert that is not there"),
        pytest.param({"action": "mute", **SAID}, 400, "needs a day", id="a mute without an end"),
        pytest.param({"action": "mute", "until": "soon", **SAID}, 400, "no day", id="no day"),
        pytest.param({"action": "close", **SAID}, 400, "action", id="no action"),
        pytest.param({"action": "acknowledge", "reason": " ", "by": "ana"}, 400, "needs a reason", id="no reason"),
        pytest.param({"action": "acknowledge", "reason": "x", "by": ""}, 400, "needs the name", id="nobody"),
    ],
)
def test_a_wrong_word_is_refused(service: Service, body: dict[str, Any], status: int, said: str) -> None:
    assert said in service.refused(status, "POST", f"/v1/alerts/{NONE}", json=body)


def test_the_page_answers_an_alert_as_a_plain_form(service: Service) -> None:
    first = settled(service, "/drift?where=model=m")
    assert "Leaks more than before change" in words(first)
    assert shown(service)["text"] in words(first)
    form = {"alert": shown(service)["id"], "action": "mute", "by": "ana", "where": "model=m", "until": LATER}
    assert service.http.post("/drift/alerts", data={**form, "reason": " "}).status_code == 400
    assert service.http.post("/drift/alerts", data={**form, "reason": "x", "until": "soon"}).status_code == 400
    done = service.http.post("/drift/alerts", data={**form, "reason": "<b>known</b>"})
    assert (done.status_code, done.headers["location"]) == (303, "/drift?where=model%3Dm&by=ana")
    left = service.http.get(done.headers["location"]).text
    assert "No alert is open; 1 acknowledged or muted." in words(left)
    assert f"muted until {LATER} by ana" in words(left)
    assert "<b>known</b>" not in left
    again = service.http.post("/drift/alerts", data={**form, "reason": "x"}, headers={"Accept": "text/html"})
    assert again.status_code == 409
    opened = service.http.post("/drift/alerts", data={**form, "action": "unmute", "reason": "look again"})
    assert opened.status_code == 303
    assert shown(service)["state"] == "open"


def test_hostile_names_reach_neither_page_nor_terminal_as_they_are(leakdown: Leakdown, service: Service) -> None:
    hostile = [{**each, "model": "<script>\x1b[31m\u202e", "run_id": f"h{each['run_id']}"} for each in RECORDS]
    service.upload(*hostile)
    page = settled(service, "/drift")
    assert "<script>\x1b" not in page
    assert not [char for char in "\x1b\u202e" if char in page]
    leakdown("ingest", "--store", "h.duckdb", write("h.jsonl", *hostile))
    ran = leakdown("alerts", "list", "--store", "h.duckdb")
    assert "leaks 60.0%" in ran.out
    assert not [char for char in "\x1b\u202e" if char in ran.out]
