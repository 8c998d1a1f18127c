"""The three jobs, done as a newcomer would do them: see a leak, compare two detectors, find the version to blame."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.conftest import LEAK, generation, write
from tests.api.service import Service
from tests.browser.conftest import Visit
from tests.browser.scenes import Scene
from tests.browser.tab import Tab, held

SAID = f"Let me look at the folder.\n{LEAK}"
RUN = "night shift/1"
Give = Callable[[Page, Path], None]


def choose(page: Page, file: Path) -> None:
    """Choose a file in the form and send it."""
    page.get_by_label("Drop run logs here").set_input_files(file)
    page.get_by_role("button", name="Upload").click()


def drop(page: Page, file: Path) -> None:
    """Drag a file from the desktop onto the form, as the browser itself tells the page of it."""
    box = page.locator("#drop").bounding_box()
    assert box
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        dragged = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        session.send("Input.dispatchDragEvent", {"type": step, **place, "data": dragged})


@pytest.mark.parametrize("give", [pytest.param(choose, id="chosen"), pytest.param(drop, id="dropped")])
def test_newcomer_gives_a_log_and_sees_its_leak(visit: Visit, service: Service, tmp_path: Path, give: Give) -> None:
    """From an empty store, by what the pages themselves say: the file in, its rate on the Overview, its leak marked."""
    log = write(tmp_path / "log.jsonl", generation(RUN, 0, SAID), *(generation(RUN, n, "Done.") for n in (1, 2, 3)))
    tab = visit(service)
    expect(tab.page.get_by_text("Nothing here yet.")).to_be_visible()
    tab.page.get_by_role("main").get_by_role("link", name="Uploads").click()
    tab.page.wait_for_url("**/uploads")  # its script has run then; before, the browser opens a dropped file itself
    with held(tab.page, "**/v1/uploads/*", "PUT"):
        give(tab.page, log)
        expect(tab.page.get_by_role("progressbar", name="Upload of log.jsonl")).to_be_visible()
    arrived = tab.page.locator("#arriving li")
    expect(arrived).to_contain_text("log.jsonl 4 new generations and 0 events in 4 lines, 0 not understood.")
    expect(tab.page.get_by_role("progressbar")).to_have_count(0)
    expect(tab.page.locator("#list").get_by_role("link", name="log.jsonl")).to_be_visible()
    arrived.get_by_role("link", name="See the rates").click()
    sees_the_leak(tab)


def sees_the_leak(tab: Tab) -> None:
    """From the Overview with one leak of four to its text, in which exactly the markup is marked."""
    row = tab.page.get_by_role("row").filter(has=tab.page.get_by_role("rowheader", name="m-1"))
    expect(row.first).to_contain_text("25.0%")
    expect(row.first).to_contain_text("1 of 4")
    tab.page.get_by_role("link", name="Runs").first.click()
    tab.page.get_by_role("link", name=RUN).click()
    expect(tab.page.get_by_role("heading", level=1)).to_have_text(f"Run {RUN}")
    assert tab.page.locator("mark").all_text_contents() == [LEAK]
    expect(tab.page.locator(".generation.leaking")).to_have_count(1)
    expect(tab.page.locator(".generation.leaking .verdict")).to_contain_text("in the syntax of hermes_json")


def test_log_is_given_without_scripts(visit: Visit, service: Service, tmp_path: Path) -> None:
    """The form sends the file itself, and its row is the one that stands out."""
    log = write(tmp_path / "log.jsonl", generation(RUN, 0, SAID), *(generation(RUN, n, "Done.") for n in (1, 2, 3)))
    tab = visit(service, "/uploads", scripts=False)
    choose(tab.page, log)
    expect(tab.page.locator("tr.new")).to_contain_text("log.jsonl")
    tab.page.get_by_role("link", name="Overview").click()
    sees_the_leak(tab)


@pytest.mark.parametrize("scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without")])
def test_two_detectors_are_compared_and_a_disagreement_opened(visit: Visit, sample: Scene, scripts: bool) -> None:
    """Chosen in the form, waited for, read: the four cells, the labelled figures, both verdicts on one output."""
    page = visit(sample.service, scripts=scripts).page
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Replays").click()
    page.get_by_label("baseline").select_option("openrouter-net@1")
    page.get_by_label("candidate").select_option("openrouter-net-tight@1")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="What both say")).to_be_visible()
    report = sample.service.http.get(f"/v1{page.url.removeprefix(sample.service.url)}").json()["report"]
    cells = [report[name] for name in ("both", "baseline_only", "candidate_only", "neither")]
    assert page.locator(".cells td b").all_inner_texts() == [f"{cell:,}" for cell in cells]
    shows_who_is_right(page, report["labelled"])
    shows_a_disagreement(page, report["disagreements"][0])


def shows_who_is_right(page: Page, labelled: dict[str, dict[str, float]]) -> None:
    """Precision and recall of both sides, as the report has them."""
    table = page.get_by_role("region", name="Who is right, where people have said")
    for side in ("baseline", "candidate"):
        row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name=side))
        for figure in ("precision", "recall"):
            expect(row).to_contain_text(f"{labelled[side][figure]:.1%}")


def shows_a_disagreement(page: Page, told: dict[str, dict[str, str]]) -> None:
    """The first one: what each side says, the markup marked, and the way to its run."""
    first = page.get_by_role("region", name="Every disagreement").get_by_role("article").first
    expect(first.get_by_role("heading")).to_contain_text("Only the baseline says leak")
    baseline, candidate = first.locator(".verdict").all()
    expect(baseline).to_contain_text(told["baseline"]["reason"])
    expect(candidate).to_contain_text("no finding")
    assert first.locator("mark").text_content() == told["baseline"]["markup"]
    first.get_by_role("link", name="run").click()
    expect(page.get_by_role("main")).to_contain_text(told["baseline"]["markup"])


@pytest.mark.parametrize("scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without")])
def test_version_at_which_an_engine_got_worse_is_seen(visit: Visit, sample: Scene, scripts: bool) -> None:
    """A row for each engine version, asked for in the form: the later one leaks more than twice as often."""
    tab = visit(sample.service, scripts=scripts)
    for name, wanted in (("model", False), ("template", False), ("engine version", True)):
        tab.page.get_by_role("checkbox", name=name, exact=True).set_checked(wanted)
    tab.page.get_by_label("Filter 1").fill("model=qwen*")
    tab.page.get_by_role("button", name="Show").click()
    tab.page.wait_for_url("**/?by=engine&by=engine_version&where=model*")
    rows = tab.page.get_by_role("region", name="Leak rate and recovery").locator("tbody").first.get_by_role("row")
    rates = {row.get_by_role("cell").nth(0).inner_text(): shown_rate(row.inner_text()) for row in rows.all()}
    assert rates["0.30.0"] > 2 * rates["0.29.2"]


def shown_rate(text: str) -> float:
    """The first share in the text of a row, in percent."""
    found = re.search(r"([\d.]+)%", text)
    assert found
    return float(found[1])


def test_version_is_marked_in_the_trend_of_its_engine(visit: Visit, sample: Scene) -> None:
    """The chart of the filtered rows has one panel, its points, and the name of the version at its mark."""
    tab = visit(sample.service, "/?by=engine&by=engine_version&where=model=qwen*")
    chart = tab.page.locator(".chart")
    expect(chart.locator("svg .scatterlayer .trace")).to_have_count(1)
    assert chart.locator("svg .scatterlayer .point").count() >= 8
    assert chart.locator("svg .annotation-text").all_text_contents()[1:] == ["0.30.0"]
