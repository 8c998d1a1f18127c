"""Uploads in the browser: what is refused and why, what was not understood, what is set afterwards, what is deleted."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.conftest import LEAK, generation, write
from tests.api.service import Service
from tests.api.test_uploads_in_context import ANSWERED, ASKED
from tests.browser.conftest import Visit
from tests.browser.test_jobs import choose, drop

BOTH_WAYS = pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")]
)


@BOTH_WAYS
def test_refused_file_shows_its_reason(visit: Visit, service: Service, tmp_path: Path, scripts: bool) -> None:
    """Nothing of it is kept. The browser notes the status on its console by itself."""
    file = tmp_path / "shopping.txt"
    file.write_text("milk\nbread\n")
    tab = visit(service, "/uploads", scripts=scripts)
    choose(tab.page, file)
    shown = tab.page.locator(".note.bad")
    expect(shown).to_contain_text("shopping.txt")
    reason = service.refused(422, "POST", "/v1/uploads", params={"name": "shopping.txt"}, content=file.read_bytes())
    expect(shown).to_contain_text(reason)
    tab.forgive("422")
    assert service.http.get("/v1/uploads").json() == []


@BOTH_WAYS
def test_refused_file_does_not_hold_up_a_good_one(
    visit: Visit, service: Service, tmp_path: Path, scripts: bool
) -> None:
    """Both are sent at once; the page tells of each."""
    bad, good = tmp_path / "bad.txt", write(tmp_path / "good.jsonl", generation("r", 0, LEAK))
    bad.write_text("milk\n")
    tab = visit(service, "/uploads", scripts=scripts)
    tab.page.get_by_label("Drop run logs here").set_input_files([bad, good])
    tab.page.get_by_role("button", name="Upload").click()
    expect(tab.page.get_by_role("link", name="good.jsonl")).to_be_visible()
    expect(tab.page.locator(".note.bad")).to_contain_text("bad.txt")
    assert [each["path"] for each in service.http.get("/v1/uploads").json()] == ["good.jsonl"]


def test_files_that_belong_together_are_one_upload(visit: Visit, service: Service, tmp_path: Path) -> None:
    """The input of a batch and its output, chosen together."""
    (tmp_path / "in.jsonl").write_text(ASKED)
    (tmp_path / "out.jsonl").write_text(ANSWERED)
    tab = visit(service, "/uploads")
    tab.page.get_by_label("Drop run logs here").set_input_files([tmp_path / "in.jsonl", tmp_path / "out.jsonl"])
    tab.page.get_by_role("button", name="Upload").click()
    expect(tab.page.get_by_role("link", name="in.jsonl + out.jsonl")).to_be_visible()
    assert [each["format"] for each in service.http.get("/v1/uploads").json()] == ["openai-batch"]


def test_guess_is_told_with_what_was_decoded(visit: Visit, service: Service, tmp_path: Path) -> None:
    """A file of which the format recognises a quarter."""
    tab = visit(service, "/uploads")
    drop(tab.page, write(tmp_path / "log.jsonl", generation("r", 0, LEAK), *({"n": n} for n in range(3))))
    expect(tab.page.locator("#arriving .note li")).to_contain_text("content: <tool_call>")
    expect(tab.page.locator("#arriving")).to_contain_text("looks like native, by 25% of its first records")


def test_connection_that_breaks_is_told(visit: Visit, service: Service, tmp_path: Path) -> None:
    """The row says that nothing was kept."""
    tab = visit(service, "/uploads")
    tab.page.route("**/v1/uploads/*", lambda route: route.abort("connectionreset"))
    drop(tab.page, write(tmp_path / "log.jsonl", generation("r", 0, LEAK)))
    expect(tab.page.locator("#arriving li")).to_contain_text("nothing of it was kept")
    tab.forgive("ERR_CONNECTION_RESET")


def test_line_that_is_not_understood_is_shown_with_its_reason(visit: Visit, service: Service, tmp_path: Path) -> None:
    """Its number, why, and how it begins."""
    file = write(tmp_path / "log.jsonl", generation("r", 0, LEAK), generation("r", 1, "Fine."))
    file.write_text(file.read_text() + "the log rotated here\n")
    tab = visit(service, "/uploads")
    choose(tab.page, file)
    expect(tab.page.locator("#arriving li")).to_contain_text("1 not understood")
    tab.page.locator("#arriving").get_by_role("link", name="Open").click()
    [told] = service.http.get("/v1/uploads/1").json()["quarantine"]
    row = tab.page.get_by_role("region", name="Lines not understood").locator("tbody").get_by_role("row")
    expect(row).to_have_count(1)
    expect(row.get_by_role("rowheader")).to_have_text("3")
    expect(row).to_contain_text(told["reason"])
    expect(row).to_contain_text("the log rotated here")


@BOTH_WAYS
def test_engine_is_set_afterwards_and_stands_in_the_rates(visit: Visit, service: Service, scripts: bool) -> None:
    """A log that does not tell its engine gets it by hand."""
    service.upload(generation("r", 0, LEAK, engine=None))
    page = visit(service, "/uploads", scripts=scripts).page
    page.get_by_role("link", name="u.jsonl").click()
    page.get_by_label("engine", exact=True).fill("llama.cpp")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_text("engine=llama.cpp")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    rates = page.get_by_role("region", name="Leak rate and recovery")
    expect(rates.locator("tbody").get_by_role("row")).to_contain_text("llama.cpp")


@BOTH_WAYS
def test_upload_is_deleted_after_it_was_asked_for_twice(visit: Visit, service: Service, scripts: bool) -> None:
    """The first click only asks; to keep it leads back."""
    service.upload(generation("r", 0, LEAK))
    page = visit(service, "/uploads/1", scripts=scripts).page
    page.get_by_role("link", name="Delete this upload").click()
    page.get_by_role("link", name="Keep it").click()
    assert len(service.http.get("/v1/uploads").json()) == 1
    page.get_by_role("link", name="Delete this upload").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("No upload yet.")).to_be_visible()
    assert service.http.get("/v1/uploads").json() == []
