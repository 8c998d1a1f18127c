"""What the browser visits: a service over the sample data, with one upload that has bad lines, and all its pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.api.service import Service, lines, served, until

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
WIDTHS = (400, 1024, 1600)
PAGES = {
    "overview": "/",
    "overview by versions": "/?by=engine&by=engine_version&where=model=qwen*",
    "series": "/series",
    "series of leaks": "/series?row=kind&column=model",
    "drift": "/drift",
    "drift by name": "/drift?by=cleo&where=model=qwen*",
    "uploads": "/uploads",
    "upload": "/uploads/1",
    "upload with bad lines": "/uploads/3",
    "upload to delete": "/uploads/1/delete",
    "runs": "/runs",
    "leaking runs": "/runs?leaking=true",
    "run": "/runs/{run}",
    "audit": "/audit",
    "audit under a policy": "/audit?policy=goat&rule=more_retries_than_allowed&by=cleo&all=true",
    "run with attempts": "/runs/{retried}",
    "recovery": "/recovery",
    "recovery by two policies": "/recovery?policy=goat&policy=retry-n:max_retries=3&where=model=qwen*",
    "recovery of nothing": "/recovery?where=model=none",
    "replays": "/replays",
    "replay": "/replays/{replay}",
    "detectors": "/detectors",
    "detector": "/detectors/goat@1",
    "detector to promote": "/detectors/promote?wanted=goat@1",
    "review, who": "/review",
    "review": "/review?by=cleo",
    "labels": "/labels?by=cleo",
    "filter that fits nothing": "/?where=model=none",
}
"""Pages over the sample, by name."""
BARE_PAGES = {
    "overview": "/",
    "series": "/series",
    "drift": "/drift",
    "uploads": "/uploads",
    "runs": "/runs",
    "audit": "/audit",
    "recovery": "/recovery",
    "replays": "/replays",
    "detectors": "/detectors",
    "review": "/review?by=cleo",
    "labels": "/labels",
    "keys": "/keys",
}
"""Pages that say something else over an empty store."""


RETRIED = "run-237"
"""A run of the sample in which a leak is retried."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A service with the sample: one of its runs with a leak, one with a retry, and a replay that is done."""

    service: Service
    run: str
    retried: str
    replay: str

    def path(self, name: str) -> str:
        """The address of one of PAGES."""
        return PAGES[name].format(run=self.run, retried=self.retried, replay=self.replay)


@contextmanager
def sample_service(folder: Path) -> Iterator[Service]:
    """A service over the sample files in a new store in `folder`."""
    with served(folder / "sample.duckdb") as service:
        for name in ("runs.jsonl", "pairs.jsonl"):
            answer = service.http.post("/v1/uploads", params={"name": name}, content=(SAMPLE / name).read_bytes())
            assert answer.status_code == 201, answer.text
        yield service


@contextmanager
def sample_scene(folder: Path) -> Iterator[Scene]:
    """The same with bad lines and a replay."""
    with sample_service(folder) as service:
        bad = lines({"type": "run", "run_id": "run-000"}) + b"half a line\n" + lines({"type": "generation"})
        answer = service.http.post("/v1/uploads", params={"name": "broken.jsonl"}, content=bad)
        assert answer.json()["uploads"][0]["quarantined"] == 2, answer.text
        [run] = service.http.get("/v1/runs", params={"leaking": True, "limit": 1}).json()["items"]
        for path in (each for name, each in PAGES.items() if name.startswith("recovery")):
            computed(service, path)
        yield Scene(service, run["run_id"], RETRIED, replayed(service, "openrouter-net@1", "goat@1"))


def computed(service: Service, path: str) -> None:
    """Wait until what a page of recovery shows has been computed for the store as it is."""
    service.http.get(f"/v1{path}").raise_for_status()


def replayed(service: Service, baseline: str, candidate: str, *where: str) -> str:
    """Compare two detectors; the id of the replay, once it is done."""
    wanted = {"baseline": baseline, "candidate": candidate, "where": list(where)}
    path = service.http.post("/v1/replays", json=wanted).headers["location"]
    job = until(lambda: service.http.get(path).json(), lambda job: job["state"] not in ("queued", "running"))
    assert job["state"] == "done", job
    return str(job["id"])
