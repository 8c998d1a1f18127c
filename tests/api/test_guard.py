"""The guard: who may ask, and what every answer says to a browser."""

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI

from api.guard import HEADERS
from tests.api.service import Service, answered, half_sent, refusal, served

POLICY = (
    "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' "
    "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def broken() -> None:
    raise ZeroDivisionError


def with_a_bug(app: FastAPI) -> None:
    app.add_api_route("/v1/broken", broken, include_in_schema=False)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with an address that fails by a bug."""
    with served(tmp_path_factory.mktemp("guard") / "s.duckdb", with_a_bug) as running:
        yield running


def port(service: Service) -> int:
    return service.address[1]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("127.0.0.1", 200, id="its address"),
        pytest.param("127.0.0.1:1", 200, id="with another port, as behind a tunnel"),
        pytest.param("localhost:8321", 200, id="localhost"),
        pytest.param("LOCALHOST", 200, id="in capitals"),
        pytest.param("[::1]:8321", 200, id="IPv6"),
        pytest.param("evil.example", 400, id="a name of another"),
        pytest.param("127.0.0.1.evil.example", 400, id="a name that begins like its own"),
        pytest.param("localhost.evil.example:8321", 400, id="with a port"),
        pytest.param("evil.example:localhost", 400, id="its own name as a port"),
        pytest.param("[::1", 200, id="an open bracket"),
        pytest.param("", 400, id="no name"),
    ],
)
def test_a_service_answers_to_its_own_names_alone(service: Service, host: str, status: int) -> None:
    answer = service.http.get("/healthz", headers={"host": host})
    assert answer.status_code == status
    assert answer.headers["content-security-policy"] == POLICY


SITE = "sec-fetch-site"


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        pytest.param({}, True, id="a program"),
        pytest.param({SITE: "same-origin"}, True, id="its own page"),
        pytest.param({SITE: "none"}, True, id="the address bar"),
        pytest.param({SITE: "same-site"}, False, id="another port of this machine"),
        pytest.param({SITE: "cross-site"}, False, id="another site"),
        pytest.param({"origin": "http://127.0.0.1:{port}"}, True, id="its own origin"),
        pytest.param({"origin": "http://127.0.0.1:1"}, False, id="the origin of another port"),
        pytest.param({"origin": "http://localhost:{port}"}, False, id="the origin of another name of it"),
        pytest.param({"origin": "http://evil.example"}, False, id="the origin of another site"),
        pytest.param({"origin": "null"}, False, id="no origin to speak of"),
        pytest.param({"origin": "http://127.0.0.1:{port}", SITE: "cross-site"}, False, id="both must hold"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_changes_for_a_page_of_another_site(
    service: Service, method: str, headers: dict[str, str], allowed: bool
) -> None:
    sent = {name: value.format(port=port(service)) for name, value in headers.items()}
    answer = service.http.request(method, "/v1/uploads/99", headers=sent, content=b"{}")
    assert (answer.status_code != 403) is allowed
    if not allowed:
        assert "another site" in refusal(answer, 403)


@pytest.mark.parametrize("headers", [{SITE: "cross-site"}, {"origin": "http://evil.example"}])
def test_a_link_from_another_site_may_lead_here(service: Service, headers: dict[str, str]) -> None:
    assert service.http.get("/v1/uploads", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("GET", "/healthz", 200, id="an answer"),
        pytest.param("GET", "/v1/runs/nope", 404, id="an error"),
        pytest.param("GET", "/v1/runs?limit=0", 400, id="a wrong parameter"),
        pytest.param("PATCH", "/v1/runs", 405, id="a wrong method"),
        pytest.param("GET", "/nope", 404, id="no page"),
        pytest.param("GET", "/", 200, id="a page"),
        pytest.param("GET", "/static/app.css", 200, id="a static file"),
        pytest.param("GET", "/static/nope", 404, id="no static file"),
        pytest.param("GET", "/v1/broken", 500, id="a bug"),
    ],
)
def test_every_answer_tells_a_browser_what_it_may_do(service: Service, method: str, path: str, status: int) -> None:
    answer = service.http.request(method, path)
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in HEADERS} == {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    assert "access-control-allow-origin" not in answer.headers


def test_a_bug_is_a_problem_document_without_its_traceback(service: Service) -> None:
    assert "log" in service.refused(500, "GET", "/v1/broken")


def test_after_a_bug_the_client_does_not_ask_on_a_connection_that_is_closed(service: Service) -> None:
    with httpx.Client(base_url=service.url) as client:
        for _ in range(20):
            answer = client.get("/v1/broken")
            assert (answer.status_code, answer.headers["connection"]) == (500, "close")


def test_a_declared_length_that_is_too_large_is_refused_before_the_body(service: Service) -> None:
    with half_sent(service, b"POST /v1/events HTTP/1.1\r\nContent-Length: 1000000000000\r\n", b"") as connection:
        answer = answered(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"8,388,608 bytes" in answer
