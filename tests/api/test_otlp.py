"""OTLP over HTTP, on a real service, with OpenTelemetry's own SDK and exporters."""

import base64
import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from google.protobuf.json_format import ParseDict
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from api.otlp_answers import JSON, PROTOBUF
from ingest.store import Store
from tests.api.keyed import Keyed, keyed
from tests.api.otlp_application import DIALECTS
from tests.api.service import Process, Service, process, served, until
from tests.bench.exports import spans
from tests.ingest.loading import rows
from tests.ingest.otlp_signals import CHAT, Object, choice, logs, said, span, traces

ROOT = Path(__file__).parents[2]
OFTEN: dict[str, Any] = {"otlp_seconds": 0.05}
BAD = {**CHAT, "gen_ai.output.messages": "[}"}
LEAK = "Here: <tool_call>{}</tool_call>"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that reads what comes at once."""
    with served(tmp_path_factory.mktemp("otlp") / "s.duckdb", **OFTEN) as running:
        yield running


@pytest.fixture(scope="module")
def exported(service: Service) -> dict[str, Any]:
    """The rates by service once an application has sent all its telemetry."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    settings |= {"OTEL_EXPORTER_OTLP_ENDPOINT": service.url, "PYTHONPATH": str(ROOT), "NO_PROXY": "*"}
    command = [sys.executable, "-m", "tests.api.otlp_application"]
    ran = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return {name: until(partial(rates, service, name), lambda found: found["eligible"] == 2) for name in DIALECTS}


def rates(service: Service, name: str) -> dict[str, Any]:
    """The one row of the runs of a service."""
    upload = next((each for each in service.http.get("/v1/uploads").json() if f" {name}, " in each["path"]), None)
    found = service.http.get("/v1/generations", params={"limit": 500}).json()["items"] if upload else []
    runs = {each["run_id"] for each in found if each["upload_id"] == upload["upload_id"]} if upload else set()
    rows = [row for run in runs for row in service.http.get("/v1/rates", params={"where": f"run_id={run}"}).json()]
    return dict(rows[0], seen_runs=len(runs)) if rows else {"eligible": 0}


@pytest.mark.parametrize("name", DIALECTS)
def test_an_application_that_knows_an_address_shows_its_leak(exported: dict[str, Any], name: str) -> None:
    row = exported[name]
    assert {key: row[key] for key in ("model", "tools_known", "eligible", "leaks", "seen_runs", "runs")} == {
        "model": "m", "tools_known": True, "eligible": 2, "leaks": 1, "seen_runs": 1, "runs": 1,
    }  # fmt: skip


def test_its_runs_are_on_the_pages(service: Service, exported: dict[str, Any]) -> None:
    runs = service.http.get("/v1/runs", params={"leaking": "true"}).json()["items"]
    assert len(runs) == len(exported)
    assert "There are two files." in service.http.get(f"/runs/{runs[0]['run_id']}").text
    assert "OTLP of openllmetry, " in service.http.get("/uploads").text


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Service]:
    """A service of one's own, with an empty store."""
    with served(tmp_path / "s.duckdb", **OFTEN) as running:
        yield running


def post(service: Service, value: Object, path: str = "/v1/traces", **headers: str) -> httpx.Response:
    return service.http.post(path, content=json.dumps(value), headers={"content-type": JSON, **headers})


def in_protobuf(value: Object) -> bytes:
    """A request with ids as protobuf has them."""
    text = json.loads(json.dumps(value))
    for resource in text["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for each in scope["spans"]:
                each |= {key: hex64(each[key]) for key in ("traceId", "spanId") if key in each}
    request: ExportTraceServiceRequest = ParseDict(text, ExportTraceServiceRequest())
    return bytes(request.SerializeToString())


def hex64(value: str) -> str:
    return base64.b64encode(bytes.fromhex(value)).decode()


def totals(service: Service) -> dict[str, int]:
    keys = ("lines", "mapped", "skipped", "duplicate", "quarantined", "new_generations")
    uploads = service.http.get("/v1/uploads").json()
    return {key: sum(each[key] for each in uploads) for key in keys}


@pytest.mark.parametrize(
    ("packing", "pack"),
    [
        pytest.param("", bytes, id="plain"),
        pytest.param("identity", bytes, id="identity"),
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("deflate", zlib.compress, id="deflate"),
        pytest.param("zstd", lambda data: zstandard.ZstdCompressor().compress(data), id="zstd"),
    ],
)
@pytest.mark.parametrize("encoding", [JSON, PROTOBUF])
def test_every_encoding(service: Service, encoding: str, packing: str, pack: Callable[[bytes], bytes]) -> None:
    at = zlib.crc32(f"{encoding} {packing}".encode())
    ids = {"traceId": f"{at:032x}", "spanId": f"{at:016x}"}
    value = traces({**span(1, said(f"{encoding} {packing}")), **ids}, resource={"service.name": "e"})
    body = pack(json.dumps(value).encode() if encoding == JSON else in_protobuf(value))
    headers = {"content-type": encoding, **({"content-encoding": packing} if packing else {})}
    answer = service.http.post("/v1/traces", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, encoding)
    assert answer.content == (b"{}" if encoding == JSON else b"")
    run = f"/v1/runs/{at:032x}"
    found = until(lambda: service.http.get(run), lambda answer: answer.status_code == 200).json()
    assert [each["content"] for each in found["generations"]] == [f"{encoding} {packing}"]


def test_the_same_again_and_what_overlaps_bring_nothing_twice(fresh: Service) -> None:
    one, two, three = (span(at, said(f"{LEAK} {at}")) for at in (1, 2, 3))
    for value in (traces(one, two), traces(one, two), traces(two, three)):
        assert post(fresh, value).json() == {}
    found = until(lambda: totals(fresh), lambda found: found["lines"] == 3)
    assert found["new_generations"] == 3
    assert found["mapped"] + found["duplicate"] + found["skipped"] == 3


def test_what_is_no_model_call_is_accepted_and_passed_over(fresh: Service) -> None:
    assert post(fresh, traces(span(1, {"http.method": "GET"}))).json() == {}
    found = until(lambda: totals(fresh), lambda found: found["lines"])
    assert (found["skipped"], found["new_generations"]) == (1, 0)


@pytest.mark.parametrize("encoding", [JSON, PROTOBUF])
def test_what_is_rejected_is_told_and_the_rest_is_taken(fresh: Service, encoding: str) -> None:
    value = traces(span(1, said("fine")), span(2, BAD), span(3, BAD))
    body = json.dumps(value).encode() if encoding == JSON else in_protobuf(value)
    answer = fresh.http.post("/v1/traces", content=body, headers={"content-type": encoding})
    told = ExportTraceServiceResponse()
    told = ParseDict(answer.json(), told) if encoding == JSON else ExportTraceServiceResponse.FromString(answer.content)
    assert (answer.status_code, answer.headers["content-type"]) == (200, encoding)
    assert told.partial_success.rejected_spans == 2
    assert "should be JSON" in told.partial_success.error_message
    found = until(lambda: totals(fresh), lambda found: found["lines"] == 2)
    assert (found["mapped"], found["quarantined"]) == (1, 1)


def test_rejected_log_records_are_told_as_such(fresh: Service) -> None:
    answer = post(fresh, {"resourceLogs": [{"scopeLogs": [{"logRecords": [1]}]}]}, "/v1/logs")
    told = ParseDict(answer.json(), ExportLogsServiceResponse())
    assert told.partial_success.rejected_log_records == 1


def test_metrics_are_accepted_with_a_hint(service: Service) -> None:
    answer = service.http.post("/v1/metrics", content=b"", headers={"content-type": PROTOBUF})
    assert (answer.status_code, answer.headers["content-type"]) == (200, PROTOBUF)
    assert b"OTEL_METRICS_EXPORTER" in answer.content


CUT = gzip.compress(b"x" * 999)[:-9]
FAILURES = [
    pytest.param({"content": b"\xff"}, 400, {PROTOBUF: "no request with spans", JSON: "invalid UTF-8"}, id="no OTLP"),
    pytest.param({"content": b"x", "headers": {"content-encoding": "gzip"}}, 400, "gzip", id="no gzip"),
    pytest.param({"content": CUT, "headers": {"content-encoding": "gzip"}}, 400, "ends early", id="cut gzip"),
    pytest.param({"headers": {"content-encoding": "snappy"}}, 415, "gzip, zstd, deflate", id="another packing"),
    pytest.param({"headers": {"host": "evil.example"}}, 400, "evil.example", id="another host"),
    pytest.param({"headers": {"sec-fetch-site": "cross-site"}}, 403, "another site", id="a page elsewhere"),
    pytest.param({"params": {"x": "1"}}, 400, "unknown parameter", id="a parameter"),
]


@pytest.mark.parametrize(("request_", "status", "why"), FAILURES)
@pytest.mark.parametrize("encoding", [JSON, PROTOBUF])
def test_a_failure_is_a_status_in_the_encoding_of_the_request(
    service: Service, encoding: str, request_: dict[str, Any], status: int, why: Any
) -> None:
    headers = {"content-type": encoding, **request_.get("headers", {})}
    answer = service.http.post("/v1/traces", **{**request_, "headers": headers})
    assert (answer.status_code, answer.headers["content-type"]) == (status, encoding)
    told = ParseDict(answer.json(), Status()) if encoding == JSON else Status.FromString(answer.content)
    assert (why[encoding] if isinstance(why, dict) else why) in told.message
    if status == 400:
        fault = BadRequest()
        assert told.details[0].Unpack(fault)
        assert fault.field_violations[0].description == told.message


def test_another_content_type(service: Service) -> None:
    answer = service.http.post("/v1/logs", content=b"{}", headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.headers["content-type"]) == (415, JSON)
    assert PROTOBUF in answer.json()["message"]


def test_secrets_are_taken_out_before_anything_is_kept(tmp_path: Path) -> None:
    secret = "sk-" + "abcdefghijklmnop1234"
    with served(tmp_path / "s.duckdb", redact=True, otlp_seconds=60) as service:
        assert post(service, traces(span(1, said(f"the key {secret}")))).status_code == 200
        path = service.store
    with served(path, **OFTEN) as service:
        run = f"/v1/runs/{span(1, {})['traceId']}"
        [row] = until(lambda: service.http.get(run).json().get("generations", []), bool)
    assert (row["content"], row["text_fidelity"]) == ("the key [redacted-key]", "redacted")
    assert secret.encode() not in path.read_bytes()


def kill(running: Process) -> None:
    running.popen.kill()
    running.popen.wait()


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """At once after the answer; a span whose text comes only to the next life is joined all the same."""
    with process(tmp_path / "s.duckdb") as running:
        headers = {"content-type": JSON}
        sent = [traces(span(1, said(LEAK))), traces(span(2, CHAT))]
        assert [running.http.post("/v1/traces", json=each, headers=headers).status_code for each in sent] == [200, 200]
        kill(running)
    with served(tmp_path / "s.duckdb", **OFTEN) as service:
        assert post(service, logs(choice(2, "Fine.")), "/v1/logs").status_code == 200
        run = f"/v1/runs/{span(1, {})['traceId']}"
        found = until(lambda: service.http.get(run).json().get("generations", []), lambda found: len(found) == 2)
        assert [(each["content"], each["model"]) for each in found] == [(LEAK, "m"), ("Fine.", "m")]


def test_an_upload_that_holds_the_store_keeps_no_exporter_waiting(fresh: Service) -> None:
    with fresh.app.state.backend.store.writing():
        assert post(fresh, traces(span(1, said(LEAK)))).status_code == 200
        assert totals(fresh)["lines"] == 0
    assert until(lambda: totals(fresh), lambda found: found["lines"])["new_generations"] == 1


def test_what_has_come_is_read_when_the_service_stops(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb", otlp_seconds=600) as service:
        assert post(service, traces(span(1, said(LEAK)))).status_code == 200
    with Store.open(tmp_path / "s.duckdb") as store:
        assert rows(store, "SELECT count(*) FROM generations") == [(1,)]


def test_an_exporter_that_is_refused_for_now_sends_it_again(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb", otlp_waiting_limit=1, otlp_seconds=2) as service:
        exporter = OTLPSpanExporter(endpoint=f"{service.url}/v1/traces")
        first, second = spans(2)
        assert [exporter.export([each]).name for each in (first, second)] == ["SUCCESS", "SUCCESS"]
        exporter.shutdown()  # type: ignore[no-untyped-call]
        assert 'route="/v1/traces",status="503"' in service.http.get("/metrics").text
        assert until(lambda: totals(service), lambda found: found["lines"] == 2)["new_generations"] == 2


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keyed]:
    """A service that asks for keys."""
    with keyed(tmp_path) as running:
        yield running


@pytest.mark.parametrize(
    ("who", "result", "status"),
    [
        pytest.param("ingest", "SUCCESS", 200, id="a key that may send"),
        pytest.param("read", "FAILURE", 403, id="one that may not"),
        pytest.param(None, "FAILURE", 401, id="none"),
    ],
)
def test_an_exporter_sends_its_key_by_a_setting(
    keys: Keyed, monkeypatch: pytest.MonkeyPatch, who: str | None, result: str, status: int
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", keys.service.url)
    if who:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{keys.keys[who]}")
    exporter = OTLPSpanExporter()
    assert exporter.export(spans(1)).name == result
    exporter.shutdown()  # type: ignore[no-untyped-call]
    answer = keys.send(who, "POST", "/v1/traces", content=b"", headers={"content-type": PROTOBUF})
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROTOBUF)
    assert (status == 200) is (Status.FromString(answer.content).message == "")
