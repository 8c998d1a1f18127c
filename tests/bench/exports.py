"""What small exports cost: `python -m tests.bench.exports`, with OpenTelemetry's own exporter on a real service.

One span an export, as an agent that makes a call every few seconds sends them; then the same from eight at a time.
"""

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.api.otlp_application import ANSWER, LEAK, current
from tests.api.service import Process, process, until

CLIENTS = 8


def spans(number: int, history: int = 40) -> list[ReadableSpan]:
    """Model calls of runs of ten, each with its history of some kilobytes; every tenth leaks."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "agent"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("bench")
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "x" * 100}]}] * history)
    for at in range(number):
        told = current(f"{LEAK if at % 10 == 0 else ANSWER} {at}") | {"gen_ai.input.messages": asked}
        with tracer.start_as_current_span("chat m", attributes=told | {"gen_ai.conversation.id": f"run {at // 10}"}):
            pass
    provider.shutdown()
    return list(memory.get_finished_spans())


def export(service: Process, batch: Sequence[ReadableSpan]) -> list[float]:
    """Seconds of each export, one span each."""
    exporter = OTLPSpanExporter(endpoint=f"{service.url}/v1/traces")
    seconds = []
    for each in batch:
        begun = time.perf_counter()
        assert exporter.export([each]).name == "SUCCESS"
        seconds.append(time.perf_counter() - begun)
    exporter.shutdown()  # type: ignore[no-untyped-call]
    return seconds


def told(name: str, seconds: Sequence[float], whole: float) -> None:
    """One line of figures."""
    ordered = sorted(1e3 * each for each in seconds)
    p50, p99 = statistics.median(ordered), ordered[int(0.99 * len(ordered))]
    rate = len(ordered) / whole
    print(f"{name:<34} {len(ordered):>6,} requests {rate:>6.0f} /s   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms")


def read_out(service: Process, expected: int) -> float:
    """Seconds until all that was sent is in the rates."""
    begun = time.perf_counter()

    def eligible() -> int:
        return sum(row["eligible"] for row in service.http.get("/v1/rates").json())

    until(eligible, lambda found: found == expected)
    return time.perf_counter() - begun


def cpu_seconds(service: Process) -> float:
    """CPU seconds of the service so far."""
    fields = Path(f"/proc/{service.popen.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def readers(service: Process, stop: threading.Event, seconds: list[float]) -> None:
    """Ask for the overview until told to stop."""
    while not stop.is_set():
        begun = time.perf_counter()
        assert service.http.get("/v1/runs").status_code == 200
        seconds.append(time.perf_counter() - begun)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exports", type=int, default=1_000)
    number = parser.parse_args().exports
    batch = spans(2 * number)
    with tempfile.TemporaryDirectory() as folder, process(Path(folder, "s.duckdb")) as service:
        begun, before = time.perf_counter(), cpu_seconds(service)
        seconds = export(service, batch[:number])
        whole = time.perf_counter() - begun
        tenth = number // 10
        told("one exporter", seconds, whole)
        told("  the first tenth", seconds[:tenth], sum(seconds[:tenth]))
        told("  the last tenth", seconds[-tenth:], sum(seconds[-tenth:]))
        print(f"{'all of it in the rates after':<34} {read_out(service, number):6.1f} s")
        print(
            f"{'CPU of the service, all told':<34} {1e3 * (cpu_seconds(service) - before) / number:6.1f} ms an export"
        )
        parallel(service, batch[number:])
        print(f"{'all of it in the rates after':<34} {read_out(service, 2 * number):6.1f} s")
        state(service, Path(folder, "s.duckdb"))


def parallel(service: Process, batch: Sequence[ReadableSpan]) -> None:
    """Eight exporters and a reader at once."""
    stop, reading = threading.Event(), list[float]()
    reader = threading.Thread(target=readers, args=(service, stop, reading))
    reader.start()
    begun = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        parts = pool.map(lambda at: export(service, batch[at::CLIENTS]), range(CLIENTS))
        seconds = [each for part in parts for each in part]
    told(f"{CLIENTS} exporters", seconds, time.perf_counter() - begun)
    stop.set()
    reader.join()
    told("  a reader of /v1/runs meanwhile", reading, sum(reading))


def state(service: Process, store: Path) -> None:
    """What is in the store."""
    for upload in service.http.get("/v1/uploads").json():
        print(f"upload {upload['path'].partition(',')[0]!r}: {upload['lines']:,} messages, {upload['mapped']:,} mapped")
    status = Path(f"/proc/{service.popen.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0])
    size = sum(path.stat().st_size for path in store.parent.iterdir() if path.is_file())
    print(f"peak memory {peak / 2**10:,.0f} MiB, store with its log {size / 2**20:,.1f} MiB")


if __name__ == "__main__":
    main()
