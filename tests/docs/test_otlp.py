"""docs/otlp.md: its application, with its environment, sends to a service what the document says comes back."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from analysis.detectors import detectors
from ingest.otlp.facts import GIVEN
from ingest.records import SERIES
from tests.api.service import served, until
from tests.docs.test_http import ADDRESS, Said
from tests.test_docs import ROOT, blocks

DOCUMENT = ROOT / "docs" / "otlp.md"
SENDING, ASKING = blocks(DOCUMENT, "sh")


def test_an_application_sends_and_its_leak_shows(tmp_path: Path) -> None:
    settings = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    with served(tmp_path / "s.duckdb", otlp_seconds=0.05) as service:
        commands = SENDING.replace(ADDRESS, service.url).replace("python ", f"{sys.executable} ")
        ran = subprocess.run(["bash", "-ec", commands], cwd=ROOT, env=settings, capture_output=True, text=True)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        for line, answer in zip(ASKING.splitlines()[::2], ASKING.splitlines()[1::2], strict=True):
            said = Said(line, tuple(answer.removeprefix("# ").split("…")))
            until(lambda said=said: asked(said.line, service.url), said.holds)  # type: ignore[misc]


def asked(line: str, url: str) -> str:
    """What a curl line gets from a service."""
    return httpx.get(line.split()[-1].strip("'").replace(ADDRESS, url), trust_env=False).text


@pytest.mark.parametrize("name", ["engine", "template"])
def test_what_the_resource_attributes_name_are_series_fields(name: str) -> None:
    assert name in SERIES
    assert f"{GIVEN}{name}=" in SENDING


def test_the_detector_of_the_answer_is_one() -> None:
    assert any(f'"{each.id}"' in ASKING for each in detectors())
