"""Two stores alike, one of them owned by a service in a process of its own: for comparing what commands say."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.api.conftest import CALL, LEAK, SCRIPT, Ran, generation, small_history, write
from tests.api.service import PATIENCE

STORE = "s.duckdb"
TALK = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:[\d.]+Z)?")
TOOK = re.compile(r"compared in [\d.]+ s")
SECONDS = re.compile(r'"seconds":[\d.e-]+')


@dataclass(frozen=True, slots=True)
class Owner:
    """A service as a process of its own: its address, and the store that it owns."""

    process: subprocess.Popen[str]
    url: str
    store: Path

    def end(self, sign: signal.Signals) -> tuple[int, str]:
        """Send a signal; the exit code, and all that it still said."""
        self.process.send_signal(sign)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said

    def arriving(self) -> int:
        """Bytes of bodies that lie beside the store."""
        assert httpx.get(f"{self.url}/healthz", trust_env=False).is_success
        return sum(path.stat().st_size for path in self.store.parent.glob(f".{self.store.name}.arriving-*/*"))


@contextmanager
def owned(store: Path, **settings: str) -> Iterator[Owner]:
    """A service on `store` while it lasts; it ends with 0 and without a further word, unless the test ended it."""
    command = [SCRIPT, "serve", "--port", "0", "--store", store.name]
    process = subprocess.Popen(
        command, cwd=store.parent, env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr
        first = process.stderr.readline()
        told = re.fullmatch(
            rf"leakdown serves {store.name} at (http://127\.0\.0\.1:\d+) \(stop it with Ctrl-C\)\n", first
        )
        assert told, first
        yield Owner(process, told[1], store)
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            assert process.communicate(timeout=PATIENCE)[1] == ""
            assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def laid_out(folder: Path, history: Path | None) -> Path:
    """A folder with logs good and bad, and with a store."""
    folder.mkdir()
    write(folder / "history.jsonl", *small_history())
    write(folder / "more.jsonl", generation("m", 0, LEAK), generation("m", 1, None, tool_calls=CALL))
    write(folder / "bare.jsonl", {"type": "generation", "run_id": "z", "content": "x", "tools": [{"name": "ls"}]})
    write(folder / "talk.jsonl", TALK)
    write(folder / "events.jsonl", {"Markup": "<tool_call>", "Leak": 1, "Retried": True})
    write(folder / "only labels.jsonl", {"type": "label", "generation_id": "c.1", "leak": True, "by": "bo"})
    rows = "generation_id,leak,by,note\na.0,clean,,=1+1\nb.0,leak,cy,\nlate,unsure,,\nb.0,perhaps,,\n,,,\n"
    (folder / "more labels.csv").write_text(rows)
    write(folder / "only runs.jsonl", {"type": "run", "run_id": "c", "client": "mine"})
    (folder / "bad.jsonl").write_text(f"{json.dumps(generation('y', 0, 'hi'))}\nhalf a line\n")
    (folder / "no log.txt").write_text("hello\n")
    (folder / "empty.jsonl").touch()
    (folder / "more.jsonl.gz").write_bytes(gzip.compress((folder / "more.jsonl").read_bytes()))
    (folder / "cut.gz").write_bytes(gzip.compress((folder / "more.jsonl").read_bytes(), mtime=0)[:-30])
    (folder / "logs").mkdir()
    for name in ("a", "b"):
        write(folder / "logs" / f"{name}.jsonl", generation(name, 7, name))
    if history:
        shutil.copy(history, folder / STORE)
    return folder


@dataclass(frozen=True, slots=True)
class Pair:
    """Two folders alike; in one of them a service owns the store."""

    direct: Path
    served: Path
    owner: Owner

    def assert_same(self, call: Callable[[], Ran], code: int | None = None) -> Ran:
        """Fails unless `call` says the same in both folders; what it says."""
        at = Path.cwd()
        try:
            os.chdir(self.direct)
            direct = masked(call())
            os.chdir(self.served)
            served = masked(call())
        finally:
            os.chdir(at)
        assert served == direct
        assert code is None or direct.code == code, direct
        return direct


def masked(ran: Ran) -> Ran:
    """Without what differs from call to call: times of day, and seconds that it took."""
    out = TOOK.sub("compared", SECONDS.sub('"seconds":0', MOMENT.sub("then", ran.out)))
    return Ran(ran.code, out, ran.err)


@contextmanager
def paired(top: Path, history: Path | None) -> Iterator[Pair]:
    """Two folders alike, each with a copy of `history` if there is one."""
    direct, served = (laid_out(top / name, history) for name in ("direct", "served"))
    with owned(served / STORE) as owner:
        yield Pair(direct, served, owner)
