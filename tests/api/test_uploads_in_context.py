"""What is said of an upload beside itself: sidecars, redaction, files that belong together, guesses."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.formats import formats
from tests.api.conftest import LEAK, Leakdown, generation, write
from tests.api.service import Service, served

[BATCH] = [each for each in formats() if each.name == "openai-batch"]
ASKED, ANSWERED = (
    "".join(f"{line}\n" for line in BATCH.example.splitlines() if ('"url"' in line) is asked) for asked in (True, False)
)
MAIL = "ana@example.com"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service over an empty store, in a folder of its own."""
    with served(tmp_path / "s.duckdb") as running:
        yield running


def test_the_files_of_a_form_that_belong_together_are_one_upload(service: Service) -> None:
    files = [("file", ("in.jsonl", ASKED)), ("file", ("out.jsonl", ANSWERED)), ("file", ("x.jsonl", native()))]
    answer = service.http.post("/v1/uploads", files=files).json()
    assert [(each["path"], each["format"]) for each in answer["uploads"]] == [
        ("in.jsonl + out.jsonl", "openai-batch"),
        ("x.jsonl", "native"),
    ]


def native(**fields: str) -> str:
    return json.dumps(generation("a", 0, f"{LEAK} {MAIL}", **fields)) + "\n"


def test_a_sidecar_counts_less_than_what_is_set(service: Service) -> None:
    told = "sidecar=engine%3Dsglang&sidecar=client%3Dc&set=engine%3Dvllm"
    assert service.http.post(f"/v1/uploads?{told}", content=native()).status_code == 201
    [upload] = service.http.get("/v1/uploads").json()
    assert upload["settings"] == {"engine": "vllm", "client": "c"}
    assert upload["origins"] == {"engine": "given", "client": "sidecar"}
    page = service.http.get("/uploads/1").text
    assert "from leakdown.toml" in page
    assert "given with the upload" in page


@pytest.mark.parametrize(
    ("told", "held"),
    [
        pytest.param({}, True, id="not asked for"),
        pytest.param({"redact": "true"}, False, id="asked for"),
        pytest.param({"redact_pattern": "zzz"}, False, id="with a pattern"),
    ],
)
def test_an_upload_is_redacted_on_demand(service: Service, told: dict[str, str], held: bool) -> None:
    service.http.post("/v1/uploads", params=told, content=native())
    assert (MAIL in service.http.get("/v1/runs/a").text) is held


def test_a_service_may_redact_everything(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb", redact_patterns=["<tool_call>"]) as service:
        service.http.post("/v1/uploads", content=native())
        event = {"run_id": "a", "markup": f"x {MAIL}", "leak": 1, "retried": False}
        assert service.http.post("/v1/events", json=event).status_code == 201
        run = service.http.get("/v1/runs/a").text
        assert "[redacted-email]" in run
        assert "[redacted-1]" in run
        assert MAIL not in run


def test_a_bad_pattern_is_refused_before_anything_is_read(service: Service) -> None:
    assert "Rust's regex" in service.refused(400, "POST", "/v1/uploads?redact_pattern=(", content=native())


def test_progress_tells_bytes_rate_and_time_left(service: Service) -> None:
    service.http.put("/v1/uploads/mine", content=native())
    arrival = service.http.get("/v1/uploads/mine").json()
    assert arrival["read_bytes"] == arrival["total_bytes"] == len(native())
    assert arrival["bytes_per_second"] > 0
    assert arrival["seconds_left"] == 0


def unsure() -> str:
    """A file of which a format recognises less than half."""
    return native() + "".join(json.dumps({"level": "info", "n": n}) + "\n" for n in range(3))


def test_a_guess_is_told_with_what_it_made_of_the_file(service: Service, leakdown: Leakdown) -> None:
    [upload] = service.http.post("/v1/uploads", content=unsure()).json()["uploads"]
    assert upload["unsure"]["why"] == "looks like native, by 25% of its first records"
    assert [example["content"] for example in upload["unsure"]["examples"]] == [f"{LEAK} {MAIL}"]
    Path("log.jsonl").write_text(unsure())
    ran = leakdown("ingest", "log.jsonl", "--store", "s.duckdb")
    assert "looks like native, by 25% of its first records; if these are not" in ran.err
    assert "--format NAME" in ran.err


def test_a_folder_of_many_formats_is_told_by_format(leakdown: Leakdown) -> None:
    Path("logs").mkdir()
    for each in formats():
        Path("logs", f"{each.name}.log").write_text(each.example)
    Path("logs", "notes.txt").write_text("hello\n")
    Path("logs", "leakdown.toml").write_text('[set]\nclient = "mine"\n')
    ran = leakdown("ingest", "logs", "--store", "s.duckdb")
    assert ran.code == 2
    assert "native: 1 of " in ran.err
    assert "logs/notes.txt:1: not JSON" in ran.err
    assert "not understood, and left out: 1 of " in ran.err
    listed = leakdown("uploads", "list", "--store", "s.duckdb").out
    assert listed.count("client=mine (sidecar)") == len(listed.splitlines()) - 1


def test_redaction_on_the_command_line(leakdown: Leakdown) -> None:
    log = write("log.jsonl", json.loads(native()))
    assert leakdown("ingest", log, "--redact", "--store", "s.duckdb").code == 0
    out = leakdown("export", "--jsonl", "-", "--store", "s.duckdb").out
    assert "[redacted-email]" in out
    assert MAIL not in out
    refused = leakdown("ingest", log, "--redact-pattern", "(", "--store", "s.duckdb")
    assert (refused.code, "Rust's regex" in refused.err) == (2, True)
