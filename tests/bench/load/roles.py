"""What each one does, and what the answers must be."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle
from typing import Any

import httpx

from tests.analysis.stories import LEAK, called, said
from tests.bench.load.ledger import Ledger

RUNS, GENERATIONS, ELIGIBLE = 2, 8, 6
"""Of each upload."""
DETECTORS = ("leakdown@1", "openrouter-net@1")
PAIR = {"baseline": "openrouter-net@1", "candidate": "leakdown@1"}
CELLS = ("both", "baseline_only", "candidate_only", "neither")
READ = (
    "/v1/rates?by=model", "/v1/runs?limit=100", "/v1/rates?by=engine&where=role%3Dagent", "/v1/uploads",
    "/v1/series?row=model&column=engine", "/", "/v1/generations?limit=50", "/runs", "/series", "/v1/rates?by=client",
    "/v1/recovery", "/v1/detectors", "/v1/drift", "/review?by=reader", "/uploads", "/v1/trend", "/healthz",
)  # fmt: skip


def upload_of(name: str) -> bytes:
    """Two runs, each with a leak that a retry mends, a leak passed off, a printed call and an answer."""
    records = []
    for run in (f"{name}-a", f"{name}-b"):
        told: dict[str, Any] = {"run": run, "model": f"m-{name[:2]}", "engine": "e", "client": "c",
                                "started_at": "2026-11-20T12:00:00Z"}  # fmt: skip
        records += [
            said(f"{run} {LEAK}", 0, 0, **told),
            called(0, 1, arguments=json.dumps({"q": run}), **told),
            said(f"I will look into {run} now.\n{LEAK}\nand that is all of it", 1, 0, **told),
            said(f"All is well with {run}.", 2, 0, **told),
        ]
    numbered = ({**each, "generation_id": f"{name}.{at}"} for at, each in enumerate(records))
    return b"".join(json.dumps(each).encode() + b"\n" for each in numbered)


@dataclass(slots=True)
class Load:
    """One service under load. `leaks`: of an upload, by detector; `cells`: those of a replay of one upload."""

    url: str
    ledger: Ledger
    leaks: dict[str, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    shown: dict[str, set[str]] = field(default_factory=dict)
    """Verdict keys, by reviewer."""
    pause: float = 0.0
    """Seconds that a reader waits between two requests."""

    def client(self) -> httpx.Client:
        """One of its own for each thread. A request that takes five minutes never ends."""
        return httpx.Client(base_url=self.url, timeout=300, trust_env=False)

    def upload(self, who: str, most: int) -> None:
        """Up to so many files, one after the other."""
        with self.client() as http:
            for at in range(most):
                if self.ledger.over:
                    return
                self.ledger.add("sent")
                body = upload_of(f"{who}-{at}")
                answer = self.ledger.ask(http, "upload", "POST", "/v1/uploads?name=u.jsonl", content=body)
                if answer is None:
                    continue
                self.ledger.add("acknowledged")
                [told] = answer.json()["uploads"]
                self._check(told["new_generations"] == GENERATIONS, f"upload: {told}")

    def read(self, first: int, most: int) -> None:
        """Up to so many requests, beginning somewhere among them; none may go back behind an earlier one."""
        seen: dict[str, int] = {}
        with self.client() as http:
            for at in range(most):
                if self.ledger.over:
                    return
                self._read(http, READ[(first + at) % len(READ)], at, seen)
                time.sleep(self.pause)

    def _read(self, http: httpx.Client, path: str, at: int, seen: dict[str, int]) -> None:
        low = self.ledger.acknowledged
        kind = path.partition("?")[0]
        answer = self.ledger.ask(http, f"GET {kind}", "GET", path)
        high = self.ledger.sent
        if answer is None or (uploads := self._uploads(kind, answer)) is None:
            return
        self._check(low <= uploads <= high, f"{path}: {uploads} uploads, acknowledged {low}, sent {high}, request {at}")
        self._check(uploads >= seen.get(kind, 0), f"{path}: {uploads} uploads after {seen.get(kind, 0)}")
        seen[kind] = uploads

    def _uploads(self, kind: str, answer: httpx.Response) -> int | None:
        """How many uploads an answer is of; None where it does not tell. Every sum in it must be one of that many."""
        match kind:
            case "/v1/rates":
                return self._of_rates(answer.json())
            case "/v1/uploads":
                return len(answer.json())
            case "/v1/series":
                found = answer.json()
                return self._whole("series", self._sum(found["cells"], "eligible"), ELIGIBLE)
            case "/v1/runs":
                items = answer.json()["items"]
                wrong = [each for each in items if each["generations"] != GENERATIONS // RUNS]
                self._check(not wrong, f"runs of half an upload: {wrong[:1]}")
        return None

    def _of_rates(self, rows: list[dict[str, Any]]) -> int:
        uploads = self._whole("eligible", self._sum(rows, "eligible"), ELIGIBLE)
        for row in rows:
            each = row["eligible"] // ELIGIBLE
            expected = {"leaks": each * self.leaks[row["detector"]], "runs": each * RUNS}
            self._check(all(row[name] == n for name, n in expected.items()), f"rates: {row}, not {expected}")
        self._check(len({row["detector"] for row in rows}) < 2, "rates of two detectors in one answer")
        return uploads

    def review(self, who: str, most: int) -> None:
        """Up to so many outputs looked at and labelled."""
        mine = self.shown.setdefault(who, set())
        with self.client() as http:
            for _ in range(most):
                if self.ledger.over:
                    return
                answer = self.ledger.ask(http, "next label", "GET", f"/v1/labels/next?by={who}")
                if answer is None or (output := answer.json()["output"]) is None:
                    continue
                mine.add(output["verdict_key"])
                said_ = {"generation_id": output["generation_id"], "run_id": output["run_id"], "leak": True, "by": who}
                if self.ledger.ask(http, "label", "POST", "/v1/labels", json=said_):
                    self.ledger.add("labels")

    def replay(self, most: int) -> None:
        """Up to so many replays, each awaited."""
        with self.client() as http:
            for _ in range(most):
                if self.ledger.over:
                    return
                low = self.ledger.acknowledged
                queued = self.ledger.ask(http, "replay queued", "POST", "/v1/replays", json=PAIR)
                if queued and (report := self._ended(http, queued.json()["id"])):
                    self._check_report(report, low, self.ledger.sent)

    def _ended(self, http: httpx.Client, job: str) -> dict[str, Any] | None:
        begun = time.monotonic()
        for _ in count():
            answer = self.ledger.ask(http, "replay asked", "GET", f"/v1/replays/{job}")
            if answer and answer.json()["state"] not in ("queued", "running"):
                break
            time.sleep(0.1)
        with self.ledger.lock:
            self.ledger.seconds["replay in all"].append(time.monotonic() - begun)
        found = answer.json() if answer else {}
        self._check(found.get("state") == "done", f"replay: {found.get('state')} {found.get('error')}")
        report: dict[str, Any] | None = found.get("report")
        return report

    def _check_report(self, report: dict[str, Any], low: int, high: int) -> None:
        n, left_out = report["population"]["generations"], report["population"]["left_out"]
        uploads = self._whole("replay", n, GENERATIONS)
        cells, expected = {cell: report[cell] for cell in CELLS}, {cell: n * uploads for cell, n in self.cells.items()}
        self._check(low <= uploads <= high, f"replay of {uploads} uploads, acknowledged {low}, sent {high}")
        self._check(cells == expected and not left_out, f"replay: {cells}, not {expected}; {left_out} left out")

    def promote(self, most: int) -> None:
        """Up to so many promotions, to and fro."""
        with self.client() as http:
            for _, one in zip(range(most), cycle(DETECTORS), strict=False):
                if self.ledger.over:
                    return
                self.ledger.ask(http, "promote", "PUT", "/v1/detectors/current", json={"detector": one})
                time.sleep(self.pause)

    def calibrate(self) -> None:
        """What one upload counts by each detector, alone and before the load; the second is current then."""
        self.ledger.add("sent")
        with self.client() as http:
            http.post("/v1/uploads?name=first.jsonl", content=upload_of("first-0")).raise_for_status()
            self.ledger.add("acknowledged")
            for one in DETECTORS:
                http.put("/v1/detectors/current", json={"detector": one}).raise_for_status()
                [row] = http.get("/v1/rates?by=engine").json()
                self._check(row["eligible"] == ELIGIBLE, f"first: {row}")
                self.leaks[one] = row["leaks"]
            job = http.post("/v1/replays", json=PAIR).raise_for_status().json()["id"]
            report = self._ended(http, job)
            self.cells = {cell: report[cell] for cell in CELLS} if report else {}

    def settled(self) -> Iterator[str]:
        """What is wrong in the end, when nobody is at work."""
        with self.client() as http:
            rows = http.get("/v1/rates?by=engine").json()
            if not self.ledger.acknowledged <= self._of_rates(rows) <= self.ledger.sent:
                yield f"{self._sum(rows, 'eligible')} eligible of {self.ledger.acknowledged} uploads"
            listed = http.get("/v1/labels/agreement").json()
            if sum(each["labels"] for each in listed["people"]) != self.ledger.labels:
                yield f"labels: {listed['people']}, acknowledged {self.ledger.labels}"
        both = set.intersection(*self.shown.values()) if len(self.shown) > 1 else set()
        if both:
            yield f"two reviewers were shown {len(both)} outputs alike"

    def threads(self, counts: dict[str, int], each: dict[str, int]) -> list[threading.Thread]:
        """The threads of `counts` of a role, each with `each` requests at most."""
        roles: dict[str, Callable[[int, int], object]] = {
            "uploaders": lambda at, most: self.upload(f"u{at}", most),
            "readers": self.read,
            "reviewers": lambda at, most: self.review(f"reviewer-{at}", most),
            "replays": lambda _, most: self.replay(most),
            "promotions": lambda _, most: self.promote(most),
        }
        return [
            self.ledger.guarded(f"{role} {at}", partial(roles[role], at, each[role]))
            for role, n in counts.items()
            for at in range(n)
        ]

    def _whole(self, what: str, n: int, of: int) -> int:
        self._check(n % of == 0, f"{what}: {n} is no multiple of {of}")
        return n // of

    def _sum(self, rows: list[dict[str, Any]], name: str) -> int:
        return sum(int(row[name]) for row in rows)

    def _check(self, holds: bool, what: str) -> None:
        if not holds:
            self.ledger.wrong(what)
