"""The page of recovery and that of a run with attempts: what they show is what their JSON says, in words."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from analysis.recovery.policies import policies
from analysis.recovery.turn import Mark
from analysis.strict_batch import REASON_CODES
from api.pages import recovery_words
from api.pages.faults import TITLES
from api.pages.runs import rounds
from tests.api.conftest import CALL, LEAK, generation
from tests.api.service import PATIENCE, Service, served
from tests.api.test_pages import HOSTILE, Page, harmless

Json = dict[str, Any]
FOLLOWED = "All is well."


def attempt(run_id: str, round_: int, number: int, content: str | None, **fields: Any) -> Json:
    """A generation of this round and attempt."""
    return generation(
        run_id, round_, content, generation_id=f"{run_id}.{round_}.{number}", attempt=number, turn=0, **fields
    )


HISTORY: list[Json] = [
    attempt("mended", 0, 0, LEAK, status="failed", usage={"input_tokens": 1200, "output_tokens": 34}),
    attempt("mended", 0, 1, None, tool_calls=CALL),
    attempt("mended", 1, 0, FOLLOWED),
    attempt("twice", 0, 0, LEAK),
    attempt("twice", 0, 1, f"Once more. {LEAK}"),
    attempt("twice", 0, 2, f"And more. {LEAK}"),
    attempt("lost", 0, 0, LEAK),
    attempt("lost", 0, 2, FOLLOWED),
    attempt("alone", 0, 1, LEAK),
    attempt("broken", 0, 0, LEAK),
    attempt("broken", 0, 1, None, tool_calls=[{"id": "c", "name": "rm", "arguments": "[]"}], finish_reason="stop"),
    generation("untold", 0, LEAK, round=None, attempt=None),
    generation("untold", 1, LEAK, round=None, attempt=None),
    {"type": "label", "generation_id": "mended.0.0", "leak": True, "by": "ana"},
    {"type": "label", "generation_id": "twice.0.1", "leak": False, "by": "ana"},
]
"""Leaks that a retry mends, that leak on, whose retry is lost, whose first attempt is, that no round is told of; and
a retry that a strict system would have refused."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with that history, to look at."""
    with served(tmp_path_factory.mktemp("recovery") / "s.duckdb") as running:
        running.upload(*HISTORY)
        running.http.get("/v1/recovery").raise_for_status()
        yield running


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Service]:
    """A service with nothing in it."""
    with served(tmp_path / "s.duckdb") as running:
        yield running


def words(answer: httpx.Response) -> str:
    """The text of a page, in one line."""
    assert answer.status_code == 200, answer.text
    main = answer.text.partition("<main")[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main)).replace("&#39;", "'")


def shown(service: Service, *records: Json, query: str = "") -> str:
    """The page of recovery over `records`, once it is computed."""
    if records:
        service.upload(*records)
    service.http.get(f"/v1/recovery{query}").raise_for_status()
    return words(service.http.get(f"/recovery{query}"))


def test_the_page_has_every_part_with_its_numbers(service: Service) -> None:
    text, report = shown(service), service.http.get("/v1/recovery").json()
    funnel = report["funnel"]
    assert f"over {report['rounds']} rounds that began with a leak" in text
    assert f"leaked retried {funnel['retried']['hits']} of {funnel['rounds']}" in text
    for heading in (
        "From leak to outcome", "Policies side by side", "What each policy decided, and why", "The strict check",
        "Odd records",
    ):  # fmt: skip
        assert heading in text
    for mark, n in report["marks"].items():
        assert f"{recovery_words.MARKS[mark]} {mark} {n}" in text


def test_every_policy_stands_with_its_decisions_in_words(service: Service) -> None:
    text, report = shown(service), service.http.get("/v1/recovery").json()
    assert len(report["policies"]) == len(policies())
    for each in report["policies"]:
        assert text.count(each["policy"]) >= 2
        meanings = {(one.action, one.code): one.meaning for policy in policies() if policy.id == each["policy"]
                    for one in policy.reasons}  # fmt: skip
        for one in each["decisions"]:
            assert f"{one['action']} {meanings[one['action'], one['reason']]} {one['reason']} {one['n']}" in text


def test_observed_and_estimated_stand_in_columns_of_their_own(service: Service) -> None:
    text = shown(service, query="?policy=goat")
    [goat] = service.http.get("/v1/recovery", params={"policy": "goat"}).json()["policies"]
    seen, unseen = goat["observed"], goat["estimated"]
    low, high = (f"{100 * seen[f'recovery_{end}']:.1f}%" for end in ("low", "high"))
    expected = f"{unseen['recovered']:.1f} {unseen['recovered_low']:.1f} to {unseen['recovered_high']:.1f}"
    assert "observed estimated" in text
    assert f"rounds counted {seen['n']} {unseen['n']} " in text
    assert re.search(rf"recovered {seen['recovered']} [0-9.]+% {low} to {high} {expected}", text)


def test_only_the_policies_of_the_address_are_shown_with_their_parameters(service: Service) -> None:
    text = shown(service, query="?policy=salvage&policy=retry-n:max_retries=3")
    assert "goat@1" not in text
    assert text.index("salvage@1") < text.index("retry-n@1:max_retries=3")
    assert "max_retries=3 : Retries a round at the most." in text


def test_the_strict_check_keeps_apart_what_it_cannot_tell(service: Service) -> None:
    text, strict = shown(service), service.http.get("/v1/recovery").json()["strict"]
    assert strict["refused"]
    assert strict["not_checkable"]
    for code, n in {**strict["reasons"], **strict["not_checkable_why"]}.items():
        assert f"{recovery_words.REFUSALS[code]} {code} {n}" in text


@pytest.mark.parametrize(
    ("records", "query", "said"),
    [
        pytest.param([], "", "Drop a log on Uploads", id="an empty store"),
        pytest.param([generation("a", 0, FOLLOWED)], "", "No leak to recover from", id="no leak"),
        pytest.param([generation("a", 0, LEAK)], "?where=model=none", "Widen the filters", id="a filter fits none"),
        pytest.param([generation("a", 0, LEAK)], "", "log each retry as a further attempt", id="no retry"),
        pytest.param([attempt("a", 0, 1, LEAK)], "", "No round begins with a leak", id="no leaked first attempt"),
    ],
)
def test_what_there_is_nothing_of_says_what_to_do(empty: Service, records: list[Json], query: str, said: str) -> None:
    assert said in shown(empty, *records, query=query)


@contextmanager
def holding(service: Service) -> Iterator[threading.Event]:
    """The service computes nothing until the event is set; its backend is the seam."""
    go_on, backend = threading.Event(), service.app.state.backend
    compute: Callable[..., Json] = backend.figures.recovery

    def held(*arguments: Any, **more: Any) -> Json:
        assert go_on.wait(PATIENCE)
        return compute(*arguments, **more)

    backend.figures.recovery = held
    try:
        yield go_on
    finally:
        go_on.set()
        del backend.figures.recovery


def test_a_page_never_waits_long_and_says_what_it_shows(empty: Service) -> None:
    """Nothing yet, then what was computed before, then what is new; it looks again by itself meanwhile."""
    with holding(empty) as go_on:
        first = empty.http.get("/recovery")
        assert "being computed for the first time" in words(first)
        assert 'http-equiv="refresh"' in first.text
        go_on.set()
        assert "No leak to recover from" in shown(empty)
    with holding(empty) as go_on:
        empty.upload(*HISTORY)
        old = empty.http.get("/recovery")
        assert "The store has changed since then: this is what was computed before." in words(old)
        assert "No leak to recover from" in words(old)
        assert 'http-equiv="refresh"' in old.text
        go_on.set()
    new = shown(empty)
    assert "From leak to outcome" in new
    assert 'http-equiv="refresh"' not in empty.http.get("/recovery").text


def test_what_cannot_be_computed_says_why_and_is_tried_again_by_a_form(empty: Service) -> None:
    backend = empty.app.state.backend
    compute = backend.figures.recovery

    def broken(*_: Any, **__: Any) -> Json:
        raise ValueError(f"a fault of the test {HOSTILE}")

    backend.figures.recovery = broken
    answer = empty.http.get("/recovery", params={"policy": "goat", "where": "model=m*"})
    harmless(answer)
    assert "could not be computed: ValueError: a fault of the test" in words(answer)
    backend.figures.recovery = compute
    again = empty.http.post("/recovery", data={"policy": "goat", "where": "model=m*", "since": ""})
    assert (again.status_code, again.headers["location"]) == (303, "/recovery?policy=goat&where=model%3Dm%2A")
    assert "No leak matches" in shown(empty, query="?policy=goat&where=model%3Dm%2A")


def test_the_page_of_a_run_says_whose_fault_its_leaks_are(service: Service) -> None:
    shown = service.http.get("/runs/mended")
    [leak] = [each for each in service.http.get("/v1/runs/mended").json()["generations"] if each["leak"]]
    assert f"Whose fault: {TITLES[leak['fault']['fault']][0]} . {leak['fault']['reason']}." in words(shown)


def test_rates_of_leaked_rounds_faults_and_pairings_stand_on_the_page(service: Service) -> None:
    page = words(service.http.get("/recovery?by=model"))
    assert "What became of them, by model" in page
    assert "retries that leaked" in page
    assert "Whose fault the leaks are" in page
    assert "What each pairing makes of its tools" in page


def test_the_chart_draws_the_numbers_of_the_report(service: Service) -> None:
    figure = service.http.get("/v1/recovery/figure").json()
    funnel = service.http.get("/v1/recovery").json()["funnel"]
    assert figure["data"][0]["x"] == [funnel["retried"]["rate"]]
    assert 'data-figure="/v1/recovery/figure"' in service.http.get("/recovery").text


def test_hostile_text_of_a_policy_and_a_filter_is_only_text(service: Service) -> None:
    given = {"policy": f"foundry:engines={HOSTILE.replace(',', '')}", "where": f"model={HOSTILE}"}
    service.http.get("/v1/recovery", params=given).raise_for_status()
    harmless(service.http.get("/recovery", params=given))


def test_attempts_of_a_round_stand_together_with_what_became_of_them(service: Service) -> None:
    """In words, not in colours alone."""
    text = words(service.http.get("/runs/mended"))
    assert "Turn 0, round 0 2 attempts" in text
    assert "First attempt leak dropped retried mended.0.0" in text
    assert "Retry 1 committed mended.0.1" in text
    assert "1,200 tokens read, 34 written" in text
    assert "What became of it: structured , the next attempt made a valid tool call." in text


def test_every_leak_of_a_run_has_the_decision_of_every_policy(service: Service) -> None:
    text = words(service.http.get("/runs/twice"))
    told = [each for each in service.http.get("/v1/runs/twice").json()["generations"] if each["leak"]]
    assert [len(each["decisions"]) for each in told] == [len(policies())] * 3
    for each in (one for leak in told for one in leak["decisions"]):
        if each["action"]:
            assert f"{each['policy']} {each['action']} {each['meaning']} {each['reason']}" in text
        else:
            assert f"{each['policy']} – It had ended the round at an earlier attempt." in text


@pytest.mark.parametrize(
    ("run_id", "said"),
    [
        pytest.param("lost", "Odd in the log: an attempt between two others is not in the log.", id="a lost attempt"),
        pytest.param("alone", "No policy is asked here", id="a lost first attempt"),
        pytest.param("untold", "Odd in the log: the log tells no round or no attempt", id="no round"),
    ],
)
def test_what_is_odd_about_a_round_stands_beside_it(service: Service, run_id: str, said: str) -> None:
    assert said in words(service.http.get(f"/runs/{run_id}"))


def test_calls_taken_from_hostile_text_are_only_text(empty: Service) -> None:
    """A salvaged call has its name and arguments from the model."""
    markup = LEAK.replace("{}", '{"path": "<script>alert(1)</script><img src=x onerror=alert(1)>\\u202e"}')
    empty.upload(attempt("r", 0, 0, markup, tools=[{"name": "ls"}, {"name": HOSTILE}]))
    [leak] = empty.http.get("/v1/runs/r").json()["generations"]
    taken = [call for one in leak["decisions"] for call in one["calls"]]
    assert any("<script>" in str(each["arguments"]) for each in taken)
    harmless(empty.http.get("/runs/r"))


GROUPS: list[tuple[list[tuple[Any, ...]], list[list[str]], str]] = [
    ([(0, 0, "agent", "ok")], [["committed"]], "one attempt"),
    ([(0, 0, "agent", "failed"), (0, 1, "agent", "ok")], [["dropped retried", "committed"]], "a retry"),
    ([(0, 0, "agent", "failed")], [["dropped"]], "given up"),
    ([(0, 0, "agent", "ok"), (0, 1, "agent", "error")], [["retried", "errored"]], "the retry failed"),
    ([(0, 0, "agent", "ok"), (0, 1, "agent", "cut")], [["retried", "cut off"]], "the retry broke off"),
    ([(0, 0, None, None), (0, 0, "subagent", "ok"), (0, 1, "agent", "ok")], [["retried", "committed"], ["committed"]],
     "a subagent's round is another one"),
    ([(None, None, "agent", "ok"), (None, None, "agent", "cancelled")], [[""], ["cancelled"]], "no round is told"),
    ([(0, None, "agent", "ok"), (0, None, "agent", "ok")], [[""], [""]], "no attempt is told"),
]  # fmt: skip


@pytest.mark.parametrize(("places", "became"), [pytest.param(*row[:2], id=row[2]) for row in GROUPS])
def test_generations_are_grouped_by_round(places: list[tuple[Any, ...]], became: list[list[str]]) -> None:
    names = ("round", "attempt", "role", "status")
    found = rounds([{"turn": 0, **dict(zip(names, each, strict=True))} for each in places])
    assert [[" ".join(words) for words in each["became"]] for each in found] == became
    assert sum(len(each["attempts"]) for each in found) == len(places)


def test_every_word_of_recovery_is_explained() -> None:
    assert set(recovery_words.MARKS) == set(Mark.__args__)  # type: ignore[attr-defined]
    assert set(recovery_words.REFUSALS) == {*REASON_CODES, "envelope_not_stored"}


def test_navigation_leads_to_recovery(service: Service) -> None:
    assert "/recovery" in Page(service.http.get("/")).links
