"""Signing in by key in a browser: the cookie, the forms, and every way in which it ends."""

import html
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest

from api.access.scopes import OPEN, SCOPES
from api.access.sign_ins import MOST, SECONDS, SignIns
from tests.api.conftest import LEAK, generation
from tests.api.keyed import Browser, Keyed, keyed
from tests.api.service import lines, refusal, served
from tests.api.test_keys import WRONG, Clock
from tests.api.test_scopes import address

BROWSER = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keyed]:
    """A service with a key of each scope."""
    with keyed(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """The same, for tests that change nothing of it."""
    with keyed(tmp_path_factory.mktemp("signed")) as made:
        yield made


@pytest.fixture(scope="module")
def admin(shared: Keyed) -> Browser:
    """A browser that signed in by the key that may do everything."""
    return shared.browser("admin")


def cookie(answer: httpx.Response) -> "tuple[str, dict[str, str]]":
    """Name and attributes of the one cookie that an answer sets."""
    [(name, found)] = SimpleCookie(answer.headers["set-cookie"]).items()
    return name, {key: value for key, value in found.items() if value != ""}


@pytest.mark.parametrize(
    ("https", "begins"),
    [pytest.param(False, "leakdown-", id="http"), pytest.param(True, "__Host-leakdown-", id="https")],
)
def test_the_cookie_is_for_this_service_alone(tmp_path: Path, https: bool, begins: str) -> None:
    with keyed(tmp_path, https=https) as made:
        answer = made.service.http.post("/sign-in", data={"key": made.keys["read"]})
    name, attributes = cookie(answer)
    assert name.startswith(begins)
    assert bool(attributes.pop("secure", False)) is https
    assert attributes == {"httponly": True, "samesite": "strict", "path": "/", "max-age": str(SECONDS)}
    assert made.keys["read"] not in answer.headers["set-cookie"]


def test_a_browser_is_sent_to_sign_in_and_back(keys: Keyed) -> None:
    http = keys.service.http
    sent = http.get("/runs?where=model=a", headers=BROWSER)
    assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in?next=%2Fruns%3Fwhere%3Dmodel%3Da")
    form = http.get(sent.headers["location"], headers=BROWSER)
    assert 'name="next" value="/runs?where=model=a"' in form.text
    let_in = http.post("/sign-in", data={"key": keys.keys["read"], "next": "/runs?where=model=a"})
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/runs?where=model=a")
    assert http.get("/runs?where=model=a", headers=BROWSER).status_code == 200
    assert http.get("/sign-in", headers=BROWSER).headers["location"] == "/"


@pytest.mark.parametrize(
    "path", [pytest.param("/runs/a%3Fb?x=%26", id="a run with a question mark"), pytest.param("/runs/%C3%BC", id="ü")]
)
def test_the_address_comes_back_as_it_was_sent(shared: Keyed, path: str) -> None:
    sent = shared.client().get(path, headers=BROWSER)
    form = {"key": shared.keys["read"], "next": httpx.URL(sent.headers["location"]).params["next"]}
    assert shared.client().post("/sign-in", data=form).headers["location"] == path


def test_a_program_without_a_key_is_told_so_even_on_a_page(shared: Keyed) -> None:
    refusal(shared.send(None, "GET", "/runs"), 401)
    refusal(shared.send(None, "GET", "/v1/runs", headers=BROWSER), 401)


@pytest.mark.parametrize(
    "onwards",
    [
        pytest.param("https://evil.example/", id="another site"),
        pytest.param("//evil.example/", id="without a scheme"),
        pytest.param("/\\evil.example/", id="with a backslash"),
        pytest.param("/\t/evil.example/", id="with a tab, which browsers take out"),
        pytest.param("/\r\nSet-Cookie: a=b", id="a header"),
        pytest.param("javascript:alert(1)", id="a script"),
        pytest.param("", id="nothing"),
        pytest.param("/nope", id="no page"),
        pytest.param("/keys", id="a page of another scope"),
        pytest.param("/sign-out", id="the way out"),
    ],
)
def test_nobody_is_sent_elsewhere(shared: Keyed, onwards: str) -> None:
    answer = shared.service.http.post("/sign-in", data={"key": shared.keys["read"], "next": onwards})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    shared.service.http.cookies.clear()
    shown = shared.service.http.get("/sign-in", params={"next": onwards})
    assert "evil" not in shown.text


@pytest.mark.parametrize("onwards", ['/"><script>alert(1)</script>', "/x'onclick='alert(1)", "/<img src=x>"])
def test_the_page_to_go_on_to_is_escaped(shared: Keyed, onwards: str) -> None:
    shown = shared.client().get("/sign-in", params={"next": onwards}).text
    assert onwards not in shown
    assert onwards in html.unescape(shown)


def test_each_key_is_led_to_a_page_that_it_opens(shared: Keyed) -> None:
    assert shared.browser("label").let_in.headers["location"] == "/review"
    refused = httpx.post(f"{shared.service.url}/sign-in", data={"key": shared.keys["ingest"]}, trust_env=False)
    assert refused.status_code == 403
    assert "for which there are no pages" in refused.text
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "fields",
    [pytest.param({"key": WRONG}, id="wrong"), pytest.param({}, id="none"), pytest.param({"key": ""}, id="empty")],
)
def test_a_wrong_key_shows_the_form_again_without_it(keys: Keyed, fields: dict[str, str]) -> None:
    answer = keys.service.http.post("/sign-in", data=fields)
    assert answer.status_code == 401
    assert "wrong or was revoked" in answer.text
    assert WRONG not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("who", "page", "there", "not_there"),
    [
        pytest.param("read", "/", "/runs", "/keys", id="read"),
        pytest.param("label", "/review", "/review", "/runs", id="label"),
        pytest.param("admin", "/", "/keys", "/nope", id="admin"),
    ],
)
def test_the_pages_lead_where_the_key_opens(shared: Keyed, who: str, page: str, there: str, not_there: str) -> None:
    shown = shared.browser(who).http.get(page).text
    assert f'<a href="{there}"' in shown
    assert f'<a href="{not_there}"' not in shown
    assert "Sign out" in shown


CHANGING = [route.split(" ", 1)[1] for route, scopes in SCOPES.items() if route.startswith("POST /") and scopes != OPEN]
FORMS = [path for path in CHANGING if not path.startswith("/v1")]


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    "fields", [pytest.param({}, id="no token"), pytest.param({"form_token": "0" * 64}, id="a wrong token")]
)
def test_no_form_does_anything_without_the_token_of_its_sign_in(
    admin: Browser, path: str, fields: dict[str, str]
) -> None:
    for body in ({"data": fields}, {"files": {"file": ("a.jsonl", UPLOAD)}, "data": fields}):
        answer = admin.http.post(address(path), **body)
        assert answer.status_code == 403, answer.text
        assert "not one of this sign-in" in answer.text
    assert admin.http.get("/v1/actions").json()[0]["action"] == "create key"
    assert admin.http.get("/v1/uploads").json() == []


UPLOAD = lines(generation("a", 0, LEAK))


def test_every_form_of_a_page_brings_the_token(keys: Keyed) -> None:
    keys.send("admin", "POST", "/v1/uploads", content=UPLOAD)
    browser = keys.browser("admin")
    pages = ["/", "/uploads", "/uploads/1", "/uploads/1/delete", "/detectors", "/detectors/promote?wanted=goat@1"]
    pages += ["/review?by=ana", "/labels", "/audit?by=ana", "/drift", "/recovery", "/replays", "/keys"]
    for page in pages:
        shown = browser.http.get(page)
        assert shown.status_code == 200, page
        forms = shown.text.split('method="post"')[1:]
        assert forms, page
        assert all(f'name="form_token" value="{browser.token}"' in each.partition("</form>")[0] for each in forms), page


def test_a_form_with_its_token_acts_by_the_name_of_the_key(keys: Keyed) -> None:
    browser = keys.browser("admin")
    assert browser.submit("/detectors/promote", wanted="goat@1").status_code == 303
    assert keys.send("admin", "GET", "/v1/actions").json()[0]["by"] == "admin"
    files = {"file": ("a.jsonl", UPLOAD)}
    sent = browser.http.post("/uploads", data={"form_token": browser.token}, files=files)
    assert (sent.status_code, sent.headers["location"]) == (303, "/uploads?new=1")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 403, id="no token"),
        pytest.param({"x-csrf-token": "0" * 64}, 403, id="a wrong token"),
        pytest.param({"x-csrf-token": "{token}"}, 201, id="its token"),
        pytest.param({"x-csrf-token": "{token}", "origin": "http://evil.example"}, 403, id="its token, elsewhere"),
    ],
)
def test_a_script_brings_the_token_in_a_header(keys: Keyed, headers: dict[str, str], status: int) -> None:
    browser = keys.browser("admin")
    sent = {name: value.format(token=browser.token) for name, value in headers.items()}
    assert browser.http.put("/v1/uploads/mine", content=UPLOAD, headers=sent).status_code == status
    assert len(browser.http.get("/v1/uploads").json()) == (status == 201)


def test_the_token_of_another_sign_in_is_wrong(shared: Keyed, admin: Browser) -> None:
    other = shared.browser("admin")
    assert other.token != admin.token
    assert admin.http.post("/drift", data={"form_token": other.token}).status_code == 403


def test_a_key_in_a_header_counts_before_the_cookie(shared: Keyed, admin: Browser) -> None:
    assert admin.http.get("/v1/keys", headers={"Authorization": f"Bearer {shared.keys['read']}"}).status_code == 403
    assert admin.http.get("/v1/keys", headers={"Authorization": f"Bearer {WRONG}"}).status_code == 401


def is_out(browser: Browser) -> bool:
    """Whether a browser with its cookie is asked to sign in."""
    refused = browser.http.get("/v1/runs").status_code == 401
    sent = browser.http.get("/runs", headers=BROWSER)
    return refused and (sent.status_code, sent.headers["location"]) == (303, "/sign-in?next=%2Fruns")


def kept(keys: Keyed, browser: Browser) -> Browser:
    """The same browser, which keeps its cookie whatever it is told."""
    http = keys.client()
    http.cookies.update(browser.http.cookies)
    return Browser(http, browser.token, browser.let_in)


def test_a_sign_in_ends_at_once_when_its_key_is_revoked(keys: Keyed) -> None:
    browser, other = keys.browser("read"), keys.browser("admin")
    assert not is_out(browser)
    keys.revoke("read")
    assert is_out(browser)
    assert browser.submit("/drift").status_code == 401
    assert not is_out(other)


def test_a_sign_in_ends_when_it_is_signed_out(keys: Keyed) -> None:
    browser, other = keys.browser("read"), keys.browser("read")
    thief = kept(keys, browser)
    answer = browser.submit("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert not browser.http.cookies
    assert is_out(thief)
    assert not is_out(other)


def test_a_sign_in_ends_in_time_however_much_it_is_used(keys: Keyed) -> None:
    clock = Clock()
    keys.service.app.state.access.sign_ins = SignIns(clock)
    browser = keys.browser("read")
    for hour in range(0, SECONDS, 3600):
        clock.now = float(hour)
        assert not is_out(browser)
    clock.now = float(SECONDS)
    assert is_out(kept(keys, browser))


def test_a_sign_in_ends_with_the_service(tmp_path: Path) -> None:
    with keyed(tmp_path) as made:
        value = made.browser("read").http.cookies
        before = made.service.app.state.access.cookie
    (tmp_path / "other").mkdir()
    with keyed(tmp_path / "other") as made:
        made.service.http.cookies.update(value)
        made.service.http.cookies.set(made.service.app.state.access.cookie, value[before])
        assert made.send(None, "GET", "/v1/runs").status_code == 401


def test_sign_ins_are_remembered_in_bounded_memory() -> None:
    clock = Clock()
    sign_ins = SignIns(clock)
    first, *_, last = [sign_ins.begin("k") for _ in range(MOST + 5)]
    assert len(sign_ins) == MOST
    assert sign_ins.find(first) is None
    assert sign_ins.find(last)
    clock.now = float(SECONDS)
    assert sign_ins.find(last) is None
    sign_ins.begin("k")
    assert len(sign_ins) == 1


def test_without_keys_there_is_nothing_to_sign_in_to(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as service:
        assert service.http.get("/sign-in").headers["location"] == "/"
        shown = service.http.get("/keys").text
        assert "Sign out" not in shown
        assert "form_token" not in shown
