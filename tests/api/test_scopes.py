"""Every route asks for the scope that its line says, and no route is without a line."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Mount, Route

from api.access.keys import SCOPES as NAMES
from api.access.scopes import OPEN, SCOPES, needed, require_declared
from api.app import create_app
from api.otlp_answers import PATHS
from api.settings import Settings
from ingest.batches import NO_LABELS
from ingest.store import Store
from tests.api.conftest import small_history
from tests.api.keyed import Keyed, keyed
from tests.api.service import lines, refusal

EXAMPLES = {"upload_id": "1", "label_id:uuid": "0b8c0b1e-4f7c-4a8e-9d7e-2b1f6c3d5a90", "form": "md", "name": "none"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """A service with a key of each scope."""
    with keyed(tmp_path_factory.mktemp("scopes")) as made:
        yield made


def routes(found: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Method and address of every route, those of included routers as well."""
    for route in found:
        if isinstance(route, Mount):
            yield "GET", f"{route.path}/{{path:path}}"
        elif isinstance(route, Route):
            yield from ((method, route.path) for method in route.methods or ())
        else:
            included: APIRouter = route.original_router  # type: ignore[attr-defined]
            yield from routes(included.routes)


def app(folder: Path) -> FastAPI:
    with Store.open(folder / "s.duckdb", create=True) as store:
        return create_app(store, Settings())


def test_every_route_has_a_line_and_every_line_a_route(tmp_path: Path) -> None:
    there = {f"{'GET' if method == 'HEAD' else method} {path}" for method, path in routes(app(tmp_path).routes)}
    assert there == set(SCOPES)
    assert len(there) > 100


def test_a_service_with_a_route_that_has_no_line_does_not_start() -> None:
    router = APIRouter()
    router.add_api_route("/v1/secrets", lambda: None, methods=["GET", "POST"])
    with pytest.raises(LookupError, match="GET /v1/secrets, POST /v1/secrets"):
        require_declared(router)


def test_no_two_lines_of_other_scopes_are_for_one_address() -> None:
    for route, scopes in SCOPES.items():
        method, path = route.split(" ", 1)
        assert needed(method, address(path)) == scopes, route


def address(path: str) -> str:
    """An address of the route `path`."""
    return re.sub(r"\{(.*?)\}", lambda found: EXAMPLES.get(found[1], "x"), path)


def of_otlp(answer: httpx.Response, status: int) -> str:
    """What the exporters of OpenTelemetry are told, in the words of their protocol."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    return str(answer.json()["message"])


@pytest.mark.parametrize("route", [route for route, scopes in SCOPES.items() if scopes != OPEN])
def test_a_route_lets_in_the_keys_of_its_scopes_alone(keys: Keyed, route: str) -> None:
    method, path = route.split(" ", 1)
    scopes = SCOPES[route]
    refused = of_otlp if path in PATHS else refusal
    assert "key" in refused(keys.send(None, method, address(path)), 401)
    others = {*map(str, NAMES)} - scopes - {"admin"}
    for name in others:
        answer = keys.send(name, method, address(path))
        assert f"a key with the scope {' or '.join(sorted(scopes))}" in refused(answer, 403)
        assert f'scope="{" ".join(sorted(scopes))}"' in answer.headers["www-authenticate"]
    for name in {*sorted(scopes)[:1], "admin"}:
        answer = keys.send(name, method, address(path))
        assert answer.status_code not in (401, 403, 500), answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/healthz", 200, id="alive"),
        pytest.param("/readyz", 200, id="ready"),
        pytest.param("/static/app.css", 200, id="a static file"),
        pytest.param("/static/none", 404, id="no static file"),
        pytest.param("/sign-in", 200, id="the way in"),
        pytest.param("/metrics", 401, id="metrics"),
        pytest.param("/v1/openapi.json", 401, id="the document"),
        pytest.param("/", 401, id="a page"),
        pytest.param("/nope", 401, id="no page: what there is, is not told"),
        pytest.param("/healthz/", 401, id="almost open"),
        pytest.param("/static", 401, id="almost static"),
        pytest.param("/static/../v1/rates", 401, id="a way round"),
        pytest.param("/healthz%3F/v1/rates", 401, id="an encoded question mark"),
        pytest.param("/v1/rates%3F", 401, id="one at the end"),
        pytest.param("/static/%2e%2e/v1/rates", 404, id="an encoded way round, which leads to no file"),
    ],
)
def test_what_is_open_without_a_key(keys: Keyed, path: str, status: int) -> None:
    assert keys.send(None, "GET", path).status_code == status


@pytest.mark.parametrize(
    ("who", "method", "path", "status"),
    [
        pytest.param("ingest", "POST", "/v1/events", 201, id="ingest sends events"),
        pytest.param("ingest", "GET", "/v1/uploads", 403, id="ingest lists no uploads"),
        pytest.param("ingest", "GET", "/v1/rates", 403, id="ingest sees no numbers"),
        pytest.param("ingest", "DELETE", "/v1/uploads/1", 403, id="ingest deletes nothing"),
        pytest.param("read", "GET", "/", 200, id="read sees pages"),
        pytest.param("read", "POST", "/v1/events", 403, id="read sends nothing"),
        pytest.param("read", "POST", "/v1/labels", 403, id="read does not label"),
        pytest.param("read", "GET", "/review?by=ana", 403, id="read does not review"),
        pytest.param("read", "PUT", "/v1/detectors/current", 403, id="read promotes nothing"),
        pytest.param("label", "GET", "/review?by=ana", 200, id="label reviews"),
        pytest.param("label", "GET", "/v1/runs", 403, id="label sees no verdicts"),
        pytest.param("label", "GET", "/v1/keys", 403, id="label sees no keys"),
        pytest.param("admin", "GET", "/", 200, id="admin sees pages"),
        pytest.param("admin", "POST", "/v1/events", 201, id="admin sends events"),
        pytest.param("admin", "GET", "/v1/actions", 200, id="admin sees the log"),
        pytest.param("read", "GET", "/v1/nope", 404, id="what there is not"),
        pytest.param("read", "OPTIONS", "/v1/rates", 405, id="a method that there is not"),
        pytest.param("read", "HEAD", "/v1/openapi.json", 200, id="the head of what may be read"),
        pytest.param("ingest", "HEAD", "/v1/openapi.json", 403, id="the head of what may not"),
    ],
)
def test_what_a_key_of_one_scope_may_do(keys: Keyed, who: str, method: str, path: str, status: int) -> None:
    body = {"json": {"Markup": "<tool_call>", "Leak": 1, "Retried": False}} if path == "/v1/events" else {}
    assert keys.send(who, method, path, **body).status_code == status


def test_a_key_with_two_scopes_may_do_what_either_may(keys: Keyed) -> None:
    keys.make("both", "ingest", "read")
    assert keys.send("both", "GET", "/v1/rates").status_code == 200
    assert keys.send("both", "GET", "/review").status_code == 403


UPLOAD = b'{"type":"generation","run_id":"r","content":"x","tools":[]}\n'


@pytest.mark.parametrize(
    ("who", "labels"),
    [
        pytest.param("ingest", 0, id="ingest alone: they are skipped, and counted"),
        pytest.param("sender", 2, id="ingest and label"),
    ],
)
def test_labels_in_a_log_need_the_scope_to_label(tmp_path: Path, who: str, labels: int) -> None:
    with keyed(tmp_path) as keys:
        keys.make("sender", "ingest", "label")
        [result] = keys.send(who, "POST", "/v1/uploads", content=lines(*small_history())).json()["uploads"]
        assert (result["lines"], result["mapped"], result["skipped"]) == (8, 6 + labels, 2 - labels)
        assert list(result["skipped_why"]) == [NO_LABELS][: 2 - labels]
        assert len(keys.send("read", "GET", "/v1/labels.jsonl").text.splitlines()) == labels


def test_a_key_that_may_not_read_sees_its_own_uploads_alone(keys: Keyed) -> None:
    keys.make("other", "ingest")
    path = "/v1/uploads/nightly"
    assert keys.send("ingest", "PUT", path, content=UPLOAD).status_code == 201
    done = keys.send("ingest", "GET", path).json()
    assert done["state"] == "done"
    number = f"/v1/uploads/{done['uploads'][0]['upload_id']}"
    assert keys.send("ingest", "GET", number).json()["quarantine"] == []
    assert refusal(keys.send("other", "GET", number), 404).startswith("no upload")
    assert refusal(keys.send("other", "GET", path), 404) == "no upload 'nightly'"
    assert keys.send("read", "GET", path).json()["state"] == "done"


def test_the_id_of_an_upload_is_its_keys_own(keys: Keyed) -> None:
    """Another one's is neither told nor in the way."""
    keys.make("third", "ingest")
    path = "/v1/uploads/weekly"
    assert keys.send("ingest", "PUT", path, content=UPLOAD).status_code == 201
    assert keys.send("third", "PUT", path, content=b"no log").status_code == 422
    assert keys.send("third", "GET", path).json()["state"] == "failed"
    assert keys.send("ingest", "GET", path).json()["state"] == "done"
