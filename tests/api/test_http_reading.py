"""The routes that read: shape and figures over a small history, and what each refuses and why."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import polars as pl
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.conftest import LEAK, small_history
from tests.api.service import PATIENCE, Service, served

VERDICT_KEYS = {"leak", "kind", "family", "tier", "tool", "channel", "start", "end", "markup", "reason"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the small history, to read from."""
    with served(tmp_path_factory.mktemp("reading") / "s.duckdb") as running:
        running.upload(*small_history())
        yield running


def get(service: Service, path: str, **query: Any) -> Any:
    answer = service.http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_health_names_this_life_of_the_service(service: Service) -> None:
    assert get(service, "/healthz") == {
        "status": "ok",
        "instance": service.app.state.instance,
        "version": service.app.version,
    }


def test_readiness_counts_the_uploads(service: Service) -> None:
    assert get(service, "/readyz") == {"status": "ready", "uploads": 1}


def test_metrics_parse_and_count_requests_by_route(service: Service) -> None:
    get(service, "/v1/runs/a")
    service.refused(404, "GET", "/v1/runs/nope")
    families = text_string_to_metric_families(service.http.get("/metrics").text)
    samples = [sample for family in families for sample in family.samples if sample.name == "leakdown_requests_total"]
    counted = {(sample.labels["route"], sample.labels["status"]): sample.value for sample in samples}
    assert counted["/v1/runs/{run_id:path}", "200"] >= 1
    assert counted["/v1/runs/{run_id:path}", "404"] >= 1
    assert not [route for route, _ in counted if "nope" in route]


def test_rates_count_what_is_eligible(service: Service) -> None:
    [row] = get(service, "/v1/rates", by="engine")
    told = {key: row[key] for key in ("engine", "eligible", "leaks", "printed", "runs", "retried", "recovered")}
    assert told == {
        "engine": "vllm",
        "eligible": 4,
        "leaks": 2,
        "printed": 0,
        "runs": 3,
        "retried": 1,
        "recovered": 1,
    }
    assert row["leak_low"] <= row["leak_rate"] <= row["leak_high"]


def test_rates_of_nothing_are_no_rows(service: Service) -> None:
    assert get(service, "/v1/rates", where="model=other*") == []


def test_runs_page_by_page_are_all_runs_once(service: Service) -> None:
    seen, cursor = [], None
    while True:
        page = get(service, "/v1/runs", limit=2, **({"cursor": cursor} if cursor else {}))
        assert len(page["items"]) <= 2
        seen += [row["run_id"] for row in page["items"]]
        if (cursor := page["next"]) is None:
            break
    assert sorted(seen) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        pytest.param({"leaking": True}, {"a", "b"}, id="only with a leak"),
        pytest.param({"where": "run_id=c"}, {"c"}, id="a filter"),
        pytest.param({"where": ["engine=v*", "run_id=[ab]"]}, {"a", "b"}, id="two filters, both hold"),
        pytest.param({"where": "run_id=z"}, set(), id="a filter that nothing passes"),
        pytest.param({"since": "2026-01-01"}, set(), id="runs without a time are not since any"),
    ],
)
def test_runs_are_filtered(service: Service, query: dict[str, Any], runs: set[str]) -> None:
    page = get(service, "/v1/runs", **query)
    assert {row["run_id"] for row in page["items"]} == runs
    assert page["next"] is None


def test_generations_page_by_page_stand_in_their_order(service: Service) -> None:
    first = get(service, "/v1/generations", limit=3)
    rest = get(service, "/v1/generations", limit=3, cursor=first["next"])
    ids = [row["generation_id"] for row in first["items"] + rest["items"]]
    assert (ids, rest["next"]) == (["a.0", "a.0b", "b.0", "c.0", "c.1"], None)


def test_generations_have_their_verdicts_and_the_truth(service: Service) -> None:
    leaks = get(service, "/v1/generations", leak=True)["items"]
    others = get(service, "/v1/generations", leak=False)["items"]
    assert {row["generation_id"]: row["truth"] for row in leaks} == {"a.0": True, "b.0": None}
    assert {row["generation_id"]: row["truth"] for row in others} == {"a.0b": None, "c.1": None, "c.0": False}
    assert all(row["markup"] and row["reason"] and row["tier"] == "certain" for row in leaks)


def test_a_run_has_its_attempts_in_order_with_texts_outcomes_and_events(service: Service) -> None:
    run = get(service, "/v1/runs/a")
    assert [(row["generation_id"], row["leak"], row["outcome"]) for row in run["generations"]] == [
        ("a.0", True, "structured"),
        ("a.0b", False, None),
    ]
    assert run["generations"][0]["content"] == LEAK
    assert run["generations"][1]["tool_calls"][0]["name"] == "ls"
    assert [(event["generation_id"], event["retried"]) for event in run["events"]] == [("a.0", True)]
    assert run["more"] is False


def test_reported_is_compared_with_found(service: Service) -> None:
    told = get(service, "/v1/reported")
    assert (told["both"], told["reported_only"], told["unjoined"], told["events"]) == (1, 0, 0, 1)


def test_a_history_without_times_has_no_trend(service: Service) -> None:
    assert get(service, "/v1/trend") == []
    assert get(service, "/v1/trend/figure")["data"] == []


def test_detectors_are_listed_and_one_is_current(service: Service) -> None:
    rows = get(service, "/v1/detectors")
    assert "openrouter-net@1" in [row["detector"] for row in rows]
    assert get(service, "/v1/detectors/current") == next(row for row in rows if row["current"])
    assert [each["detector"] for each in get(service, "/v1/detectors/history")] == [
        row["detector"] for row in rows if row["current"]
    ]


def test_a_detector_brings_its_triggers_and_examples(service: Service) -> None:
    one = get(service, "/v1/detectors/goat@1")
    assert one["detector"] == "goat@1"
    assert all(one[name] for name in ("triggers", "leaks", "clean"))


def test_a_text_is_tried_on_every_detector_and_nothing_is_kept(service: Service) -> None:
    answer = service.http.post("/v1/detectors/try", json={"content": LEAK, "tools": ["ls"]})
    verdicts = {each["detector"]: each["verdict"] for each in answer.json()}
    assert verdicts.keys() == {row["detector"] for row in get(service, "/v1/detectors")}
    assert verdicts["openrouter-net@1"]["leak"] is True
    assert verdicts["openrouter-net@1"].keys() >= VERDICT_KEYS
    assert get(service, "/readyz")["uploads"] == 1


def test_export_gives_back_native_records(service: Service) -> None:
    answer = service.http.get("/v1/export.jsonl")
    assert answer.headers["content-type"] == "application/jsonl"
    assert len(answer.text.splitlines()) == len(small_history())


def test_export_of_a_table_is_a_parquet_file(service: Service) -> None:
    answer = service.http.get("/v1/export/generations.parquet")
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert len(pl.read_parquet(answer.content)) == 5


def test_the_schema_of_records_is_served(service: Service) -> None:
    assert get(service, "/v1/schema")["title"] == "leakdown record"


REFUSED = [
    pytest.param("GET", "/v1/rates?where=colour=red", {}, 400, "colour=red", id="a filter that is none"),
    pytest.param("GET", "/v1/rates?by=colour", {}, 400, "colour", id="a series key that is none"),
    pytest.param("GET", "/v1/recovery?policy=goats", {}, 400, "'goats'", id="a policy that is none"),
    pytest.param("GET", "/v1/rates?by=", {}, 400, "by", id="no series key"),
    pytest.param("GET", "/v1/rates?wehre=model=x", {}, 400, "'wehre'", id="a misspelt parameter"),
    pytest.param("GET", "/v1/rates?since=yesterday", {}, 400, "yesterday", id="a time that is none"),
    pytest.param("GET", "/v1/rates?since=", {}, 400, "since", id="an empty time"),
    pytest.param("GET", "/v1/runs?limit=0", {}, 400, "limit", id="no rows"),
    pytest.param("GET", "/v1/runs?limit=501", {}, 400, "limit", id="too many rows"),
    pytest.param("GET", "/v1/runs?limit=1e9", {}, 400, "limit", id="rows that are no number"),
    pytest.param("GET", f"/v1/runs?limit={'9' * 5000}", {}, 400, "limit", id="a number of 5,000 digits"),
    pytest.param("GET", "/v1/runs?cursor=zzz", {}, 400, "cursor 'zzz'", id="a cursor that is none"),
    pytest.param("GET", "/v1/runs?cursor=", {}, 400, "cursor ''", id="an empty cursor"),
    pytest.param("GET", "/v1/runs?cursor=WzEsMiwzXQ", {}, 400, "cursor", id="the cursor of another list"),
    pytest.param("GET", "/v1/runs?cursor=%00%FF", {}, 400, "cursor", id="bytes as a cursor"),
    pytest.param("GET", "/v1/runs?leaking=perhaps", {}, 400, "leaking", id="neither true nor false"),
    pytest.param("GET", "/v1/generations?cursor=WyJhIiwxLDFd", {}, 400, "cursor", id="a text for a number"),
    pytest.param("GET", "/v1/generations?cursor=WzEsMSwxZTMwXQ", {}, 400, "cursor", id="a number beyond 64 bits"),
    pytest.param("GET", "/v1/generations?cursor=WzEsMSwtMV0", {}, 400, "cursor", id="a negative number"),
    pytest.param("GET", "/v1/runs/nope", {}, 404, "no run 'nope'", id="a run that does not exist"),
    pytest.param("GET", "/v1/runs/%FF%00", {}, 404, "no run", id="a run of bytes"),
    pytest.param("GET", "/v1/uploads/99", {}, 404, "'99'", id="an upload that does not exist"),
    pytest.param("GET", "/v1/uploads/mine", {}, 404, "'mine'", id="a client id that does not exist"),
    pytest.param("PATCH", "/v1/uploads/99", {"json": {"settings": {}}}, 404, "no upload 99", id="correct none"),
    pytest.param("DELETE", "/v1/uploads/99", {}, 404, "no upload 99", id="delete none"),
    pytest.param("DELETE", "/v1/uploads/x", {}, 400, "upload_id", id="delete what is no number"),
    pytest.param("DELETE", f"/v1/uploads/{2**31}", {}, 400, "upload_id", id="a number beyond 32 bits"),
    pytest.param("GET", "/v1/detectors/x@1", {}, 404, "'x@1'", id="a detector that does not exist"),
    pytest.param("PUT", "/v1/detectors/current", {"json": {"detector": "x@1"}}, 400, "'x@1'", id="promote none"),
    pytest.param("PUT", "/v1/detectors/current", {"json": {"detector": 1}}, 400, "detector", id="promote a number"),
    pytest.param("GET", "/v1/replays/x", {}, 404, "no replay 'x'", id="a replay that does not exist"),
    pytest.param("DELETE", "/v1/replays/x", {}, 404, "no replay 'x'", id="cancel none"),
    pytest.param("GET", "/v1/labels/next", {}, 400, "by", id="nobody looks"),
    pytest.param("DELETE", f"/v1/labels/{UUID(int=7)}", {}, 404, f"no label '{UUID(int=7)}'", id="take back none"),
    pytest.param("DELETE", "/v1/labels/x", {}, 404, "Not Found", id="take back what is no label"),
    pytest.param("GET", "/v1/export/secrets.parquet", {}, 404, "'secrets'", id="a table that does not exist"),
    pytest.param("GET", "/v1/nope", {}, 404, "Not Found", id="an address that does not exist"),
]


@pytest.mark.parametrize(("method", "path", "more", "status", "named"), REFUSED)
def test_what_is_wrong_is_refused_and_named(
    service: Service, method: str, path: str, more: dict[str, Any], status: int, named: str
) -> None:
    assert named in service.refused(status, method, path, **more)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/v1/detectors/try", b"", id="no body"),
        pytest.param("/v1/detectors/try", b"{", id="half a body"),
        pytest.param("/v1/detectors/try", b'{"content": "\\ud800"}', id="half a surrogate pair"),
        pytest.param("/v1/detectors/try", b'{"content": "x", "\\ud800": 1}', id="half a pair as a key"),
        pytest.param("/v1/detectors/try", b'{"content": ' + b"[" * 100_000, id="deeper than the parser goes"),
        pytest.param("/v1/detectors/try", b'{"content": "x", "tools": NaN}', id="a number that is none"),
        pytest.param("/v1/detectors/try", b'{"content": "x", "colour": 1}', id="an unknown field"),
        pytest.param("/v1/detectors/try", b'{"content": ' + b"1" * 5_000 + b"}", id="a number of 5,000 digits"),
        pytest.param("/v1/detectors/try", b'{"content": "\xff"}', id="no UTF-8"),
        pytest.param("/v1/events", b"[" * 900 + b"]" * 900, id="deep, yet parsed"),
        pytest.param("/v1/replays", b'{"baseline": "goat@1", "candidate": "\\udfff"}', id="half a pair as a detector"),
    ],
)
def test_a_broken_json_body_is_refused(service: Service, path: str, body: bytes) -> None:
    service.refused(400, "POST", path, content=body, headers={"content-type": "application/json"})


def test_a_wrong_method_is_told_all_the_right_ones(service: Service) -> None:
    answer = service.http.patch("/v1/uploads")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert service.http.post("/v1/uploads/1").headers["allow"] == "DELETE, GET, PATCH, PUT"


@pytest.mark.parametrize(
    "path",
    ["/healthz", "/readyz", "/metrics", "/v1/uploads", "/v1/runs", "/v1/runs/a", "/v1/generations", "/v1/rates",
     "/v1/recovery", "/v1/policies", "/v1/drift", "/v1/series",
     "/v1/trend", "/v1/reported", "/v1/detectors", "/v1/detectors/current", "/v1/labels/next?by=ana", "/v1/replays",
     "/v1/export.jsonl"],
)  # fmt: skip
def test_what_reads_answers_while_the_store_is_being_written(service: Service, path: str) -> None:
    with service.app.state.backend.store.writing():
        assert service.http.get(path, timeout=PATIENCE / 2).status_code == 200
