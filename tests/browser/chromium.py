"""The browser of the browser tests: a Chromium of this machine, or one that is installed now.

`python -m tests.browser.chromium` makes sure that there is one, and fails if none can be had: a browser test is
never skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip
"""For a machine without a screen and without a way out; root can have no sandbox."""


def find() -> str | None:
    """The path of a Chromium: the system's, else the one that Playwright installed."""
    system = next((path for name in NAMES if (path := shutil.which(name))), None)
    return system or _playwrights()


def _playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _installers() -> list[list[list[str]]]:
    """Ways to get one, each a list of commands, in the order in which they are tried."""
    ways = []
    if shutil.which("apt-get") and os.geteuid() == 0:
        ways.append(
            [["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]]
        )
    ways.append([[sys.executable, "-m", "playwright", "install", "chromium"]])
    return ways


def main() -> None:
    """Install a Chromium if there is none."""
    for commands in _installers():
        if find():
            break
        for command in commands:
            print(f"no Chromium yet: {' '.join(command)}", file=sys.stderr)
            subprocess.run(command, check=False, stdout=sys.stderr)
    path = find()
    if path is None:
        raise SystemExit("the browser tests need Chromium, and none could be installed; install the package chromium")
    print(f"browser tests use {path}")


if __name__ == "__main__":
    main()
