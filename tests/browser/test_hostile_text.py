"""Hostile text on every page that shows what others wrote: nothing runs, nothing is fetched, nothing breaks out.

Each tab of these tests must end without a dialog, a word on the console, a report of the policy, a request to
anywhere else or a trace of `window.pwned`.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.service import Service, lines, served
from tests.browser.conftest import Visit
from tests.browser.hostile import ALL, ATTACKS, BAD_LINES, FILE_NAMES, LONG_RUN, MARK, RUNS, WIDE, alarming, records
from tests.browser.scenes import computed, replayed
from tests.browser.tab import Scheme, Tab
from tests.security.routes import PAGES as OURS

UNSEEN = "\u202e\u2066\u200f\u200b\ufeff\u2028\x1b\x07\x9b\x08\x00"
PAGES = {
    "overview": "/",
    "overview by every key": "/?by=model,provider,engine,engine_version,template,tool_parser,client,client_version",
    "series": "/series?row=model&column=engine_version",
    "uploads": "/uploads",
    "upload with its quarantine": "/uploads/{broken}",
    "deletion to be confirmed": "/uploads/1/delete",
    "runs": "/runs",
    "leaking runs": "/runs?leaking=true",
    "audit": "/audit?policy=report-only&all=true&by={all}",
    "recovery by a hostile policy": "/recovery?policy=foundry:engines={policy}",
    "run of a megabyte": "/runs/{long}",
    "replays": "/replays",
    "replay": "/replays/{replay}",
    "review by a hostile name": "/review?by={all}",
    "drift with alerts": "/drift?by={all}",
    "labels": "/labels?by={all}",
    "keys, with what was done to what": "/keys",
}
"""Pages that show hostile text of the store or of their own address."""
REFUSED = {
    "unknown filter": ("/?where={all}", 400),
    "no such run": ("/runs/no{all}", 404),
    "no such run, by query": ("/run?id=no{all}", 404),
    "no such replay": ("/replays/{all}", 404),
    "no such policy": ("/recovery?policy={all}", 400),
    "no such detector": ("/detectors/{all}", 404),
    "detector to promote": ("/detectors/promote?wanted={all}", 400),
    "no date": ("/?since={all}", 400),
    "no cursor": ("/runs?cursor={all}", 400),
    "no such rule": ("/audit?rule={all}", 400),
    "no such policy of an audit": ("/audit?policy={all}", 400),
    "no such page": ("/{all}", 404),
}
"""Addresses that are refused with their own text: only what belongs to an attack's address itself."""


SHOW_NOTHING_OF_OTHERS = {
    "/detectors/{detector_id}": "our own detectors",
    "/detectors": "our own detectors",
    "/sign-in": "the page to go on to: see the tests of signing in",
    "/replays/{job_id}/report.{form}": "saved: see the test of the saved report",
}


def test_every_page_is_among_them() -> None:
    """A page that is added is visited by hostile text too."""
    visited = [path for path, _ in REFUSED.values()] + list(PAGES.values())
    unseen = [path for path in OURS if not any(re.fullmatch(pattern(path), each) for each in visited)]
    assert set(unseen) <= set(SHOW_NOTHING_OF_OTHERS)


def pattern(path: str) -> str:
    """A route's path as a pattern of addresses."""
    return re.sub(r"\\{[^}]+\\}", "[^/?]+", re.escape(path)) + r"(\?.*)?"


@dataclass(frozen=True, slots=True)
class Infested:
    """A service full of hostile text: the upload with bad lines, and a replay over all of it."""

    service: Service
    broken: int
    replay: str

    def path(self, pattern: str) -> str:
        """An address; `{all}` stands for every attack at once."""
        return pattern.format(
            broken=self.broken,
            replay=self.replay,
            long=quote(LONG_RUN),
            all=quote(ALL, safe=""),
            policy=quote(ALL.replace(",", ""), safe=""),  # a comma ends the value of a parameter
        )


@pytest.fixture(scope="module")
def infested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Infested]:
    """Hostile records, hostile file names, bad lines, hostile settings."""
    with served(tmp_path_factory.mktemp("infested") / "s.duckdb") as service:
        service.upload(*records(), name=ALL[:900])
        for name in FILE_NAMES.values():
            line = lines({"type": "run", "run_id": name})
            answer = service.http.post("/v1/uploads", files={"file": (name, line)})
            assert answer.status_code == 201, answer.text
        good = lines({"type": "run", "run_id": "plain"}) * len(BAD_LINES)
        body = good + b"\n".join(BAD_LINES)
        answer = service.http.post("/v1/uploads", params={"name": "broken.jsonl"}, content=body)
        [broken] = answer.json()["uploads"]
        assert broken["quarantined"] == len(BAD_LINES), broken
        settings = {"settings": {"engine_version": f"{ALL} {WIDE}"}}
        service.http.patch(f"/v1/uploads/{broken['upload_id']}", json=settings).raise_for_status()
        [first] = service.http.get("/v1/audit?policy=report-only&limit=1").json()["items"]
        said = {"by": ALL[:100], "reason": ALL, "policy": "report-only"}
        service.http.post(f"/v1/audit/{first['id']}/acknowledgement", json=said).raise_for_status()
        service.upload(*alarming())
        for alert in service.http.get("/v1/alerts").json()["items"][:1]:
            given = {"action": "acknowledge", "reason": ALL, "by": ALL[:100]}
            service.http.post(f"/v1/alerts/{alert['id']}", json=given).raise_for_status()
        replay = replayed(service, "openrouter-net@1", "goat@1", f"model=*{MARK}*")
        found = Infested(service, broken["upload_id"], replay)
        computed(service, found.path(PAGES["recovery by a hostile policy"]))
        yield found


def is_only_text(tab: Tab) -> None:
    """Fails if hostile text is missing from the page, is wider than a window, or holds what cannot be seen."""
    assert MARK in tab.page.locator("body").inner_text()
    for text in (tab.page.locator("body").inner_text(), tab.page.title(), hints(tab.page)):
        assert not [char for char in UNSEEN if char in text]
    assert tab.page.locator("iframe, base, main img, main style, main script, main meta, main link").count() == 0
    fits(tab)


def hints(page: Page) -> str:
    """What the page shows when a mouse rests on it, or reads out."""
    return str(
        page.evaluate(
            """() => [...document.querySelectorAll("[title], [aria-label]")]
                .map((each) => `${each.title} ${each.getAttribute("aria-label")}`).join("\\n")"""
        )
    )


def fits(tab: Tab) -> None:
    """Fails if the page is wider than a narrow or a wide window."""
    for width in (400, 1600):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settle()
        assert tab.overflow <= 0, f"{tab.overflow} px too wide at {width} px"


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_hostile_text_as_text(visit: Visit, infested: Infested, name: str) -> None:
    """Every field of every record, in lists, tables, charts, tooltips and forms."""
    is_only_text(visit(infested.service, infested.path(PAGES[name])))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_saved_report_shows_hostile_text_as_text(
    browser: Browser, infested: Infested, tmp_path: Path, scheme: Scheme
) -> None:
    """The HTML file of a replay, opened from a disk: quiet, asking for nothing, no wider than a window."""
    file = tmp_path / "replay.html"
    file.write_bytes(infested.service.http.get(infested.path("/replays/{replay}/report.html")).content)
    with browser.new_context(viewport={"width": 400, "height": 900}, color_scheme=scheme, offline=True) as context:
        page, told = context.new_page(), list[str]()
        page.on("console", lambda message: told.append(message.text))
        page.on("dialog", lambda dialog: told.append(dialog.message))
        page.on("request", lambda request: told.append(request.url))
        page.goto(file.as_uri())
        for summary in page.locator("summary").all():
            summary.click()
        tab = Tab(page, "", scripts=False)
        is_only_text(tab)
        assert told == [file.as_uri()]
        assert page.evaluate("window.pwned") is None


@pytest.mark.parametrize("name", RUNS)
def test_run_is_reached_by_its_link_whatever_it_is_called(visit: Visit, infested: Infested, name: str) -> None:
    """The link in the list leads to the run of exactly this id, and its leak is marked in its text."""
    tab = visit(infested.service, "/runs")
    at = [each["run_id"] for each in infested.service.http.get("/v1/runs").json()["items"]].index(RUNS[name])
    tab.page.locator("tbody th a").nth(at).click()
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("Run")
    expect(tab.page.locator("mark")).not_to_have_count(0)
    twin = tab.page.locator("a.twin").first.get_attribute("href")
    assert twin
    told = infested.service.http.get(twin).json()  # of a run whose id no path can hold, the list of that one run
    assert [each["run_id"] for each in told.get("items", [told])] == [RUNS[name]]
    is_only_text(tab)


def test_links_of_a_page_lead_nowhere_else(visit: Visit, infested: Infested) -> None:
    """Not even on the list of runs called after other servers and schemes."""
    page = visit(infested.service, "/runs").page
    targets = page.evaluate("() => [...document.links].map((each) => each.href)")
    assert [each for each in targets if not each.startswith(f"{infested.service.url}/")] == []


def test_trial_of_hostile_text_shows_it_as_text(visit: Visit, infested: Infested) -> None:
    """Typed into the form, with hostile tools, and given back in the form as it was typed."""
    typed = " ".join(text for name, text in ATTACKS.items() if name not in ("unseen", "terminal codes"))
    tab = visit(infested.service, "/detectors")
    tab.page.get_by_label("what the model wrote").fill(f"\n{typed}\n<tool_call>\n{WIDE}")
    tab.page.get_by_label("tools it was offered").fill(f"ls, {typed} {WIDE}")
    tab.page.get_by_role("button", name="Ask every detector").click()
    expect(tab.page.locator("mark")).not_to_have_count(0)
    expect(tab.page.get_by_label("what the model wrote")).to_have_value(f"\n{typed}\n<tool_call>\n{WIDE}")
    is_only_text(tab)


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_shows_hostile_text_as_text(visit: Visit, infested: Infested, name: str) -> None:
    """What an address asks for in vain is named on the page. The browser notes the status on its console by itself."""
    path, status = REFUSED[name]
    tab = visit(infested.service, infested.path(path))
    tab.forgive(str(status))
    assert not [char for char in UNSEEN if char in tab.page.locator("body").inner_text()]
    fits(tab)


@pytest.mark.parametrize("name", FILE_NAMES)
@pytest.mark.parametrize("scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")])
def test_file_is_uploaded_whatever_it_is_called(visit: Visit, service: Service, name: str, scripts: bool) -> None:
    """Its name stands in the row that tells of its arrival, and in the list; a browser keeps its last part."""
    tab = visit(service, "/uploads", scripts=scripts)
    file = {"name": FILE_NAMES[name], "mimeType": "text/plain", "buffer": lines({"type": "run", "run_id": "r"})}
    tab.page.get_by_label("Drop run logs here").set_input_files(file)  # type: ignore[arg-type]
    tab.page.get_by_role("button", name="Upload").click()
    expect(tab.page.locator("#list tbody tr")).to_have_count(1)
    fits(tab)
    assert not [char for char in UNSEEN if char in tab.page.locator("body").inner_text()]


def test_refused_file_is_named_as_text(visit: Visit, service: Service) -> None:
    """The name and the reason come from the file."""
    tab = visit(service, "/uploads")
    file = {"name": FILE_NAMES["attacks"], "mimeType": "text/plain", "buffer": f"{ALL}\n".encode()}
    tab.page.get_by_label("Drop run logs here").set_input_files(file)  # type: ignore[arg-type]
    tab.page.get_by_role("button", name="Upload").click()
    expect(tab.page.locator("#arriving .bad")).to_contain_text("refused")
    tab.forgive("422")
    is_only_text(tab)


def test_megabyte_in_one_line_is_shown_soon(visit: Visit, infested: Infested) -> None:
    """Only the part around its mark, in a page that is small and quick."""
    tab = visit(infested.service, "/detectors")
    began = time.monotonic()
    tab.go(f"/runs/{LONG_RUN}")
    assert time.monotonic() - began < 20
    expect(tab.page.locator("mark")).to_have_count(1)
    assert len(tab.page.content()) < 200_000
    fits(tab)


def test_template_syntax_is_shown_and_not_run(visit: Visit, infested: Infested) -> None:
    """It stands there as it was written."""
    text = visit(infested.service, "/runs/plain").page.locator("pre.text").filter(has_text="I will not call anything.")
    assert ATTACKS["template syntax"] in str(text.text_content())


def test_alerts_of_a_hostile_line_are_only_text(visit: Visit, infested: Infested) -> None:
    """Open ones, and one that was acknowledged for a hostile reason by a hostile name."""
    states = [each["state"] for each in infested.service.http.get("/v1/alerts").json()["items"]]
    assert sorted(states) == ["acknowledged", "open"]
    tab = visit(infested.service, "/drift")
    for summary in tab.page.get_by_role("region", name="Alerts").locator("summary").all():
        summary.click()
    expect(tab.page.get_by_role("region", name="Alerts")).to_contain_text(MARK)
    is_only_text(tab)
