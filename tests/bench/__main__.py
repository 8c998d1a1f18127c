"""`make bench`: the performance targets that can be measured so far, as ratios within one run.

A ratio is the yardstick's seconds over ours, so more is better; CPU seconds, since they bear a busy machine.
Medians of five; rows and repeats can be set with `--rows` and `--repeats`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from analysis.detectors import detector
from tests.bench import format_speed, memory_curve, pages
from tests.bench.corpus import Corpus, write
from tests.bench.per_output import table

LEAKDOWN = str(Path(sys.executable).with_name("leakdown"))
PYTHON = sys.executable


@dataclass(frozen=True, slots=True)
class Cost:
    """One process: CPU and wall seconds, peak resident bytes, what it printed."""

    cpu: float
    wall: float
    peak: int
    printed: str


def cost(command: list[str], **environment: str) -> Cost:
    """Run `command` to its end; RuntimeError if it fails. It may keep its bytecode, as what is installed does."""
    started = os.times().elapsed
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with {process.returncode}")
    wall = os.times().elapsed - started
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, printed)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report: our seconds, the yardstick's, their ratio and the target (None: none stated)."""

    what: str
    ours: float
    yardstick: float
    target: float | None

    def __str__(self) -> str:
        target = "" if self.target is None else f"≥ {self.target:.2f}"
        return f"{self.what:<58}{self.ours:>9.2f}{self.yardstick:>11.2f}{self.yardstick / self.ours:>8.2f}  {target}"


class Bench:
    """The measurements over one corpus in `folder`."""

    def __init__(self, folder: Path, rows: int, repeats: int) -> None:
        self.folder, self.repeats = folder, repeats
        self.store = folder / "bench.duckdb"
        self.peak = 0
        self.corpus: Corpus = write(folder, rows)
        self.markers = folder / "markers.txt"
        self.markers.write_text("\n".join(detector("openrouter-net@1").triggers) + "\n")

    def leakdown(self, *arguments: str) -> Cost:
        """Our command on the bench's store."""
        spent = cost([LEAKDOWN, *arguments], LEAKDOWN_STORE=str(self.store))
        self.peak = max(self.peak, spent.peak)
        return spent

    def ingest(self, source: Path) -> float:
        """CPU seconds of an ingest into a new store."""
        self.store.unlink(missing_ok=True)
        return self.leakdown("ingest", str(source), "--json").cpu

    def peak_of_ingest(self, source: Path) -> int:
        """Peak resident bytes of an ingest into a new store."""
        self.store.unlink(missing_ok=True)
        return self.leakdown("ingest", str(source), "--json").peak

    def yardstick(self, name: str, *files: Path) -> Cost:
        """A yardstick as a process of its own."""
        return cost([PYTHON, "-m", "tests.bench.yardsticks", name, *map(str, files)], POLARS_MAX_THREADS="1")

    def ripgrep(self) -> float:
        """CPU seconds of ripgrep over the bare texts."""
        return cost(["rg", "-c", "-F", "-j", "1", "-f", str(self.markers), str(self.corpus.texts)]).cpu

    def replay(self, *what: str) -> float:
        """CPU seconds of a replay from the store's opening on; the loading of libraries is not in it."""
        spent = cost([PYTHON, "-m", "tests.bench.replays", str(self.store), *what])
        self.peak = max(self.peak, spent.peak)
        return float(spent.printed.split()[0])

    def pair(
        self,
        what: str,
        target: float | None,
        ours: Callable[[], float],
        yardstick: Callable[[], float],
        repeats: int | None = None,
    ) -> Row:
        """Both in turn, so that what disturbs the machine disturbs both."""
        turns = [(ours(), yardstick()) for _ in range(repeats or self.repeats)]
        return Row(what, median(turn[0] for turn in turns), median(turn[1] for turn in turns), target)

    def replays(self) -> list[Row]:
        """The replays of the store that the last ingest left, which has searched for all known triggers."""
        net, goat, leakdown = "openrouter-net@1", "goat@1", "leakdown@1"
        fresh = (f"never seen before {at}" for at in range(self.repeats))
        return [
            self.pair(
                "replay, goat@1, both recomputed (by ripgrep)",
                0.35,
                lambda: self.replay("recompute", net, goat),
                self.ripgrep,
            ),
            self.pair(
                "replay, leakdown@1, baseline known (by ripgrep)",
                0.3,
                lambda: self.replay("candidate", net, leakdown),
                self.ripgrep,
                repeats=1,
            ),
            self.pair(
                "replay, leakdown@1, both recomputed (by ripgrep)",
                0.2,
                lambda: self.replay("recompute", net, leakdown),
                self.ripgrep,
                repeats=1,
            ),
            self.pair(
                "a trigger never seen before (by ripgrep)",
                0.08,
                lambda: self.replay("new-trigger", next(fresh)),
                self.ripgrep,
            ),
        ]

    def ingests(self) -> list[Row]:
        """Ingests into a new store; the last leaves the native records in it."""
        other = self.folder / "yardstick.duckdb"
        pairs = self.pair(
            "ingest of OpenAI request/response pairs",
            0.2,
            lambda: self.ingest(self.corpus.pairs),
            lambda: self.yardstick("read_ndjson_pairs", self.corpus.pairs, other).cpu,
        )
        native = self.pair(
            "ingest of native records",
            0.35,
            lambda: self.ingest(self.corpus.native),
            lambda: self.yardstick("read_ndjson_native", self.corpus.native, other).cpu,
        )
        return [native, pairs]

    def rows(self) -> list[Row]:
        """All measurements, in the order of the targets."""
        ingests = self.ingests()
        return [
            *self.replays(),
            self.pair(
                "trigger scan alone, one core (by ripgrep)",
                1.2,
                lambda: float(self.yardstick("contains_any", self.corpus.texts).printed.split()[0]),
                self.ripgrep,
            ),
            *ingests,
        ]


def main() -> None:
    """Write the corpus, measure, print."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="outputs in the corpus")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each measurement")
    parser.add_argument("--large", action="store_true", help="memory on files of up to 5 GB too (10 minutes more)")
    parser.add_argument("--ingest", action="store_true", help="the two rows of ingest alone")
    parser.add_argument("--generations", type=int, default=500_000, help="in the store whose pages are measured")
    options = parser.parse_args()
    if shutil.which("rg") is None:
        raise SystemExit(
            "make bench: ripgrep is the yardstick and `rg` is not on the PATH; install the package ripgrep"
        )
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.rows, options.repeats)
        print(f"{options.rows:,} outputs, {bench.corpus.texts.stat().st_size / 1e6:,.0f} MB of text\n")
        print(f"{'CPU seconds':<58}{'ours':>9}{'yardstick':>11}{'ratio':>8}  target")
        for row in bench.ingests() if options.ingest else bench.rows():
            print(row)
        load = " ".join(f"{load:.1f}" for load in os.getloadavg())
        print(f"load average: {load}")
        if options.ingest:
            return
        print("", *table(bench.corpus.texts, options.repeats), sep="\n")
        print("", *format_speed.table(options.repeats), sep="\n")
        sizes = [100_000_000, 300_000_000] + ([1_000_000_000, 5_000_000_000] if options.large else [])
        print("", *memory_curve.table(bench.folder, sizes, bench.peak_of_ingest), sep="\n")
        bench.ingest(bench.corpus.native)
        size = bench.store.stat().st_size / bench.corpus.native.stat().st_size
        print(f"\nstore size over plain JSONL: {size:.2f} (target ≤ 0.40)")
        print(f"peak memory of any of our commands: {bench.peak / 1e6:,.0f} MB (target ≤ 1,000)")
        extra = median(
            cost([LEAKDOWN, "--help"]).wall - cost([PYTHON, "-c", "pass"]).wall for _ in range(options.repeats)
        )
        print(f"leakdown --help over python -c pass: {extra:.2f} s more (target ≤ 0.30)\n")
        for line in pages.table(Path(folder), options.generations):
            print(line, flush=True)


if __name__ == "__main__":
    main()
