"""Pictures of every page over the sample, to look at: `python -m tests.browser.screenshots FOLDER`.

Each narrow and wide, light and dark. With `--readme`, the README's picture of the Overview instead.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, FloatRect, sync_playwright

from analysis.charts.leak_trend import PANEL
from tests.api.service import served
from tests.browser.chromium import FLAGS, find
from tests.browser.scenes import BARE_PAGES, PAGES, sample_scene, sample_service
from tests.browser.tab import Scheme, opened

README = Path(__file__).parents[2] / "docs" / "overview.png"
LARGEST = 300_000
"""Bytes of the README's picture."""
WIDE, PANELS = 1280, 2
"""Pixels of its width, and how many panels of the chart it shows."""
VIEWS: tuple[tuple[int, Scheme], ...] = ((400, "light"), (400, "dark"), (1600, "light"), (1600, "dark"))


def every_page(browser: Browser, store_folder: Path, pictures: Path) -> None:
    """Write a picture of each page in each view, as tall as the page."""
    pictures.mkdir(parents=True, exist_ok=True)
    with sample_scene(store_folder) as scene, served(store_folder / "bare.duckdb") as bare:
        pages = [(scene.service.url, name, scene.path(name)) for name in PAGES]
        pages += [(bare.url, f"empty {name}", path) for name, path in BARE_PAGES.items()]
        for width, scheme in VIEWS:
            for url, name, path in pages:
                with opened(browser, url, width=width, scheme=scheme) as tab:
                    tab.go(path)
                    file = pictures / f"{name.replace(', ', '-').replace(' ', '-')}-{width}-{scheme}.png"
                    tab.page.screenshot(path=file, full_page=True)


def readme_picture(browser: Browser, store_folder: Path) -> None:
    """Write the README's picture: the Overview over the sample that `make demo` shows, down to a few panels."""
    with sample_service(store_folder) as service, opened(browser, service.url, width=WIDE) as tab:
        tab.go("/")
        chart = tab.page.locator(".chart").bounding_box()
        assert chart
        shown: FloatRect = {"x": 0, "y": 0, "width": WIDE, "height": chart["y"] + PANELS * PANEL}
        tab.page.screenshot(path=README, full_page=True, clip=shown)
    size = README.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{README}: {size:,} bytes, over {LARGEST:,}")
    print(f"{README}: {size:,} bytes")


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the pictures go")
    parser.add_argument("--readme", action="store_true", help="the README's picture only")
    asked = parser.parse_args()
    if asked.readme == bool(asked.folder):
        parser.error("name a folder, or --readme")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        if asked.readme:
            readme_picture(browser, Path(folder))
        else:
            every_page(browser, Path(folder), asked.folder)
        browser.close()


if __name__ == "__main__":
    main()
