"""The OpenAPI document: true of the service, whatever a client sends; and of use to a reader."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig

from api.app import create_app
from api.settings import Settings
from ingest.store import Store
from tests.api.conftest import generation, small_history
from tests.api.keyed import bearer
from tests.api.service import Service, served


def written() -> dict[str, Any]:
    """The document, without a running service: its operations are tests of their own."""
    with TemporaryDirectory() as folder, Store.open(Path(folder, "s.duckdb"), create=True) as store:
        return create_app(store, Settings()).openapi()


DOCUMENT = written()
ALSO_REFUSED = {
    "POST /v1/uploads": (400, 422),  # a pattern that is none, bytes that are no log
    "PUT /v1/uploads/{upload_id}": (400, 422),
    "POST /v1/events": (400,),  # objects that are no event in any spelling
    "GET /v1/runs": (400,),  # a cursor that no page gave
    "GET /v1/generations": (400,),
    "GET /v1/rates": (400,),  # keys that are none
    "POST /v1/samples": (400,),  # more than there is
    "GET /v1/export/pack.jsonl": (400,),  # a pattern that is none
    "POST /v1/labels/import": (400, 422),  # bytes that are no labels, a pattern that is none
    "POST /v1/replays": (400,),  # a period that ends before it begins
    "PUT /v1/detectors/current": (400,),  # texts that are no rule file
    "POST /v1/candidates/outputs": (400,),  # a candidate and a session, or neither
    "GET /v1/series": (400,),  # segments that are none
    "POST /v1/drift": (400,),  # two rules of one name
    "POST /v1/alerts/{alert_id}": (400,),  # a mute without a day, a day that is over, an end of something else
    "GET /v1/recovery": (400,),  # policies that are none
    "GET /v1/faults": (400,),  # keys that are none
    "GET /v1/audit": (400,),  # rules and policies that are none, a cursor that no page gave
    "POST /v1/audit/{finding_id}/acknowledgement": (400,),  # a policy that is none
    "GET /v1/recovery/figure": (400,),
    "POST /v1/keys": (400,),  # the name of whoever needs no key
}
"""What the document calls valid, since no schema can say what is refused."""
FEW = SchemathesisConfig.from_dict(
    {
        "seed": 1,
        "generation": {"max-examples": 12, "deterministic": True, "no-shrink": True},
        "operations": [
            {
                "include-name": name,
                "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", 404, 409, *statuses]}},
            }
            for name, statuses in ALSO_REFUSED.items()
        ],
    }
)
schema = schemathesis.openapi.from_dict(DOCUMENT, config=FEW)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a small history, whose client has a key that may do everything."""
    with served(tmp_path_factory.mktemp("openapi") / "s.duckdb") as running:
        running.upload(*small_history())
        running.upload(generation("t", 0, "All is well.", started_at="2026-11-02T12:00:00Z", client=None))
        made = running.http.post("/v1/keys", json={"name": "schemathesis", "scopes": ["admin"]})
        running.http.headers.update(bearer(made.json()["key"]))
        yield running


@schema.parametrize()
def test_every_operation_keeps_what_the_document_says(case: "schemathesis.Case[Any]", service: Service) -> None:
    case.call_and_validate(base_url=service.url, headers={"Authorization": service.http.headers["Authorization"]})


def test_the_document_is_served(service: Service) -> None:
    assert service.http.get("/v1/openapi.json").json() == DOCUMENT


METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if method in METHODS
}


def examples(part: Any) -> list[Any]:
    """The examples in a part of the document, and in the schemas that it refers to."""
    match part:
        case {"$ref": str(reference)}:
            return examples(DOCUMENT["components"]["schemas"][reference.rsplit("/", 1)[1]])
        case dict():
            told = [part[name] for name in ("example", "examples") if name in part]
            return told + [found for inner in part.values() for found in examples(inner)]
        case list():
            return [found for inner in part for found in examples(inner)]
        case _:
            return []


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_is_told_with_an_example(operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"].endswith(".")
    good = {status: answer for status, answer in operation["responses"].items() if status.startswith("2")}
    assert good
    given = [operation.get("parameters", []), operation.get("requestBody", {}), good]
    assert examples(given)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_every_answer_but_none_and_files_has_a_schema(operation: dict[str, Any]) -> None:
    for status, answer in operation["responses"].items():
        for media in answer.get("content", {}).values():
            assert media.get("schema"), (status, answer)


def test_the_failures_are_problem_documents() -> None:
    for operation in OPERATIONS.values():
        failures = [answer for status, answer in operation["responses"].items() if int(status) >= 400]
        assert failures
        assert all(list(answer["content"]) == ["application/problem+json"] for answer in failures)
