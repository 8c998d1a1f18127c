"""Uploads over HTTP: in every form, bounded, all at once or not at all."""

import gzip
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import LEAK, SAMPLE, generation, small_history
from tests.api.service import Service, answered, half_sent, lines, served, until

EVENT = {"run_id": "a", "round": 0, "markup": LEAK, "leak": 1, "retried": True}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service over an empty store, in a folder of its own."""
    with served(tmp_path / "s.duckdb") as running:
        yield running


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Service]:
    """A service with a small body limit and little patience."""
    with served(tmp_path / "s.duckdb", body_limit=10_000, idle_limit=0.2) as running:
        yield running


def count(service: Service, what: str = "generations") -> int:
    """Rows of a list that has no second page here."""
    return len(service.http.get(f"/v1/{what}").json()["items"])


def is_as_before(service: Service) -> bool:
    """No upload is visible, and nothing lies beside the store but what DuckDB and the notice leave there."""
    kept = service.http.get("/v1/uploads").json()
    return not kept and not [name for name in service.beside() if "arriving" in name]


def test_an_upload_is_visible_once_it_is_answered(service: Service) -> None:
    result = service.upload(*small_history(), name="history.jsonl")
    assert result == result | {
        "upload_id": 1,
        "path": "history.jsonl",
        "format": "native",
        "lines": 8,
        "mapped": 8,
        "quarantined": 0,
        "generations": 5,
        "new_generations": 5,
        "events": 1,
        "warning": None,
    }
    [listed] = service.http.get("/v1/uploads").json()
    assert listed.keys() >= {"upload_id", "path", "format", "created_at", "settings", "lines", "generations"}
    assert [row["leaks"] for row in service.http.get("/v1/rates").json()] == [2]


def test_the_same_again_changes_nothing(service: Service) -> None:
    service.upload(*small_history())
    again = service.upload(*small_history())
    assert (again["upload_id"], again["duplicate"], again["new_generations"]) == (None, 8, 0)
    assert len(service.http.get("/v1/uploads").json()) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"content": lines(generation("a", 0, LEAK))}, id="raw"),
        pytest.param({"content": gzip.compress(lines(generation("a", 0, LEAK)))}, id="gzip"),
        pytest.param({"content": iter([lines(generation("a", 0, LEAK))])}, id="chunked"),
        pytest.param({"files": {"any": ("a.jsonl", lines(generation("a", 0, LEAK)))}}, id="form"),
        pytest.param({"json": generation("a", 0, LEAK)}, id="one record as JSON"),
    ],
)
def test_a_body_comes_in_any_form(service: Service, body: dict[str, Any]) -> None:
    answer = service.http.post("/v1/uploads", **body)
    assert answer.status_code == 201, answer.text
    assert count(service) == 1


def test_a_form_takes_the_files_it_understands_and_says_why_not_the_others(service: Service) -> None:
    files = [("file", ("good.jsonl", lines(generation("a", 0, "x")))), ("file", ("bad.txt", b"hello\n"))]
    answer = service.http.post("/v1/uploads", files=files)
    assert answer.status_code == 201
    assert [each["path"] for each in answer.json()["uploads"]] == ["good.jsonl"]
    [refused] = answer.json()["refused"]
    assert (refused["path"], refused["status"]) == ("bad.txt", 422)
    assert "bad.txt" in refused["detail"]
    assert count(service) == 1


@pytest.mark.parametrize(
    ("more", "status", "named"),
    [
        pytest.param({"content": b"hello\n"}, 422, "upload", id="no log"),
        pytest.param({"content": b""}, 422, "upload", id="nothing"),
        pytest.param({"content": b"\n \n"}, 422, "upload", id="blank lines"),
        pytest.param({"data": {"a": "1"}}, 400, "application/x-www-form-urlencoded", id="a form without files"),
        pytest.param({"files": {"x": (None, "1")}}, 400, "no file", id="a form with fields alone"),
        pytest.param({"files": {"x": ("a.txt", b"hello")}}, 422, "a.txt", id="a form with no log"),
        pytest.param(
            {"content": b"x", "headers": {"content-type": "multipart/form-data"}}, 400, "boundary", id="no boundary"
        ),
        pytest.param({"content": b"{}", "params": {"set": "colour=red"}}, 400, "colour", id="a setting that is none"),
        pytest.param({"content": b"{}", "params": {"set": "engine"}}, 400, "KEY=VALUE", id="a setting without value"),
        pytest.param({"content": b"{}", "params": {"format_name": "x"}}, 400, "'x'", id="a format that is none"),
        pytest.param({"content": b"{}", "params": {"name": ""}}, 400, "name", id="an empty name"),
    ],
)
def test_what_is_no_upload_is_refused_and_leaves_nothing(
    service: Service, more: dict[str, Any], status: int, named: str
) -> None:
    assert named in service.refused(status, "POST", "/v1/uploads", **more)
    assert is_as_before(service)


def test_quarantined_lines_are_told_with_reason_and_excerpt(service: Service) -> None:
    service.http.post("/v1/uploads", content=lines(generation("a", 0, "x")) + b'{"type": "generation"\n')
    [line] = service.http.get("/v1/uploads/1").json()["quarantine"]
    assert (line["line"], line["excerpt"]) == (2, '{"type": "generation"')
    assert "ends in the middle" in line["reason"]


@pytest.mark.parametrize(
    "body", [pytest.param(b"x" * 10_001, id="declared"), pytest.param(iter([b"x" * 6_000] * 2), id="chunked")]
)
@pytest.mark.parametrize("path", ["/v1/uploads", "/v1/uploads/mine", "/v1/events"])
def test_a_body_over_the_limit_is_refused(strict: Service, path: str, body: bytes | Iterator[bytes]) -> None:
    content = body if isinstance(body, bytes) else iter([b"x" * 6_000] * 2)
    method = "PUT" if path.endswith("mine") else "POST"
    headers = {"content-type": "application/json" if path.endswith("events") else "application/octet-stream"}
    assert "10,000 bytes" in strict.refused(413, method, path, content=content, headers=headers)
    assert is_as_before(strict)


def test_an_upload_cut_half_way_leaves_nothing(service: Service) -> None:
    head = b"PUT /v1/uploads/cut HTTP/1.1\r\nContent-Length: 1000\r\n"
    half_sent(service, head, lines(generation("a", 0, "x"))[:100]).close()
    arrival = until(lambda: service.http.get("/v1/uploads/cut"), lambda seen: seen.json().get("state") == "failed")
    assert "broke off" in arrival.json()["detail"]
    until(lambda: is_as_before(service), bool)


def test_a_body_that_stands_still_is_given_up(strict: Service) -> None:
    with half_sent(strict, b"POST /v1/uploads HTTP/1.1\r\nContent-Length: 1000\r\n", b"{") as connection:
        answer = answered(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"stood still for 0.2 seconds" in answer
    assert is_as_before(strict)


def test_an_answer_may_take_longer_than_a_body_may_stand_still(strict: Service) -> None:
    strict.upload(generation("a", 0, "x"))
    with strict.app.state.backend.store.writing():
        asked = ThreadPoolExecutor(1).submit(strict.http.delete, "/v1/uploads/1")
        with pytest.raises(TimeoutError):
            asked.result(timeout=0.5)  # well over the limit of an idle body
    assert asked.result().status_code == 204


def test_a_client_id_shows_how_far_an_upload_has_come(service: Service) -> None:
    body = lines(generation("a", 0, LEAK))
    head = f"PUT /v1/uploads/mine?name=m.jsonl HTTP/1.1\r\nContent-Length: {len(body)}\r\n".encode()
    with half_sent(service, head, body[:50]) as connection:
        half = until(lambda: service.http.get("/v1/uploads/mine").json(), lambda seen: seen.get("received_bytes") == 50)
        assert (half["state"], half["uploads"]) == ("receiving", [])
        assert "under way" in service.refused(409, "PUT", "/v1/uploads/mine", content=body)
        connection.sendall(body[50:])
        assert answered(connection).startswith(b"HTTP/1.1 201 ")
    done = service.http.get("/v1/uploads/mine").json()
    assert (done["state"], done["received_bytes"], done["lines"]) == ("done", len(body), 1)
    assert done["uploads"][0]["path"] == "m.jsonl"


def test_a_client_id_again_answers_as_before_and_reads_nothing(service: Service) -> None:
    first = service.http.put("/v1/uploads/mine", content=lines(generation("a", 0, "x")))
    again = service.http.put("/v1/uploads/mine", content=lines(generation("b", 0, "other")))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert count(service, "runs") == 1


def test_a_client_id_that_failed_may_be_tried_again(service: Service) -> None:
    service.refused(422, "PUT", "/v1/uploads/mine", content=b"hello")
    failed = service.http.get("/v1/uploads/mine").json()
    assert (failed["state"], failed["uploads"]) == ("failed", [])
    assert service.http.put("/v1/uploads/mine", content=lines(generation("a", 0, "x"))).status_code == 201


@pytest.mark.parametrize("client_id", ["17", "a b", "ä", "x" * 81])
def test_a_client_id_has_a_shape(service: Service, client_id: str) -> None:
    service.refused(400, "PUT", f"/v1/uploads/{client_id}", content=b"{}")


def test_a_correction_gives_what_the_file_did_not_say(service: Service) -> None:
    service.upload(generation("a", 0, LEAK, engine=None))
    answer = service.http.patch("/v1/uploads/1", json={"settings": {"engine": "sglang", "engine_version": "1"}})
    assert answer.json()["settings"] == {"engine": "sglang", "engine_version": "1"}
    assert [row["engine"] for row in service.http.get("/v1/rates").json()] == ["sglang"]
    assert "colour" in service.refused(400, "PATCH", "/v1/uploads/1", json={"settings": {"colour": "red"}})


def test_a_deleted_upload_is_gone_with_all_that_only_it_brought(service: Service) -> None:
    service.upload(generation("a", 0, "x"))
    service.upload(generation("a", 0, "x"), generation("b", 0, "y"))
    assert service.http.delete("/v1/uploads/2").status_code == 204
    assert [row["run_id"] for row in service.http.get("/v1/runs").json()["items"]] == ["a"]
    service.refused(404, "DELETE", "/v1/uploads/2")


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(EVENT, id="ours"),
        pytest.param({"Markup": LEAK, "Leak": 1, "Retried": False}, id="PascalCase, without a run"),
        pytest.param({"runId": "a", "markup": LEAK, "leak": 2, "retried": True}, id="camelCase"),
        pytest.param({**EVENT, "type": "leaked_tool_call", "team": {"a": [1]}}, id="typed, with more"),
        pytest.param({**EVENT, "markup": "\ud800"}, id="half a surrogate pair"),
        pytest.param({**EVENT, "markup": "a\x00b"}, id="a NUL byte"),
    ],
)
def test_an_event_comes_in_any_spelling(service: Service, event: dict[str, Any]) -> None:
    answer = service.http.post("/v1/events", content=lines(event), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json().get("events")) == (201, 1), answer.text


def test_events_join_the_generations_they_tell_of(service: Service) -> None:
    service.upload(generation("a", 0, LEAK))
    service.http.post("/v1/events", json=[EVENT, {**EVENT, "run_id": "elsewhere"}])
    told = service.http.get("/v1/reported").json()
    assert (told["both"], told["unjoined"], told["events"]) == (1, 1, 2)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        pytest.param({"a": 1}, "event 1", id="no event"),
        pytest.param({**EVENT, "leak": -1}, "leak", id="a negative count"),
        pytest.param({**EVENT, "leak": 10**30}, "leak", id="a count beyond any"),
        pytest.param({**EVENT, "retried": "maybe"}, "retried", id="neither true nor false"),
        pytest.param(generation("a", 0, "x"), "generation", id="another record"),
        pytest.param({**EVENT, "more": float("nan")}, "NaN", id="a number that is none"),
    ],
)
def test_one_wrong_event_refuses_them_all(service: Service, wrong: dict[str, Any], named: str) -> None:
    body = lines([EVENT, wrong])
    told = service.refused(400, "POST", "/v1/events", content=body, headers={"content-type": "application/json"})
    assert named in told
    assert is_as_before(service)


@pytest.mark.parametrize("events", [pytest.param([], id="none"), pytest.param([EVENT] * 10_001, id="too many")])
def test_events_are_one_to_ten_thousand(service: Service, events: list[Any]) -> None:
    assert "10,000" in service.refused(400, "POST", "/v1/events", json=events)


def test_uploads_at_the_same_time_all_come_in(service: Service) -> None:
    def send(number: int) -> httpx.Response:
        return httpx.post(f"{service.url}/v1/uploads", content=lines(generation(f"r{number}", 0, "x")), timeout=30)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(16)))
    assert {answer.status_code for answer in answers} == {201}
    assert count(service, "runs") == 16


def test_an_upload_of_a_service_that_stops_leaves_nothing(service: Service) -> None:
    service.app.state.stopping.set()
    assert "stopping" in service.refused(503, "POST", "/v1/uploads", content=lines(generation("a", 0, "x")))
    assert "stopping" in service.refused(503, "GET", "/readyz")
    assert service.http.get("/healthz").status_code == 200
    assert is_as_before(service)


def test_a_detector_promoted_while_uploads_run_judges_them_all(service: Service) -> None:
    body = (SAMPLE / "runs.jsonl").read_bytes()
    half = body.index(b"\n", len(body) // 2) + 1
    service.upload_bytes(body[:half])
    promoted = threading.Barrier(2)

    def promote() -> httpx.Response:
        promoted.wait()
        return httpx.put(f"{service.url}/v1/detectors/current", json={"detector": "goat@1"}, timeout=30)

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(promote)
        promoted.wait()
        service.upload_bytes(body[half:])
        assert asked.result().status_code == 200
    service_rates = service.http.get("/v1/rates", params={"by": "engine"}).json()
    assert {row["detector"] for row in service_rates} == {"goat@1"}
    with served(service.store.with_name("other.duckdb")) as other:
        assert other.http.put("/v1/detectors/current", json={"detector": "goat@1"}).status_code == 200
        other.upload_bytes(body[:half])
        other.upload_bytes(body[half:])
        assert other.http.get("/v1/rates", params={"by": "engine"}).json() == service_rates
