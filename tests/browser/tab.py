"""A browser tab that keeps account of whatever a page does and should not: the witness of every browser test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, Route, expect

Scheme = Literal["light", "dark"]
PATIENCE_MS = 10_000
"""After which something that was waited for has failed to come."""
WITNESS = """
addEventListener("securitypolicyviolation", (event) =>
  tellViolation(`${event.effectiveDirective} of ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`));
"""
SETTLED = "() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))"
DRAWN = """() => [...document.querySelectorAll("[data-figure]")].every((each) => each.querySelector(".main-svg .point")
    && each.querySelector(".main-svg").clientWidth <= each.clientWidth)"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"

expect.set_options(timeout=PATIENCE_MS)


@dataclass(slots=True)
class Tab:
    """A tab of a context of its own on the service at `url`, and the `faults` seen in it so far, as text."""

    page: Page
    url: str
    scripts: bool
    faults: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page and wait until its charts stand."""
        self.page.goto(path)
        self.settle()

    def settle(self) -> None:
        """Wait until what the page began by itself is done: its charts, and reports on their way."""
        if self.scripts:
            self.page.wait_for_function(DRAWN)
            self.page.evaluate(SETTLED)

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.page.evaluate(OVERFLOW))

    def forgive(self, said: str) -> None:
        """Take out the one fault that holds `said`, which the test provoked."""
        self.settle()
        [provoked] = [each for each in self.faults if said in each]
        self.faults.remove(provoked)

    def assert_quiet(self) -> None:
        """Fails if any page of this tab opened a dialog, wrote to the console, broke the policy, asked elsewhere, or
        ran hostile text."""
        self.settle()
        assert not self.faults, "\n".join(self.faults)
        assert self.page.evaluate("window.pwned") is None


@contextmanager
def opened(
    browser: Browser, url: str, *, width: int = 1280, height: int = 900, scheme: Scheme = "light", scripts: bool = True
) -> Iterator[Tab]:
    """A tab in a fresh context, which must have been quiet when it is left."""
    context = browser.new_context(
        base_url=url,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=scripts,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        tab = Tab(context.new_page(), url, scripts)
        _watch(context, tab)
        yield tab
        tab.assert_quiet()
    finally:
        context.close()


def _watch(context: BrowserContext, tab: Tab) -> None:
    def on_dialog(dialog: Dialog) -> None:
        tab.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_console(message: ConsoleMessage) -> None:
        tab.faults.append(f"console {message.type}: {message.text}")

    def on_request(request: Request) -> None:
        if not request.url.startswith((f"{tab.url}/", "data:")):
            tab.faults.append(f"asked elsewhere: {request.url}")

    context.on("dialog", on_dialog)
    context.on("console", on_console)
    context.on("request", on_request)
    context.on("weberror", lambda fault: tab.faults.append(f"uncaught: {fault.error}"))
    context.on("page", lambda page: tab.faults.append(f"another window: {page.url}"))
    context.expose_binding("tellViolation", lambda _, text: tab.faults.append(f"policy: {text}"))
    context.add_init_script(WITNESS)


@contextmanager
def held(page: Page, pattern: str, method: str) -> Iterator[list[Route]]:
    """Hold requests back while it lasts; they go on afterwards."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == method:
            waiting.append(route)
        else:
            route.continue_()

    page.route(pattern, hold)
    yield waiting
    for route in waiting:
        route.continue_()
    page.unroute(pattern)
