"""Pages for everyone: no serious finding of axe, everything within reach of the keyboard, and seen where one is."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from tests.api.service import Service
from tests.browser.conftest import Visit
from tests.browser.scenes import BARE_PAGES, PAGES, Scene
from tests.browser.tab import Scheme, Tab

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
MARK_CONTROLS = """() => [
    ...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((each) => each.checkVisibility() && each.type !== "hidden" && !each.classList.contains("skip"))
    .map((each, at) => each.dataset.control = String(at))"""
FOCUSED = """() => {
    const it = document.activeElement, style = getComputedStyle(it), box = it.getBoundingClientRect();
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
        && box.bottom > 0 && box.top < innerHeight;
    return { control: it.dataset.control ?? null, seen, what: it.outerHTML.slice(0, 100) };
}"""


def serious(tab: Tab) -> list[str]:
    """What axe finds serious or critical, with where it is."""
    found: list[dict[str, Any]] = Axe().run(tab.page).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def is_accessible(tab: Tab) -> None:
    """Fails for a serious finding, light or dark."""
    for scheme in SCHEMES:
        tab.page.emulate_media(color_scheme=scheme)
        tab.settle()
        assert serious(tab) == [], scheme


@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_serious_finding(visit: Visit, sample: Scene, name: str) -> None:
    """Over the sample."""
    is_accessible(visit(sample.service, sample.path(name)))


@pytest.mark.parametrize("name", BARE_PAGES)
def test_empty_page_has_no_serious_finding(visit: Visit, bare: Service, name: str) -> None:
    """Before there is any data."""
    is_accessible(visit(bare, BARE_PAGES[name]))


def test_narrow_overview_has_no_serious_finding(visit: Visit, sample: Scene) -> None:
    """Where tables scroll in their own box."""
    is_accessible(visit(sample.service, width=400))


def test_page_with_an_answer_has_no_serious_finding(visit: Visit, sample: Scene) -> None:
    """What a form brings forth, and what is refused."""
    tab = visit(sample.service, "/detectors")
    tab.page.get_by_label("what the model wrote").fill("<tool_call>")
    tab.page.get_by_role("button", name="Ask every detector").click()
    expect(tab.page.get_by_role("status")).to_be_visible()
    is_accessible(tab)
    tab.go("/runs/none")
    tab.forgive("404")
    is_accessible(tab)


def test_axe_finds_what_is_wrong(visit: Visit, bare: Service) -> None:
    """Were a control without a name, or text without contrast, these tests would tell."""
    tab = visit(bare)
    tab.page.evaluate("() => document.querySelector('main').append(document.createElement('button'))")
    assert [each.partition(":")[0] for each in serious(tab)] == ["button-name"]


@pytest.mark.parametrize(
    "name",
    [
        "overview",
        "drift by name",
        "uploads",
        "run",
        "run with attempts",
        "recovery",
        "audit under a policy",
        "replay",
        "detectors",
        "review",
    ],
)
def test_every_control_is_reached_by_tab_and_seen(visit: Visit, sample: Scene, name: str) -> None:
    """In one round through the page, each with a ring around it and within the window."""
    tab = visit(sample.service, sample.path(name))
    waiting = set(tab.page.evaluate(MARK_CONTROLS))
    assert waiting
    for _ in range(len(waiting) + 3):
        tab.page.keyboard.press("Tab")
        focused = tab.page.evaluate(FOCUSED)
        waiting.discard(focused["control"])
        assert focused["seen"] or focused["control"] is None, focused["what"]
    missed = [tab.page.locator(f"[data-control='{each}']").evaluate("(it) => it.outerHTML") for each in waiting]
    assert missed == []


def test_skip_link_comes_first_and_leads_to_the_content(visit: Visit, sample: Scene) -> None:
    """Unseen until it has the focus."""
    page = visit(sample.service).page
    link = page.get_by_role("link", name="Skip to the content")
    expect(link).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_arrival_is_told_to_who_cannot_see_it(visit: Visit, bare: Service) -> None:
    """What changes on a page without a reload stands in a live region."""
    tab = visit(bare, "/uploads")
    expect(tab.page.locator("#arriving")).to_have_attribute("aria-live", "polite")
