"""Detectors tried and promoted, outputs reviewed by key and by button, in the browser."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.api.conftest import LEAK, generation, small_history
from tests.api.service import Service, until
from tests.browser.conftest import Visit

BOTH_WAYS = pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")]
)


@BOTH_WAYS
def test_text_is_tried_on_every_detector(visit: Visit, service: Service, scripts: bool) -> None:
    """Each says what it finds, and marks it in the text as it was typed."""
    page = visit(service, "/detectors", scripts=scripts).page
    page.get_by_label("what the model wrote").fill(f"I look.\n{LEAK}")
    page.get_by_label("tools it was offered").fill("ls, cat")
    page.get_by_role("button", name="Ask every detector").click()
    said = service.http.post("/v1/detectors/try", json={"content": f"I look.\n{LEAK}", "tools": ["ls", "cat"]}).json()
    answers = page.get_by_role("status").get_by_role("article")
    expect(answers).to_have_count(len(said))
    marked = [each["verdict"]["markup"] for each in said if each["verdict"]]
    assert marked
    assert page.locator("mark").all_text_contents() == marked


@BOTH_WAYS
def test_detector_is_promoted_and_changes_what_counts(visit: Visit, service: Service, scripts: bool) -> None:
    """The first click only asks. Afterwards the rates are those of the new one."""
    service.upload(generation("r", 0, "<|python_tag|>ls"))
    page = visit(service, "/detectors", scripts=scripts).page
    page.get_by_role("link", name="Promote goat@1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Promote goat@1?")
    page.get_by_role("button", name="Make goat@1 current").click()
    expect(page.get_by_role("row").filter(has_text="current")).to_contain_text("goat@1")
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("region", name="Leak rate and recovery").get_by_role("row").last).to_contain_text("0 of 1")


def verdicts_of(service: Service, by: str) -> list[Any]:
    """What `by` has said so far, as the labels of an export tell it."""
    answer = service.http.get("/v1/export.jsonl")
    assert answer.status_code == 200
    records = [json.loads(line) for line in answer.text.splitlines()]
    return [each["leak"] for each in records if each["type"] == "label" and each["by"] == by]


def says(page: Page, count: int) -> None:
    """Wait for the page that tells that so many are done, and for its script."""
    expect(page.locator(".lead")).to_contain_text(f"bo: {count} done")
    page.wait_for_load_state()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        pytest.param("123", [True, False, None], id="digits"),
        pytest.param("lcu", [True, False, None], id="letters"),
        pytest.param("LCU", [True, False, None], id="capitals"),
    ],
)
def test_outputs_are_reviewed_by_key(visit: Visit, service: Service, keys: str, said: list[bool | None]) -> None:
    """Leak, not, unsure, then the last one taken back; the labels are in the store."""
    service.upload(*small_history()[:5])
    page = visit(service, "/review").page
    page.get_by_label("who are you?").fill("bo")
    page.get_by_role("button", name="Begin").click()
    says(page, 0)
    for at, key in enumerate(keys):
        page.keyboard.press(key)
        says(page, at + 1)
    assert sorted(verdicts_of(service, "bo"), key=str) == sorted(said, key=str)
    page.keyboard.press("z")
    says(page, 2)
    assert sorted(verdicts_of(service, "bo"), key=str) == sorted(said[:2], key=str)


@BOTH_WAYS
def test_outputs_are_reviewed_by_button(visit: Visit, service: Service, scripts: bool) -> None:
    """Until none is left, with one taken back and shown again in between."""
    service.upload(*small_history()[:5])
    page = visit(service, "/review?by=bo", scripts=scripts).page
    first = page.get_by_role("article").inner_text()
    page.get_by_role("button", name="Leak", exact=False).first.click()
    says(page, 1)
    page.get_by_role("button", name="Undo the last").click()
    says(page, 0)
    assert page.get_by_role("article").inner_text() == first
    waiting = service.http.get("/v1/labels/next", params={"by": "bo"}).json()["waiting"]
    for at in range(waiting):
        page.get_by_role("button", name="Clean").click()
        says(page, at + 1)
    expect(page.get_by_text("That was the last one.")).to_be_visible()
    assert verdicts_of(service, "bo") == [False] * waiting


def test_keys_typed_into_a_field_say_nothing(visit: Visit, service: Service) -> None:
    """Neither does a key with a modifier."""
    service.upload(*small_history()[:5])
    page = visit(service, "/review?by=bo").page
    page.keyboard.press("Control+1")
    page.keyboard.press("Alt+l")
    page.get_by_role("link", name="Not you?").click()
    page.get_by_label("who are you?").press_sequentially("luna 1")
    expect(page.get_by_label("who are you?")).to_have_value("luna 1")
    assert verdicts_of(service, "bo") == []


def test_review_shows_no_opinion_of_a_detector(visit: Visit, service: Service) -> None:
    """Blind: no mark, no detector's name, no kind or reason."""
    service.upload(generation("r", 0, LEAK))
    page = visit(service, "/review?by=bo").page
    expect(page.get_by_role("article")).to_contain_text("<tool_call>")
    expect(page.locator("mark")).to_have_count(0)
    ids = [each["detector"] for each in service.http.get("/v1/detectors").json()]
    assert not [each for each in ids if each in page.locator("body").inner_text()]
    assert "stands outside" not in page.content()


def test_replay_under_way_is_shown_until_it_is_done(visit: Visit, service: Service) -> None:
    """The page looks again by itself, and the job ends as done."""
    service.upload(*small_history())
    page = visit(service, "/replays").page
    page.get_by_label("baseline").select_option("openrouter-net@1")
    page.get_by_label("candidate").select_option("goat@1")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Every disagreement")).to_be_visible()
    [job] = until(lambda: service.http.get("/v1/replays").json(), len)
    assert job["state"] == "done"
