"""The check of `leakdown demo --once`: over HTTP, as a client would, every answer against what the sample holds."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from api.cli import show

PAGES = (
    "/",
    "/uploads",
    "/runs",
    "/replays",
    "/detectors",
    "/review",
    "/labels",
    "/series",
    "/drift",
    "/recovery",
    "/audit",
    "/keys",
)
SECONDS = 120
"""A replay of the sample that takes longer has failed."""


def check(url: str, sample: Path) -> list[str]:
    """What failed, a line each; every step is told on stderr."""
    failed: list[str] = []
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        for name, step in _steps(client, sample):
            try:
                told = step()
            except (AssertionError, httpx.HTTPError, KeyError, ValueError) as fault:
                failed.append(f"{name}: {fault or type(fault).__name__}")
            else:
                show.talk(f"ok: {name}{f' ({told})' if told else ''}")
    return failed


def _steps(client: httpx.Client, sample: Path) -> list[tuple[str, Callable[[], str | None]]]:
    files = sorted(sample.glob("*.jsonl"))
    uploads = [(f"upload {path.name}", lambda path=path: _upload(client, path)) for path in files]
    pages = [(f"page {page}", lambda page=page: _page(client, page)) for page in PAGES]
    return [
        ("ready", lambda: _want(client.get("/readyz").status_code == httpx.codes.OK, "not ready")),
        *uploads,
        ("upload again changes nothing", lambda: _again(client, files[0])),
        ("rates", lambda: _rates(client)),
        ("replay", lambda: _replay(client)),
        *pages,
        ("page of a run", lambda: _run_page(client)),
        ("page of a replay", lambda: _page(client, f"/replays/{client.get('/v1/replays').json()[0]['id']}")),
    ]


def _want(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _upload(client: httpx.Client, path: Path) -> str:
    answer = client.post("/v1/uploads", params={"name": path.name}, content=path.read_bytes())
    _want(answer.status_code == httpx.codes.CREATED, answer.text)
    [result] = answer.json()["uploads"]
    lines = len(path.read_bytes().splitlines())
    sums = result["mapped"] + result["skipped"] + result["duplicate"] + result["quarantined"]
    _want(result["lines"] == lines == sums, f"{lines} lines, but {result}")
    _want(result["quarantined"] == 0, f"{result['quarantined']} lines quarantined")
    return f"{result['new_generations']:,} generations"


def _again(client: httpx.Client, path: Path) -> None:
    [result] = client.post("/v1/uploads", params={"name": path.name}, content=path.read_bytes()).json()["uploads"]
    _want(result["new_generations"] == 0 and result["duplicate"] == result["lines"], f"{result}")


def _rates(client: httpx.Client) -> str:
    rates: list[dict[str, Any]] = client.get("/v1/rates", params={"by": "engine,engine_version"}).json()
    _want(bool(rates), "no rates")
    for row in rates:
        low, value, high = row["leak_low"], row["leak_rate"], row["leak_high"]
        _want(value is None or low <= value <= high, f"{row}")
    return f"{sum(row['eligible'] for row in rates):,} eligible generations in {len(rates)} rows"


def _replay(client: httpx.Client) -> str:
    wanted = {"baseline": "openrouter-net@1", "candidate": "openrouter-net-tight@1"}
    job = client.post("/v1/replays", json=wanted).json()
    deadline = time.monotonic() + SECONDS
    while job["state"] in ("queued", "running") and time.monotonic() < deadline:
        time.sleep(0.1)
        job = client.get(f"/v1/replays/{job['id']}").json()
    _want(job["state"] == "done", f"{job['state']}: {job['error']}")
    report = job["report"]
    cells = report["both"] + report["baseline_only"] + report["candidate_only"] + report["neither"]
    _want(cells == report["population"]["generations"] > 0, "the cells do not add up")
    return f"{cells:,} generations, {len(report['disagreements'])} disagreements"


def _page(client: httpx.Client, address: str) -> None:
    answer = client.get(address)
    _want(answer.status_code == httpx.codes.OK, f"{answer.status_code}")
    _want("<h1" in answer.text and "</html>" in answer.text, "not a whole page")


def _run_page(client: httpx.Client) -> None:
    [run] = client.get("/v1/runs", params={"leaking": True, "limit": 1}).json()["items"]
    _page(client, f"/runs/{run['run_id']}")
