"""A service that is killed again and again while uploads come in: each that was answered with 201 is there in its next
life, whole, and so is none that was not begun."""

import itertools
import json
import random
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from ingest.store import Store
from tests.api.conftest import LEAK, generation
from tests.api.service import Process, lines, process
from tests.durability.soundness import sound, state
from tests.ingest.loading import rows

GENERATIONS = 20
"""Of each upload: one run."""


@dataclass(slots=True)
class Uploads:
    """What was sent, and what was acknowledged, of one store's service."""

    sent: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)

    def go_on(self, service: Process, moment: float) -> None:
        """Send one run after the other until the service is gone, killed `moment` seconds after the first answer."""
        for number in itertools.count():
            run_id = f"run-{len(self.sent)}"
            self.sent.append(run_id)
            body = lines(*(generation(run_id, at, f"{LEAK} {run_id} {at}") for at in range(GENERATIONS)))
            try:
                answer = service.http.post("/v1/uploads", content=body)
            except httpx.TransportError:
                return
            assert answer.status_code == 201, answer.text
            self.acknowledged.append(run_id)
            if number == 0:
                threading.Timer(moment, service.popen.send_signal, [signal.SIGKILL]).start()


def live(store: Path, uploads: Uploads, moment: float) -> float:
    """One life of a service, killed in the middle of its uploads; the seconds that its start took."""
    began = time.monotonic()
    with process(store) as service:
        started = time.monotonic() - began
        there = {row["run_id"] for row in service.http.get("/v1/runs", params={"limit": 500}).json()["items"]}
        assert there >= {*uploads.acknowledged}
        uploads.go_on(service, moment)
    return started


def check(store: Path, uploads: Uploads) -> None:
    with Store.open(store) as opened:
        sound(opened)
        assert state(opened).rates[0]["eligible"] % GENERATIONS == 0
        kept = dict(rows(opened, "SELECT run_id, count(*) FROM generations GROUP BY ALL"))
        listed = rows(opened, "SELECT sum(generations), sum(new_generations) FROM uploads")
    assert {*uploads.acknowledged} <= kept.keys() <= {*uploads.sent}
    assert {*kept.values()} == {GENERATIONS}
    assert listed == [(len(kept) * GENERATIONS,) * 2]
    assert {path.name for path in store.parent.iterdir()} <= {store.name, f"{store.name}.service.json"}


def lives(store: Path, count: int, seed: str) -> None:
    throw, uploads, started = random.Random(seed), Uploads(), list[float]()  # noqa: S311 - no cryptography
    for _ in range(count):
        moment = throw.uniform(0, 1)
        started.append(live(store, uploads, moment))
        print(f"seed {seed!r}: killed after {moment:.3f} s, {len(uploads.acknowledged)} uploads acknowledged")
    check(store, uploads)
    print(json.dumps({"lives": count, "acknowledged": len(uploads.acknowledged), "slowest start": max(started)}))


def test_what_a_service_acknowledged_survives_its_kills(tmp_path: Path) -> None:
    lives(tmp_path / "s.duckdb", 2, "short")


@pytest.mark.slow
def test_many_lives(tmp_path: Path) -> None:
    lives(tmp_path / "s.duckdb", 20, "long")
