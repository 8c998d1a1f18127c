"""Labels in the browser: review by key with later and back, and a conflict resolved on the Labels page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.api.conftest import LEAK, generation
from tests.api.service import Service
from tests.browser.conftest import Visit

BOTH_WAYS = pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")]
)


def by_key(page: Page, key: str, seen: Callable[[], None]) -> None:
    """Press a key, and wait for the page that it leads to and for its script."""
    page.keyboard.press(key)
    seen()
    page.wait_for_load_state()


def test_an_output_is_left_for_later_and_gone_back_to_by_key(visit: Visit, service: Service) -> None:
    """j leaves it, k shows it again with what was said of it, j goes forward."""
    service.upload(generation("a", 0, f"first {LEAK}"), generation("a", 1, "second"))
    page = visit(service, "/review?by=bo").page
    shown = page.get_by_role("article")
    expect(shown).to_contain_text("first")
    by_key(page, "j", lambda: expect(shown).to_contain_text("second"))
    by_key(page, "k", lambda: expect(shown).to_contain_text("first"))
    by_key(page, "l", lambda: expect(page.get_by_text("1 of 2")).to_be_visible())
    expect(shown).to_contain_text("second")
    by_key(page, "k", lambda: expect(page.get_by_text("You said: leak.")).to_be_visible())
    by_key(page, "j", lambda: expect(shown).to_contain_text("second"))
    by_key(page, "c", lambda: expect(page.get_by_text("That was the last one.")).to_be_visible())


def test_two_people_review_different_outputs(visit: Visit, service: Service) -> None:
    """Each sees another one, and the first to end is told that the rest is with others."""
    service.upload(generation("a", 0, f"first {LEAK}"), generation("a", 1, "second"))
    one, other = (visit(service, f"/review?by={name}").page for name in ("bo", "cy"))
    expect(one.get_by_role("article")).to_contain_text("first")
    expect(other.get_by_role("article")).to_contain_text("second")
    one.get_by_role("button", name="Leak").click()
    expect(one.get_by_text("others look at the last 1")).to_be_visible()


@BOTH_WAYS
def test_a_conflict_is_resolved_with_a_note(visit: Visit, service: Service, scripts: bool) -> None:
    """It leaves the list, and comes back when the resolution is taken back."""
    service.upload(generation("a", 0, f"Write {LEAK}"))
    for by, leak in (("ana", True), ("bo", False)):
        service.http.post("/v1/labels", json={"generation_id": "a.0", "leak": leak, "by": by}).raise_for_status()
    page = visit(service, "/labels", scripts=scripts).page
    conflicts = page.get_by_role("region", name="Where people contradict each other")
    expect(conflicts.get_by_role("article")).to_contain_text("Write <tool_call>")
    conflicts.get_by_label("you").fill("cy")
    conflicts.get_by_label("why").fill("it is a manual")
    conflicts.get_by_role("button", name="It is clean").click()
    expect(page.get_by_text("No output is in conflict; 1 was resolved.")).to_be_visible()
    conflicts.get_by_text("Resolved: 1").click()
    expect(conflicts).to_contain_text("it is a manual")
    conflicts.get_by_role("button", name="Take back").click()
    expect(conflicts.get_by_role("article")).to_have_count(1)
