"""The browser, the services it visits, and the tabs in which it does."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.api.service import Service, served
from tests.browser.chromium import FLAGS, find
from tests.browser.scenes import Scene, sample_scene
from tests.browser.tab import Tab, opened

Visit = Callable[..., Tab]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for each worker, closed after the last test of this folder: while it is open an event loop runs in this
    thread, and elsewhere tests run loops of their own."""
    path = find()
    assert path, "no Chromium: run `make browser`"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Open a tab on a service; all tabs must have been quiet at the end of the test."""
    if "service" in request.fixturenames:
        request.getfixturevalue("service")  # so it outlives the tabs on it
    with ExitStack() as tabs:

        def visiting(service: Service, path: str = "/", **more: Any) -> Tab:
            tab = tabs.enter_context(opened(browser, service.url, **more))
            tab.go(path)
            return tab

        yield visiting


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A service over the sample, for tests that change nothing."""
    with sample_scene(tmp_path_factory.mktemp("sample")) as scene:
        yield scene


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over an empty store, for tests that change nothing."""
    with served(tmp_path_factory.mktemp("bare") / "s.duckdb") as service:
        yield service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service over an empty store of the test's own."""
    with served(tmp_path / "s.duckdb") as running:
        yield running
