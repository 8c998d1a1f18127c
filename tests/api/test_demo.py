"""`leakdown demo --once`: does all that a newcomer would, and says what failed."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from api.cli.demo_check import PAGES, check
from tests.api.conftest import SAMPLE, spawn
from tests.api.service import served


def test_the_demo_checks_itself() -> None:
    ran = spawn("demo", "--once")
    assert ran.code == 0, ran.err
    assert "FAILED" not in ran.err
    for page in PAGES:
        assert f"ok: page {page}" in ran.err
    assert list(Path.cwd().iterdir()) == []


def broken(_: Request) -> PlainTextResponse:
    return PlainTextResponse("no", 500)


def with_a_broken_page(app: FastAPI) -> None:
    app.router.routes.insert(0, Route("/detectors", broken))


def test_a_broken_page_is_told_and_the_rest_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(tmp_path / "s.duckdb", with_a_broken_page) as service:
        assert check(service.url, SAMPLE) == ["page /detectors: 500"]
    assert "ok: page /review" in capsys.readouterr().err


def test_a_service_that_is_not_there_fails_every_step() -> None:
    failed = check("http://127.0.0.1:9", SAMPLE)
    assert {line.split(":")[0] for line in failed} >= {"ready", "rates", "replay", "page /"}
