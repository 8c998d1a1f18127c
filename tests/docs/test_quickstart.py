"""docs/quickstart.md: what it shows is what a newcomer sees."""

import re
import signal
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.api.conftest import SCRIPT
from tests.api.service import PATIENCE
from tests.test_docs import ROOT, blocks

DOCUMENT = ROOT / "docs" / "quickstart.md"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """`leakdown demo` in a folder of its own, which says what the document shows."""
    command, folder = [SCRIPT, "demo", "--port", "0"], tmp_path_factory.mktemp("demo")
    [shown] = blocks(DOCUMENT, "text")
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        said = "".join(process.stderr.readline() for _ in shown.splitlines())
        url = re.findall(r"http://[\d.:]+", said)[-1]
        assert said.replace(url, "http://127.0.0.1:8321") == shown
        with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            yield client
        process.send_signal(signal.SIGINT)
        assert (process.communicate(timeout=PATIENCE)[1], process.returncode) == ("", 0)
    finally:
        process.kill()
        process.communicate()


def test_the_rates_that_it_names_are_on_the_overview(demo: httpx.Client) -> None:
    page = demo.get("/", params={"by": ["engine", "engine_version"], "where": "model=qwen*"}).text
    told = re.findall(r"(\d\.\d) % on\s+(\d[\d.]*\d)", DOCUMENT.read_text("utf-8"))
    assert len(told) == 2
    for rate, version in told:
        assert f"{rate}%" in page
        assert version in page


def test_the_words_to_click_stand_on_the_pages(demo: httpx.Client) -> None:
    pages = "".join(demo.get(path).text for path in ("/", "/uploads", "/uploads/1", "/replays", "/detectors"))
    bold = set(re.findall(r"\*\*(.+?)\*\*", DOCUMENT.read_text("utf-8").replace("\n", " ")))
    assert bold >= {"Overview", "Uploads", "Replays", "Detectors", "Review", "Compare", "Show"}
    assert {words for words in bold if words not in pages} == set()


def test_its_own_log_is_one_leak_of_one(demo: httpx.Client) -> None:
    [line] = blocks(DOCUMENT, "json")
    answer = demo.post("/v1/uploads", params={"name": "mine.jsonl"}, content=line.encode())
    assert answer.json()["uploads"][0]["new_generations"] == 1
    [row] = demo.get("/v1/rates", params={"where": "model=my-model"}).json()
    assert (row["leaks"], row["eligible"]) == (1, 1)
