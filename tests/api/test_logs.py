"""What the service logs: a line of JSON a request, and nothing of what a client sent."""

import json
import logging
import signal
import sys
from pathlib import Path

import pytest

from api.logs import JsonLines
from tests.api.conftest import LEAK, generation
from tests.api.service import lines, process

WORD = "hunter2"
FORGED = "%0A%7B%22level%22:%22forged%22%7D"


def test_each_request_is_a_line_of_json_without_a_word_of_the_clients(tmp_path: Path) -> None:
    with process(tmp_path / "s.duckdb", LEAKDOWN_LOG="json") as service:
        http = service.http
        upload = http.post(f"/v1/uploads?name={WORD}", content=lines(generation(WORD, 0, f"{WORD} {LEAK}")))
        answers = [
            upload,
            http.get(f"/v1/runs/{WORD}"),
            http.get(f"/nowhere/{WORD}{FORGED}", headers={"Authorization": f"Bearer {WORD}", "Cookie": WORD}),
            http.request(f"{WORD.upper()}", "/"),
            http.post("/v1/labels", json={"note": WORD, "leak": WORD}),
        ]
        code, said = service.end(signal.SIGTERM)
    assert code == 0
    assert WORD not in said.lower()
    logged = [json.loads(line) for line in said.splitlines()]
    told = [each for each in logged if each["logger"] == "leakdown.requests"]
    assert [(each["request"], each["status"]) for each in told] == [
        (each.headers["Leakdown-Request"], each.status_code) for each in answers
    ]
    assert [f"{each['method']} {each['route']}" for each in told] == [
        "POST /v1/uploads", "GET /v1/runs/{run_id:path}", "GET unknown", "unknown /", "POST /v1/labels",
    ]  # fmt: skip
    assert logged[-1]["message"] == "stopped"


def test_text_says_warnings_alone(tmp_path: Path) -> None:
    with process(tmp_path / "s.duckdb") as service:
        assert service.http.get("/healthz").status_code == 200
        assert service.end(signal.SIGTERM) == (0, "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a\nb\r\n{}", id="line ends"),
        pytest.param("\x1b[31m\x00\u2028\u202e", id="terminal escapes and marks"),
        pytest.param("\udcff", id="half a surrogate pair"),
        pytest.param('"}, {"level": "forged"', id="quotes"),
    ],
)
def test_a_message_and_a_traceback_are_one_line_of_ascii(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        record = logging.LogRecord("l", logging.ERROR, "f", 1, "%s", (text,), sys.exc_info())
    line = JsonLines().format(record)
    assert line.isascii()
    assert line.isprintable()
    told = json.loads(line)
    assert (told["level"], told["message"]) == ("error", text)
    assert "ValueError" in told["exception"]
