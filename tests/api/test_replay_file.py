"""A replay as one HTML file: it needs nothing else, runs nothing, and shows hostile text as text."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from analysis.detectors import detector
from analysis.replay import replay
from api.pages.replay_file import html
from tests.analysis.stories import label, said, store_of
from tests.api.conftest import LEAK, small_history
from tests.api.service import Service, served, until

HOSTILE = "</style></pre></title><script>alert(1)</script><img src=x onerror=alert(1)>\"'\u202e\x1b[31m\ud800"


class Shown(HTMLParser):
    """The tags of a document, their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a replay over hostile records."""
    hostile = {"model": HOSTILE, "engine": HOSTILE, "template": HOSTILE, "run": f"{HOSTILE}/.."}
    records = [said(f"{HOSTILE} {LEAK} {HOSTILE}", generation_id=f"{HOSTILE}{at}", **hostile) for at in range(3)] + [
        said(f"<function={HOSTILE}> {HOSTILE}", generation_id="g", **hostile),
        label("g", False, note=HOSTILE),
    ]
    plain = [{name: _sendable(value) for name, value in record.items()} for record in records]
    with store_of(tmp_path_factory.mktemp("file"), plain) as store:
        report = replay(store, detector("openrouter-net@1"), detector("goat@1")).as_json()
    assert report["disagreements"]
    return html(report).decode()


def _sendable(value: object) -> object:
    """Half a pair of surrogates is no record."""
    return value.replace("\ud800", "") if isinstance(value, str) else value


def test_it_needs_nothing_else_and_runs_nothing(file: str) -> None:
    shown = Shown(file)
    assert not {"script", "img", "link", "iframe", "object", "base", "form", "a"} & set(shown.tags)
    assert shown.tags.count("style") == shown.tags.count("title") == 1
    assert not [name for name, _ in shown.attributes if name.startswith("on") or name in ("src", "href", "style")]
    assert "url(" not in file
    assert "@import" not in file
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in shown.attributes


def test_hostile_text_is_shown_as_text(file: str) -> None:
    shown = Shown(file)
    assert "<script>alert(1)</script>" in shown.text
    assert not [char for char in "\u202e\x1b" if char in file]


def test_both_themes_stand_in_it(file: str) -> None:
    assert "prefers-color-scheme: dark" in file


def test_what_it_shows_of_a_label_and_of_a_policy(file: str) -> None:
    text = " ".join(Shown(file).text.split())
    assert "a good answer kept that the baseline throws away" in text
    assert "Operating points" in text
    assert "Disagreements that are alike" in text


def test_a_replay_in_which_nothing_differs_is_a_file_too(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("hello")]) as store:
        text = html(replay(store, detector("goat@1"), detector("goat@1")).as_json()).decode()
    assert "They agree on every output." in text
    assert "All disagreements" not in text


def test_estimates_stand_on_the_page_and_in_the_file(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as service:
        service.upload(*small_history())
        _shows_estimates(service)


def _shows_estimates(service: Service) -> None:
    wanted = {"baseline": "openrouter-net@1", "candidate": "openrouter-net-tight@1"}
    sample = service.http.post("/v1/samples", json={**wanted, "budget": 3}).json()["sample"]
    job = service.http.post("/v1/replays", json=wanted)
    until(lambda: service.http.get(job.headers["location"]).json(), lambda seen: seen["state"] == "done")
    path = job.headers["location"].removeprefix("/v1")
    page, file = service.http.get(path).text, service.http.get(f"{path}/report.html").text
    for text in (page, file):
        assert "What the labels of a drawn sample say of all" in text
        assert "neither, no trigger" in text
    assert f"/review?sample={sample}" in page
    assert "/review?sample=" not in file
