"""The pages as they stand: nothing wider than the window, nothing on the console, charts that really draw."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.api.service import Service
from tests.browser.conftest import Visit
from tests.browser.scenes import BARE_PAGES, PAGES, WIDTHS, Scene
from tests.browser.tab import Scheme, Tab

SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def views(tab: Tab) -> Iterator[str]:
    """The page of `tab` at each width and in each scheme, by name."""
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            tab.page.emulate_media(color_scheme=scheme)
            tab.settle()
            yield f"{width} px, {scheme}"


def stands_well(tab: Tab) -> None:
    """Fails if the page has no title or heading, or is wider than a window."""
    assert tab.page.title().removesuffix(" · leakdown")
    assert tab.page.locator("h1").inner_text().strip()
    assert {view: tab.overflow for view in views(tab) if tab.overflow > 0} == {}


@pytest.mark.parametrize("name", PAGES)
def test_page_fits_every_window(visit: Visit, sample: Scene, name: str) -> None:
    """Narrow, middling and wide, light and dark, with one heading and a title."""
    stands_well(visit(sample.service, sample.path(name), width=400))


@pytest.mark.parametrize("name", BARE_PAGES)
def test_empty_page_fits_every_window(visit: Visit, bare: Service, name: str) -> None:
    """Before there is any data."""
    stands_well(visit(bare, BARE_PAGES[name], width=400))


def test_page_that_is_not_there_fits_every_window(visit: Visit, sample: Scene) -> None:
    """The browser itself notes the status on its console, and nothing else stands there."""
    tab = visit(sample.service, "/runs/none", width=400)
    tab.forgive("404")
    stands_well(tab)


def test_chart_is_drawn_with_points_intervals_and_versions(visit: Visit, sample: Scene) -> None:
    """One panel a line, as many points as there are weeks, and the browser reports no breach of the policy."""
    tab = visit(sample.service)
    trend = sample.service.http.get("/v1/trend").json()
    chart = tab.page.locator(".chart")
    assert chart.locator(".scatterlayer .point").count() == sum(len(line["weeks"]) for line in trend)
    assert chart.locator(".scatterlayer .errorbar").count() == sum(len(line["weeks"]) for line in trend)
    texts = chart.locator(".annotation-text").all_text_contents()
    assert "qwen3-coder-30b on vllm" in texts
    assert "0.30.0" in texts
    assert "policy" not in "".join(tab.faults)


def test_chart_is_redrawn_in_the_colours_of_a_new_scheme(visit: Visit, sample: Scene) -> None:
    """Without a reload."""
    tab = visit(sample.service)
    point, accents = tab.page.locator(".chart .point").first, []
    for scheme in SCHEMES:
        tab.page.emulate_media(color_scheme=scheme)
        accent = tab.page.evaluate(
            """() => { const it = document.body.appendChild(document.createElement("i"));
                       it.style.color = "var(--accent)"; return getComputedStyle(it).color; }"""
        )
        expect(point).to_have_css("fill", accent)
        accents.append(accent)
    assert accents[0] != accents[1]


def test_chart_keeps_to_a_window_that_shrinks(visit: Visit, sample: Scene) -> None:
    """It is drawn anew in its new width."""
    tab = visit(sample.service, width=1600)
    tab.page.set_viewport_size({"width": 400, "height": 900})
    tab.page.wait_for_function("() => document.querySelector('.chart .main-svg').getBoundingClientRect().width < 400")
    assert tab.overflow == 0


def test_funnel_is_drawn_with_a_bar_and_an_interval_for_each_end(visit: Visit, sample: Scene) -> None:
    """As many as the figure has."""
    tab = visit(sample.service, "/recovery")
    bars = sum(len(trace["x"]) for trace in sample.service.http.get("/v1/recovery/figure").json()["data"])
    chart = tab.page.locator(".chart")
    expect(chart.locator(".barlayer .point")).to_have_count(bars)
    expect(chart.locator(".barlayer .errorbar")).to_have_count(bars)
    assert "recovered" in "".join(chart.locator(".ytick, .y2tick, .y3tick").all_text_contents())


@pytest.mark.parametrize(
    ("width", "columns"), [pytest.param(400, 1, id="stacked"), pytest.param(1600, 2, id="side by side")]
)
def test_attempts_of_a_round_stand_side_by_side_where_there_is_room(
    visit: Visit, sample: Scene, width: int, columns: int
) -> None:
    """Two attempts beside each other, or below each other."""
    tab = visit(sample.service, sample.path("run with attempts"), width=width)
    pair = tab.page.locator(".attempts").filter(has_text="Retry 1").first.locator(".generation")
    boxes = [box for box in (pair.nth(at).bounding_box() for at in (0, 1)) if box]
    assert len(boxes) == 2
    assert len({round(box["x"]) for box in boxes}) == columns
    assert tab.overflow == 0


def test_columns_of_policies_scroll_beside_their_names(visit: Visit, sample: Scene) -> None:
    """In a narrow window what a row tells of stays in sight."""
    tab = visit(sample.service, "/recovery", width=400)
    scroller = tab.page.get_by_role("group", name="Policies side by side")
    name = scroller.get_by_role("rowheader", name="recovered", exact=True)
    name.scroll_into_view_if_needed()
    scroller.evaluate("(it) => { it.scrollLeft = it.scrollWidth; }")
    assert scroller.evaluate("(it) => it.scrollLeft") > 0
    expect(name).to_be_in_viewport(ratio=1)
    assert tab.overflow == 0


def test_numbers_of_the_chart_stand_in_a_table_too(visit: Visit, sample: Scene) -> None:
    """For who cannot see it, and for a browser without scripts."""
    tab = visit(sample.service, scripts=False)
    tab.page.get_by_text("The same as a table").click()
    weeks = [week for line in sample.service.http.get("/v1/trend").json() for week in line["weeks"]]
    rows = tab.page.get_by_role("region", name="Leak rate by week").locator("tbody tr")
    expect(rows).to_have_count(len(weeks))
    expect(rows.filter(has_text="engine version 0.30.0")).not_to_have_count(0)
