"""`prune` and `forget` on the command line, over HTTP and on the pages; and the room that they give back."""

import re
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.retention.space import free_blocks
from ingest.store import Store
from tests.analysis.stories import dice
from tests.api.conftest import LEAK, SCRIPT, Leakdown, generation, write
from tests.api.service import lines, served
from tests.ingest.loading import everything, rows

OLD, YOUNG = "2025-01-01T00:00:00Z", (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT00:00:00Z")
AGE = ("--older-than", "90d")


def history(many: int = 1, size: int = 40, seed: int = 0) -> list[dict[str, Any]]:
    """Runs of an old and of a young time, each text another, of `size` random bytes."""
    throw = dice(seed)
    texts = [f"{LEAK} {throw.randbytes(size).hex()}" for _ in range(2 * many)]
    return [
        generation(f"{'old' if at % 2 else 'young'}-{at // 2}", 0, text, started_at=OLD if at % 2 else YOUNG)
        for at, text in enumerate(texts)
    ]


@pytest.fixture
def store(leakdown: Leakdown) -> Path:
    assert leakdown("ingest", write("h.jsonl", *history(3)), "--store", "s.duckdb").code == 0
    return Path("s.duckdb")


class TestTheCommand:
    """What it prints is what it did."""

    def test_prune_says_what_it_did_and_the_rates_stay(self, store: Path, leakdown: Leakdown) -> None:
        before = leakdown("rates", "--json", "--store", store).json
        ran = leakdown("prune", *AGE, "--keep-rates", "--store", store)
        assert ran.out.startswith("took out the texts of 3 generations of 3 runs and 0 events, of before 20")
        assert leakdown("rates", "--json", "--store", store).json == before
        again = leakdown("prune", *AGE, "--keep-rates", "--json", "--store", store).json
        assert (again["generations"], again["file"]) == (0, None)

    def test_a_dry_run_tells_the_counts_first(self, store: Path, leakdown: Leakdown) -> None:
        with Store.open(store) as opened:
            before = everything(opened)
        ran = leakdown("prune", *AGE, "--dry-run", "--store", store)
        assert ran.out.startswith("would take out 3 generations of 3 runs and 0 events, of before 20")
        with Store.open(store) as opened:
            assert everything(opened) == before

    def test_forget_takes_one_run(self, store: Path, leakdown: Leakdown) -> None:
        found = leakdown("forget", "--run", "old-1", "--json", "--store", store).json
        assert (found["runs"], found["generations"], found["before"]) == (1, 1, None)
        assert leakdown("export", "--jsonl", "-", "--store", store).out.count("old-1") == 0

    def test_promotion_says_what_it_could_not_judge(self, store: Path, leakdown: Leakdown) -> None:
        leakdown("prune", *AGE, "--keep-rates", "--store", store)
        ran = leakdown("detectors", "promote", "openrouter-net@1", "--store", store)
        assert "3 generations were pruned before it could judge them" in ran.err
        assert "3 more are not counted" in leakdown("rates", "--store", store).err
        pair = "--baseline", "goat@1", "--candidate", "leakdown@1"
        report = leakdown("replay", *pair, "--json", "-", "--store", store)
        assert report.json["population"]["left_out"] == {"pruned": 3}

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            pytest.param(("prune", "--older-than", "90"), "write a number of days such as 90d", id="no unit"),
            pytest.param(("prune", "--older-than", "0d"), "write a number of days", id="nothing"),
            pytest.param(("prune", "--older-than", "99999999d"), "write a number of days", id="before all time"),
            pytest.param(("prune",), "--older-than", id="no age"),
            pytest.param(("forget", "--run", "none"), "no run 'none'", id="no such run"),
        ],
    )
    def test_a_wrong_call_is_one_clear_line(
        self, call: tuple[str, ...], said: str, store: Path, leakdown: Leakdown
    ) -> None:
        ran = leakdown(*call, "--store", store)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err


def offered(page: str) -> list[str]:
    """What a page says of the tools of each generation."""
    return re.findall(r"\d+ tools? offered", page)


class TestTheService:
    """The same through a running service, and on its pages."""

    def test_the_pages_say_when_a_text_was_pruned(self, tmp_path: Path) -> None:
        with served(tmp_path / "s.duckdb") as service:
            service.upload(*history(2))
            before = service.http.get("/runs/old-0").text
            asked = {"older_than": "90d", "keep_rates": True}
            told = service.http.post("/v1/prune", json={**asked, "dry_run": True}).json()
            done = service.http.post("/v1/prune", json=asked).json()
            assert (told["generations"], told["file"]) == (2, None)
            assert {**done, "file": None, "dry_run": True} == {**told, "before": done["before"]}
            [run] = service.http.get("/v1/runs/old-0").json()["generations"]
            page = service.http.get("/runs/old-0").text
            assert f"Text pruned on {run['pruned_at'][:10]}." in page
            assert offered(page) == offered(before) == ["1 tool offered"]
            assert "Text pruned" not in service.http.get("/runs/young-0").text
            service.http.put("/v1/detectors/current", json={"detector": "openrouter-net@1"})
            assert "2 more eligible generations are not in the n" in service.http.get("/").text
            assert service.http.get("/v1/drift").json()["left_out"] == {"no_time": 0, "in_the_future": 0, "pruned": 2}
            assert "2 are left out: their texts were pruned" in service.http.get("/drift").text

    def test_a_kept_replay_shows_no_text_that_was_pruned(self, tmp_path: Path) -> None:
        with served(tmp_path / "s.duckdb") as service:
            service.upload(*history(2))
            pair = {"baseline": "openrouter-net-tight@1", "candidate": "goat@1"}
            job = service.http.post("/v1/replays", json=pair).json()["id"]
            while service.http.get(f"/v1/replays/{job}").json()["state"] in ("queued", "running"):
                pass
            before = service.http.get(f"/v1/replays/{job}").json()["report"]
            service.http.post("/v1/prune", json={"older_than": "90d", "keep_rates": True})
            after = service.http.get(f"/v1/replays/{job}").json()["report"]
            assert [after[cell] for cell in ("both", "neither")] == [before[cell] for cell in ("both", "neither")]
            quoted = [each for each in after["disagreements"] if each["run_id"].startswith("old")]
            assert not any(side and side["markup"] for each in quoted for side in (each["baseline"], each["candidate"]))
            assert service.http.get(f"/replays/{job}").status_code == 200

    def test_forgotten_is_not_found(self, tmp_path: Path) -> None:
        with served(tmp_path / "s.duckdb") as service:
            service.upload(*history(1))
            assert service.http.post("/v1/forget", json={"run_id": "old-0"}).json()["generations"] == 1
            assert "no run" in service.refused(404, "GET", "/v1/runs/old-0")
            assert "no run" in service.refused(404, "POST", "/v1/forget", json={"run_id": "old-0"})


class TestRoom:
    """What goes gives its room back."""

    def test_the_file_shrinks_where_nobody_else_uses_it(self, leakdown: Leakdown) -> None:
        many = write("many.jsonl", *history(1_000, 3_000))
        assert leakdown("ingest", many, "--store", "big.duckdb").code == 0
        file = leakdown("prune", *AGE, "--keep-rates", "--json", "--store", "big.duckdb").json["file"]
        assert file["after"] < 0.7 * file["before"]
        assert file["after"] == Path("big.duckdb").stat().st_size
        assert {path.name for path in Path().glob("big*")} == {"big.duckdb"}

    def test_with_a_service_the_next_upload_takes_it(self, tmp_path: Path) -> None:
        with served(tmp_path / "s.duckdb") as service:
            store: Store = service.app.state.backend.store
            service.upload_bytes(lines(*history(1_000, 3_000)))
            assert store.checkpoint()
            file = service.http.post("/v1/prune", json={"older_than": "90d", "keep_rates": True}).json()["file"]
            assert file["freed"]
            service.upload(*({**each, "run_id": f"n-{each['run_id']}"} for each in history(300, 3_000, 1)))
            assert store.checkpoint()
            # without the free blocks it would take three tenths
            assert store.bytes() - file["after"] < 0.1 * file["before"]

    def test_what_is_read_meanwhile_stays_readable(self, tmp_path: Path) -> None:
        with served(tmp_path / "s.duckdb") as service:
            service.upload(*history(50))
            store: Store = service.app.state.backend.store
            with store.cursor() as reader:
                reader.begin()
                before = reader.execute("SELECT sum(hash(text)) FROM texts").fetchall()
                service.http.post("/v1/forget", json={"run_id": "old-1"})
                assert reader.execute("SELECT sum(hash(text)) FROM texts").fetchall() == before
                reader.rollback()
            assert free_blocks(store)


HALVES = """
SELECT count(*), count(pruning), count(content), (SELECT count(hash) FROM texts) FROM generations
"""


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_killed_half_way_it_is_as_before_or_done(kills: int, leakdown: Leakdown) -> None:
    """Killed at moments spread over its length; the store then opens, and holds all texts of the old half or none."""
    made = write("h.jsonl", *history(300))
    assert leakdown("ingest", made, "--store", "s.duckdb").code == 0
    command = [SCRIPT, "prune", *AGE, "--keep-rates", "--store"]
    whole, seen = Path("s.duckdb").read_bytes(), set()
    Path("k.duckdb").write_bytes(whole)
    begun = time.monotonic()
    subprocess.run([*command, "k.duckdb"], check=True, capture_output=True)
    length = time.monotonic() - begun
    for at in range(kills):
        Path("k.duckdb").write_bytes(whole)
        with subprocess.Popen([*command, "k.duckdb"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as popen:
            try:
                popen.wait(length * (0.4 + 0.6 * at / kills))
            except subprocess.TimeoutExpired:
                popen.kill()
        with Store.open(Path("k.duckdb")) as store:
            seen |= {*rows(store, HALVES)}
            assert {path.name for path in Path().glob("k.duckdb*")} <= {"k.duckdb", "k.duckdb.wal"}
    assert seen <= {(600, 0, 600, 600), (600, 300, 300, 300)}
    assert leakdown("rates", "--json", "--store", "k.duckdb").json[0]["eligible"] == 600
