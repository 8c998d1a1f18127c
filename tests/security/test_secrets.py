"""Secrets stay where they are: redacted ones are nowhere in the store, and no message repeats the environment."""

from pathlib import Path

import pytest

from tests.api.conftest import LEAK, Leakdown, generation, write
from tests.api.service import lines, served

KEY = "sk-" + "proj-" + "a1B2" * 8
PLACES = [
    generation("r", 0, f"{LEAK} {KEY}"),
    generation("r", 1, None, reasoning=KEY),
    generation("r", 2, "x", tool_calls=[{"id": KEY, "name": KEY, "arguments": KEY}]),
    generation("r", 3, "x", tools=[{"name": KEY, "description": KEY, "parameters": {KEY: KEY}}]),
    generation("r", 4, "x", tags={KEY: KEY}),
    generation(KEY, 5, "x", generation_id=KEY, model=KEY, unheard_of={KEY: [KEY]}),
    {"type": "run", "run_id": "r", "tags": {"key": KEY}},
    {"type": "leaked_tool_call", "run_id": "r", "round": 0, "markup": KEY, "leak": 1, "retried": True},
    {"type": "label", "generation_id": "r.0", "leak": True, "by": KEY, "note": KEY},
    {"type": KEY, "run_id": "r"},
    {"type": "generation", "run_id": "r", "content": "x", "status": KEY},
    {"type": "generation", "run_id": "r", "content": "x", "started_at": KEY, KEY: KEY},
]
"""Every field that holds text, understood and not."""


def test_what_is_redacted_is_nowhere_in_the_store(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb", redact=True) as service:
        body = lines(*PLACES) + f"{KEY}\n\n{{{KEY}}}".encode()
        answer = service.http.post("/v1/uploads", params={"name": f"/home/ana/{KEY}.jsonl"}, content=body)
        assert answer.status_code == 201, answer.text
        assert answer.json()["uploads"][0]["quarantined"] == 5
        found = [answer.text, service.http.get("/v1/uploads/1").text, service.http.get("/v1/export.jsonl").text]
        with service.app.state.backend.store.cursor() as cursor:
            for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                found.append(repr(cursor.execute(f"FROM {name}").fetchall()))
    assert "[redacted-key]" in "".join(found)
    assert not [text for text in found if KEY in text or "/home/ana" in text]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("LEAKDOWN_KEYS", KEY, id="a setting that there is not"),
        pytest.param("LEAKDOWN_PORT", KEY, id="a setting of another kind"),
        pytest.param("LEAKDOWN_URL", f"http://ana:{KEY}@127.0.0.1:9", id="an address with a password"),
        pytest.param("LEAKDOWN_URL", f"http://{KEY}@/", id="an address that is none"),
        pytest.param("LEAKDOWN_REDACT_PATTERNS", KEY, id="patterns that are no list"),
    ],
)
def test_no_message_repeats_the_environment(
    leakdown: Leakdown, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    ran = leakdown("rates")
    assert ran.code == 2
    assert KEY not in ran.out + ran.err
    assert ran.err.count("\n") == 1


def test_what_was_wrong_is_not_repeated_whole(leakdown: Leakdown) -> None:
    """A line that is no record is told by its number: its text may be anything."""
    write("bad.jsonl", {"type": "generation", "run_id": "r", "content": "x", "status": "s" * 5000})
    ran = leakdown("ingest", "bad.jsonl")
    assert ran.code == 2
    assert len(ran.err) < 1000


def test_no_answer_tells_where_the_store_lies(tmp_path: Path) -> None:
    (tmp_path / "secret-folder").mkdir()
    with served(tmp_path / "secret-folder" / "s.duckdb") as service:
        paths = (
            "/v1/runs/x",
            "/v1/uploads/9",
            "/v1/replays/x",
            "/nope",
            "/readyz",
            "/healthz",
            "/metrics",
            "/",
            "/uploads",
        )
        assert not [path for path in paths if "secret-folder" in service.http.get(path).text]
