"""A page of another site, in a real browser: it can neither frame a page of ours, nor send it a form, nor read it."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.api.service import Service
from tests.security.routes import PAGES

FORMS = """<!doctype html><title>elsewhere</title>
<form id="delete" method="post" action="{url}/uploads/1/delete"></form>
<form id="promote" method="post" action="{url}/detectors/promote"><input name="detector" value="goat@1"></form>
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: stderr is the test's."""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The first page of another site, and its address."""
    (tmp_path / "site").mkdir()
    handler = partial(_Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield tmp_path / "site" / "index.html", f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_no_page_lets_itself_be_framed(bare: Service, elsewhere: tuple[Path, str], page: Page) -> None:
    index, url = elsewhere
    paths = [path for path in PAGES if "{" not in path]
    frames = "".join(f'<iframe name="{path}" src="{bare.url}{path}"></iframe>' for path in paths)
    index.write_text(f"<!doctype html>{frames}")
    page.goto(url, wait_until="load")
    framed = {frame.name: urlsplit(frame.url).scheme for frame in page.frames[1:]}
    assert framed == dict.fromkeys(paths, "chrome-error")


@pytest.mark.parametrize("form", ["delete", "promote"])
def test_no_form_of_another_site_changes_anything(
    service: Service, elsewhere: tuple[Path, str], page: Page, form: str
) -> None:
    service.upload({"type": "run", "run_id": "kept"})
    before = [service.http.get(path).json() for path in ("/v1/uploads", "/v1/detectors")]
    index, url = elsewhere
    index.write_text(FORMS.format(url=service.url))
    page.goto(url)
    with page.expect_response(lambda answer: answer.request.method == "POST") as refused:
        page.evaluate("(form) => document.getElementById(form).submit()", form)
    assert refused.value.status == 403
    assert [service.http.get(path).json() for path in ("/v1/uploads", "/v1/detectors")] == before


@pytest.mark.parametrize("mode", ["cors", "no-cors"])
def test_no_script_of_another_site_reads_an_answer(
    bare: Service, elsewhere: tuple[Path, str], page: Page, mode: str
) -> None:
    index, url = elsewhere
    index.write_text("<!doctype html>")
    page.goto(url)
    read = "async ([url, mode]) => { try { return await (await fetch(url, {mode})).text() } catch { return null } }"
    assert not page.evaluate(read, [f"{bare.url}/v1/schema", mode])
