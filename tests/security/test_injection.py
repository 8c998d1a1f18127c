"""What a client sends in an address is a value: never SQL, never a header, never a path, never another site."""

import http.client
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute

from api.guard import HEADERS
from ingest.store import Store
from tests.api.conftest import small_history
from tests.api.service import Service, served
from tests.security.routes import READING, parameters, with_path

VALUES = {
    "the end of a string": "x' OR '1'='1",
    "a second statement": "x'; DROP TABLE generations; --",
    "another query": '") UNION SELECT markup FROM verdicts --',
    "a file for DuckDB": "' || (SELECT content FROM read_text('/etc/passwd')) || '",
    "a comment, a zero and parameters": "x/**/--\x00 $where_0 {0} %s ?",
    "a header": "x\r\nSet-Cookie: pwned=1\r\n\r\n<script>",
    "folders above": "../../../../etc/passwd",
    "folders above, encoded twice": "..%2f..%2f..%252fetc/passwd",
    "another site": "//evil.example/\\evil.example",
}
KEYED = {"where": "model=", "by": "model,", "rule": "", "policy": "foundry:engines="}
"""How a value gets behind what is checked first."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(tmp_path_factory.mktemp("injected") / "s.duckdb") as running:
        running.upload(*small_history())
        yield running


def contents(store: Store) -> list[Any]:
    with store.cursor() as cursor:
        tables = [name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        counted = ("uploads", "generations", "runs", "texts", "verdicts", "labels", "events", "quarantine")
        found = [cursor.execute(f"SELECT count(*) FROM {name}").fetchone() for name in counted if name in tables]  # noqa: S608
        return [tables, found]


def addresses(route: APIRoute, value: str) -> Iterator[str]:
    """The route with `value` for its path, then for one parameter after the other, also behind what is checked."""
    sent = quote(value, safe="")
    if "{" in route.path:
        yield with_path(route, sent)
    for name in parameters(route):
        for before in {"", KEYED.get(name, "")}:
            yield f"{with_path(route, 'x')}?{name}={quote(before, safe='')}{sent}"


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in VALUES.items()])
def test_no_route_takes_a_value_for_more(service: Service, value: str) -> None:
    store: Store = service.app.state.backend.store
    before = contents(store)
    for route in READING:
        for address in addresses(route, value):
            answer = service.http.get(address, follow_redirects=False)
            assert answer.status_code < 500, f"{address}: {answer.text}"
            assert "set-cookie" not in answer.headers, address
            assert answer.headers.get("location", "/").startswith("/"), address
            assert not answer.headers.get("location", "/").startswith(("//", "/\\")), address
            assert "root:" not in answer.text, address
            assert answer.headers.items() >= {name.lower(): text for name, text in HEADERS.items()}.items(), address
    assert contents(store) == before


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/generations", "/v1/rates"])
@pytest.mark.parametrize("value", ["x' OR '1'='1", "' OR true --", "x') OR (1=1"])
def test_a_filter_that_is_sql_matches_nothing(service: Service, path: str, value: str) -> None:
    found = service.http.get(path, params={"where": f"model={value}"}).json()
    assert (found["items"] if isinstance(found, dict) else found) == []


@pytest.mark.parametrize(
    "path",
    [
        "/static/../api/settings.py",
        "/static/%2e%2e/settings.py",
        "/static/..%2fsettings.py",
        "/static/..%5csettings.py",
        "/static//etc/passwd",
        "/static/%00app.css",
        "/v1/export/..%2fs.parquet",
        "/v1/export/generations%00.parquet",
        "/v1/export/verdicts;DROP TABLE labels.parquet",
    ],
)
def test_no_address_leads_to_another_file(service: Service, path: str) -> None:
    asking = http.client.HTTPConnection(*service.address)  # httpx would tidy the address first
    asking.request("GET", path.replace(" ", "%20"))
    answer = asking.getresponse()
    assert answer.status == 404, answer.read()
    asking.close()


NAMES = ["../../climbed.jsonl", "/var/climbed.jsonl", "..\\climbed.jsonl", "a\r\nSet-Cookie: x=1", "\x00", "." * 300]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_lies_where_the_service_puts_it_whatever_its_name(service: Service, name: str) -> None:
    beside = service.beside()
    line = b'{"type":"run","run_id":"named"}\n'
    as_parameter = service.http.post("/v1/uploads", params={"name": name}, content=line)
    as_part = service.http.post("/v1/uploads", files={"file": (name, line)})
    assert [each.status_code for each in (as_parameter, as_part)] == [201, 201]
    assert "set-cookie" not in as_part.headers
    assert service.beside() == beside
    assert not list(service.store.parent.parent.rglob("*climbed*"))
