"""Keys in the browser: made on the page, signing in and out, forms with and without their token."""

import pytest
from playwright.sync_api import Page, expect

from tests.api.conftest import LEAK, generation
from tests.api.keyed import bearer
from tests.api.service import Service, lines
from tests.browser.conftest import Visit
from tests.browser.test_accessibility import is_accessible

BOTH_WAYS = pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")]
)
WRONG = f"leakdown_{'0' * 64}"


def make(service: Service, name: str, *scopes: str) -> str:
    """A key, made over HTTP before any is in force."""
    return str(service.http.post("/v1/keys", json={"name": name, "scopes": scopes}).json()["key"])


def sign_in(page: Page, key: str) -> None:
    """Type a key into the form, and send it."""
    page.get_by_label("key").fill(key)
    page.get_by_role("button", name="Sign in").click()


@BOTH_WAYS
def test_the_first_key_is_made_on_the_page_and_lets_its_maker_in(visit: Visit, service: Service, scripts: bool) -> None:
    """It is shown once, and from then on everybody is asked for one."""
    page = visit(service, "/keys", scripts=scripts).page
    page.get_by_label("name").fill("ana")
    page.get_by_label("everything").check()
    page.get_by_role("button", name="Make a key").click()
    key = page.get_by_role("status").locator("code").inner_text()
    page.get_by_role("link", name="Uploads").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    sign_in(page, key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Uploads")
    page.get_by_role("link", name="Keys").click()
    expect(page.get_by_role("row").filter(has_text="create key")).to_contain_text("ana (admin)")
    expect(page.get_by_text(key)).to_have_count(0)


@BOTH_WAYS
def test_who_signs_in_acts_by_name_until_signing_out(visit: Visit, service: Service, scripts: bool) -> None:
    """A wrong key shows the form again; signed out, the page asks for a key."""
    key = make(service, "ana", "admin")
    tab = visit(service, "/detectors", scripts=scripts)
    sign_in(tab.page, WRONG)
    expect(tab.page.get_by_role("alert")).to_contain_text("wrong or was revoked")
    tab.forgive("401")
    sign_in(tab.page, key)
    tab.page.get_by_role("link", name="Promote goat@1").click()
    tab.page.get_by_role("button", name="Make goat@1 current").click()
    expect(tab.page.get_by_role("row").filter(has_text="current")).to_contain_text("goat@1")
    [entry, *_] = service.http.get("/v1/actions", headers=bearer(key)).json()
    assert (entry["by"], entry["action"], entry["object"]) == ("ana", "promote", "goat@1")
    tab.page.get_by_role("button", name="Sign out").click()
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    tab.page.goto("/detectors")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("(token) => token.remove()", id="missing"),
        pytest.param("(token) => { token.value = '0'.repeat(64); }", id="wrong"),
    ],
)
def test_a_form_whose_token_is_missing_or_wrong_changes_nothing(visit: Visit, service: Service, change: str) -> None:
    """And says what to do."""
    key = make(service, "ana", "admin")
    tab = visit(service, "/detectors/promote?wanted=goat@1")
    sign_in(tab.page, key)
    form = tab.page.locator("form", has=tab.page.get_by_role("button", name="Make goat@1 current"))
    form.locator("[name=form_token]").evaluate(change)
    form.get_by_role("button").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("not one of this sign-in; open the page again")
    tab.forgive("403")
    assert service.http.get("/v1/detectors/current", headers=bearer(key)).json()["detector"] != "goat@1"


@BOTH_WAYS
def test_a_file_is_uploaded_by_who_signed_in(visit: Visit, service: Service, scripts: bool) -> None:
    """The script sends the token in a header, the form in a field."""
    key = make(service, "ana", "ingest", "read")
    page = visit(service, "/uploads", scripts=scripts).page
    sign_in(page, key)
    body = lines(generation("a", 0, LEAK))
    page.get_by_label("Drop run logs here").set_input_files({"name": "a.jsonl", "mimeType": "", "buffer": body})
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#list").get_by_role("row").last).to_contain_text("a.jsonl")
    assert len(service.http.get("/v1/uploads", headers=bearer(key)).json()) == 1


def test_a_sign_in_ends_on_the_page_when_its_key_is_revoked(visit: Visit, service: Service) -> None:
    """At the next click."""
    admin, key = make(service, "ops", "admin"), ""
    wanted = {"name": "ana", "scopes": ["read"]}
    key = service.http.post("/v1/keys", json=wanted, headers=bearer(admin)).json()["key"]
    page = visit(service, "/").page
    sign_in(page, key)
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    service.http.delete("/v1/keys/ana", headers=bearer(admin)).raise_for_status()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_the_pages_of_keys_are_for_everyone_and_fit(visit: Visit, service: Service) -> None:
    """Signing in, and the list with keys in use and revoked ones."""
    admin = make(service, "ops", "admin")
    for name in ("old", f"a-name-{'x' * 57}"):
        wanted = {"name": name, "scopes": ["ingest", "read"]}
        service.http.post("/v1/keys", json=wanted, headers=bearer(admin)).raise_for_status()
    service.http.delete("/v1/keys/old", headers=bearer(admin)).raise_for_status()
    tab = visit(service, "/keys", width=400)
    is_accessible(tab)
    assert tab.overflow <= 0
    sign_in(tab.page, admin)
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Keys")
    is_accessible(tab)
    assert tab.overflow <= 0
    tab.page.get_by_text("Revoked: 1").click()
    expect(tab.page.get_by_text("old (ingest, read), revoked")).to_be_visible()
    tab.page.get_by_role("button", name="Revoke a-name").click()
    expect(tab.page.get_by_text("Revoked: 2")).to_be_visible()
