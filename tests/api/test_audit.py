"""`leakdown audit`, `/v1/audit` and the page: keys that stay, an acknowledgement given once, pages of a long list."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.routes.answers.audit import AuditPage
from tests.api.conftest import LEAK, Leakdown, generation, small_history, write
from tests.api.service import Service, served, until

ITEM = ["rule", "id", "run_id", "generation_id", "evidence", "detector", "acknowledged"]
NONE = "0123456789abcdef"
"""An id that no finding has."""
PASSED_OFF = {"rule": "leak_completed_turn"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service with the small history."""
    with served(tmp_path / "served.duckdb") as running:
        running.upload(*small_history())
        yield running


def items(service: Service, **asked: Any) -> list[dict[str, Any]]:
    """The findings that the service lists."""
    found: list[dict[str, Any]] = service.http.get("/v1/audit", params=asked).raise_for_status().json()["items"]
    return found


def shown(service: Service, path: str) -> str:
    """The page once what it shows is of the store as it is."""
    return until(lambda: service.http.get(path).text, lambda text: "looks again by itself" not in text)


def words(page: str) -> str:
    """What a page says, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_the_keys_that_stay(leakdown: Leakdown, small_store: Path) -> None:
    found = leakdown("audit", "--store", small_store, "--json").json
    assert [(each["rule"], each["generation_id"]) for each in found] == [
        ("leak_completed_turn", "b.0"), ("leak_without_event", "b.0"),
    ]  # fmt: skip
    assert [list(each) for each in found] == [ITEM, ITEM]
    assert {each["detector"] for each in found} == {"leakdown@1"}


def test_the_service_answers_with_all_that_it_documents(service: Service) -> None:
    answer = AuditPage.model_validate(service.http.get("/v1/audit").json())
    assert answer.model_extra == {}
    assert [each.model_extra for each in (*answer.rules, *answer.items)] == [{}] * (len(answer.rules) + 2)


def test_a_table_counts_what_could_not_be_checked(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("audit", "--store", small_store)
    rules, findings = (part.splitlines() for part in ran.out.split("\n\n"))
    assert len(rules) == 11
    [row] = [line.split() for line in rules if line.startswith("more_retries_than_allowed")]
    assert row == ["more_retries_than_allowed", "leaks", "0", "0", "0", "2", "policy_unknown", "2"]
    assert [line.split()[1] for line in findings[1:]] == ["leak_completed_turn", "leak_without_event"]
    assert "each run is held to the policy of its client" in ran.err


def test_hostile_evidence_reaches_no_terminal_as_it_is(leakdown: Leakdown) -> None:
    log = write("h.jsonl", generation("h", 0, f"{LEAK[:11]}\x1b[31m\u202e{LEAK[11:]}"))
    assert leakdown("ingest", log, "--store", "h.duckdb").code == 0
    ran = leakdown("audit", "--store", "h.duckdb")
    assert "leak_completed_turn" in ran.out.split("\n\n")[1]
    assert not [char for char in "\x1b\u202e" if char in ran.out]


def test_a_finding_is_acknowledged_once_on_the_command_line(leakdown: Leakdown, small_store: Path) -> None:
    at = ("--store", small_store)
    finding = leakdown("audit", *at, "--rule", "leak_completed_turn", "--json").json[0]["id"]
    given = leakdown("audit", "acknowledge", finding, "--by", "ana", "--reason", "a known fault", *at)
    assert (given.code, given.out) == (0, "")
    assert given.err == f"acknowledged {finding} (leak_completed_turn) by ana: a known fault\n"
    again = leakdown("audit", "acknowledge", finding, "--by", "bo", "--reason", "me too", *at)
    assert (again.code, again.out) == (2, "")
    assert re.fullmatch(
        rf"leakdown: finding {finding} was acknowledged by ana on [\d -]+:\d\d UTC: a known fault\n", again.err
    )
    assert [each["rule"] for each in leakdown("audit", *at, "--json").json] == ["leak_without_event"]
    [known, _] = leakdown("audit", *at, "--all", "--json").json
    assert (known["id"], known["acknowledged"]["by"], known["acknowledged"]["reason"]) == (
        finding,
        "ana",
        "a known fault",
    )
    assert "ana, 20" in leakdown("audit", *at, "--all").out


def test_an_acknowledged_finding_stays_so_when_its_log_comes_again(leakdown: Leakdown, small_store: Path) -> None:
    at = ("--store", small_store)
    first = leakdown("audit", *at, "--json").json
    assert leakdown("audit", "acknowledge", first[0]["id"], "--by", "ana", "--reason", "known", *at).code == 0
    assert leakdown("uploads", "delete", "1", *at).code == 0
    assert leakdown("audit", *at, "--all", "--json").json == []
    assert leakdown("ingest", "history.jsonl", *at).code == 0
    again = leakdown("audit", *at, "--all", "--json").json
    assert [each["id"] for each in again] == [each["id"] for each in first]
    assert [bool(each["acknowledged"]) for each in again] == [True, False]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param(("--rule", "x"), "unknown rule 'x'; known: event_without_leak", id="an unknown rule"),
        pytest.param(("--policy", "nudge"), "unknown policy 'nudge'; known: foundry@1", id="an unknown policy"),
        pytest.param(("--since", "soon"), "--since soon: write a date or time", id="no time"),
        pytest.param(
            ("acknowledge", "x", "--by", "a", "--reason", "b"), "no finding 'x'; `leakdown audit`", id="no id"
        ),
        pytest.param(("acknowledge", "x", "--by", "a", "--reason", " "), "needs a reason", id="no reason"),
        pytest.param(("acknowledge", "x", "--by", "a"), "Missing option '--reason'", id="the reason is missing"),
        pytest.param(("explain",), "No such command 'explain'", id="another command"),
    ],
)
def test_a_wrong_call_is_one_clear_line(
    leakdown: Leakdown, small_store: Path, call: tuple[str, ...], said: str
) -> None:
    ran = leakdown("audit", *call, *(() if call == ("explain",) else ("--store", small_store)))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_options_before_the_inner_command_are_not_passed_over(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("audit", "--store", small_store, "acknowledge", "x", "--by", "a", "--reason", "b")
    assert (ran.code, ran.err) == (2, "leakdown: audit: write options after `acknowledge`\n")


def test_a_finding_under_a_policy_is_acknowledged_under_it(leakdown: Leakdown, small_store: Path) -> None:
    at = ("--store", small_store)
    [found] = leakdown("audit", "--policy", "report-only", "--rule", "more_retries_than_allowed", "--json", *at).json
    known = ("audit", "acknowledge", found["id"], "--by", "ana", "--reason", "it may", *at)
    assert leakdown(*known).code == 2
    assert leakdown(*known, "--policy", "report-only").code == 0


def test_over_http_a_finding_is_acknowledged_once(service: Service) -> None:
    [finding] = items(service, **PASSED_OFF)
    address = f"/v1/audit/{finding['id']}/acknowledgement"
    given = service.http.post(address, json={"by": "ana", "reason": "known"})
    assert given.status_code == 201
    assert (given.json()["id"], given.json()["rule"], given.json()["by"]) == (
        finding["id"],
        "leak_completed_turn",
        "ana",
    )
    assert "acknowledged by ana on" in service.refused(409, "POST", address, json={"by": "bo", "reason": "again"})
    assert items(service, **PASSED_OFF) == []
    [known] = items(service, **PASSED_OFF, all=True)
    assert known == {**finding, "acknowledged": {name: given.json()[name] for name in ("by", "reason", "at")}}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        pytest.param({"by": "ana", "reason": "x"}, 404, f"no finding '{NONE}'", id="a finding that is not there"),
        pytest.param({"by": "ana", "reason": " "}, 400, "needs a reason", id="a blank reason"),
        pytest.param({"by": "", "reason": "x"}, 400, "needs the name", id="nobody"),
        pytest.param({"by": "ana"}, 400, "reason", id="no reason"),
        pytest.param({"by": "ana", "reason": "x", "policy": "nudge"}, 400, "unknown policy", id="no policy"),
    ],
)
def test_a_wrong_acknowledgement_is_refused(service: Service, body: dict[str, Any], status: int, said: str) -> None:
    assert said in service.refused(status, "POST", f"/v1/audit/{NONE}/acknowledgement", json=body)


def test_pages_of_the_list_hold_every_finding_once(service: Service) -> None:
    service.upload(*(generation(f"x{n}", 0, LEAK) for n in range(5)))
    seen, cursor = [], None
    while True:
        asked = {"limit": 3, **({"cursor": cursor} if cursor else {})}
        page = service.http.get("/v1/audit", params=asked).json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
        if not cursor:
            break
    assert seen == [each["id"] for each in items(service, limit=500)]
    assert len(seen) == len(set(seen)) == 12
    assert "not one that a page gave" in service.refused(400, "GET", "/v1/audit?cursor=x")


def test_the_page_acknowledges_a_finding_as_a_plain_form(service: Service) -> None:
    first = shown(service, "/audit?rule=leak_completed_turn")
    assert "the turn ended with this leak as its answer: <tool_call>" in words(first)
    assert 'href="/runs/b"' in first
    [finding] = items(service, **PASSED_OFF)
    form = {"finding": finding["id"], "by": "ana", "reason": "<b>known</b>", "rule": "leak_completed_turn"}
    assert service.http.post("/audit/acknowledge", data={**form, "reason": " "}).status_code == 400
    done = service.http.post("/audit/acknowledge", data=form)
    assert (done.status_code, done.headers["location"]) == (303, "/audit?rule=leak_completed_turn&by=ana")
    left = shown(service, done.headers["location"])
    assert "No rule is broken by what could be checked, but for what was acknowledged." in words(left)
    told = shown(service, "/audit?rule=leak_completed_turn&all=true")
    assert "acknowledged by ana" in words(told)
    assert "<b>known</b>" not in told
    again = service.http.post("/audit/acknowledge", data=form, headers={"Accept": "text/html"})
    assert again.status_code == 409
    assert "was acknowledged by ana" in words(again.text)


def test_filters_stay_when_a_finding_is_acknowledged(service: Service) -> None:
    asked = {"rule": "more_retries_than_allowed", "policy": "report-only", "where": "run_id=a"}
    [finding] = items(service, **asked)
    form = {"finding": finding["id"], "by": "ana", "reason": "it may", **asked, "since": "", "all": "true"}
    done = service.http.post("/audit/acknowledge", data=form)
    assert done.headers["location"] == (
        "/audit?where=run_id%3Da&rule=more_retries_than_allowed&policy=report-only&all=true&by=ana"
    )
    assert "it may" in words(shown(service, done.headers["location"]))


def test_an_event_without_a_generation_is_counted_and_not_held_against_anyone(service: Service) -> None:
    service.upload({"type": "leaked_tool_call", "run_id": "gone", "markup": "<tool_call>", "leak": 1, "retried": False})
    page = service.http.get("/v1/audit", params={"rule": "event_without_leak"}).json()
    assert page["items"] == []
    assert page["rules"][0]["why"] == {"generation_not_here": 1}
    assert "1 not checkable: the event belongs to no generation of the store" in words(shown(service, "/audit"))


def test_a_later_page_links_back_to_the_first(service: Service) -> None:
    service.upload(*(generation(f"x{n}", 0, LEAK) for n in range(60)))
    first = shown(service, "/audit?rule=leak_completed_turn&by=ana")
    following = re.search(r'href="([^"]+)" rel="next"', first)
    assert following
    second = shown(service, html.unescape(following[1]))
    assert 'rel="next"' not in second
    assert 'href="/audit?rule=leak_completed_turn&amp;by=ana">First page' in second
    ids = [re.findall(r'<span class="id">(\w+)</span>', page) for page in (first, second)]
    assert [len(each) for each in ids] == [50, 11]
    assert not set(ids[0]) & set(ids[1])
