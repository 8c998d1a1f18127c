"""What is secret is out of a log before anything of it is hashed or stored."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import UsageError
from ingest.pipeline import ingest
from ingest.redaction import Redactor, text
from ingest.store import Store
from tests.ingest.loading import MARK_JUDGE, everything, generation, rows, written
from tests.ingest.samples import json_values

KEY = "sk-" + "proj-" + "a1B2" * 8
SECRETS = [
    pytest.param(f"use {KEY} now", "use [redacted-key] now", id="a key of OpenAI"),
    pytest.param("sk-ant-" + "x" * 30, "[redacted-key]", id="a key of Anthropic"),
    pytest.param("ghp_" + "A1" * 18, "[redacted-key]", id="a token of GitHub"),
    pytest.param("AKIA" + "ABCD1234" * 2, "[redacted-key]", id="a key id of AWS"),
    pytest.param("Authorization: Bearer abcdefgh12345", "Authorization: Bearer [redacted-key]", id="a bearer token"),
    pytest.param('{"api_key": "abcdefgh12345"}', '{"api_key": "[redacted-key]"}', id="a key by its name, in JSON"),
    pytest.param("password=hunter2hunter2", "password=[redacted-key]", id="a password by its name"),
    pytest.param("eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20, "[redacted-key]", id="a JWT"),
    pytest.param(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted-key]", id="a private key"
    ),
    pytest.param("mail ana.b+c@example.co.uk.", "mail [redacted-email].", id="an e-mail address"),
    pytest.param("/home/ana/x and /Users/Bo/y", "/home/[redacted-home]/x and /Users/[redacted-home]/y", id="homes"),
    pytest.param("C:\\Users\\Ana\\x", "C:\\Users\\[redacted-home]\\x", id="a home on Windows"),
    pytest.param('"C:\\\\Users\\\\Ana"', '"C:\\\\Users\\\\[redacted-home]"', id="the same in JSON"),
]
KEPT = [
    pytest.param('<tool_call>\n{"name": "ls", "arguments": {"path": "/tmp"}}\n</tool_call>', id="a leak"),
    pytest.param("task-1 risk-free disk-usage sk-short", id="words that end like a prefix"),
    pytest.param("a @ b, @user, x@localhost", id="at signs"),
    pytest.param("the password is long; token: 17", id="words about secrets"),
    pytest.param("/homes/x /home", id="paths"),
]


@pytest.mark.parametrize(("before", "after"), SECRETS)
def test_a_secret_becomes_a_plain_marker(before: str, after: str) -> None:
    assert text(before) == after
    assert text(after) == after


@pytest.mark.parametrize("plain", KEPT)
def test_other_text_stays(plain: str) -> None:
    assert text(plain) == plain


@given(json_values)
def test_a_value_keeps_its_shape(value: Any) -> None:
    assert Redactor(["zzzz"]).value(value) == Redactor().value(value)
    if "@" not in json.dumps(value):
        assert Redactor().value(value) == value


def test_a_secret_by_its_key_goes_whatever_it_looks_like() -> None:
    value = {"model_kwargs": {"api_key": "x", "temperature": 1}, "LANGSMITH_API_KEY": "y", "max_tokens": 3}
    assert Redactor().value(value) == {
        "model_kwargs": {"api_key": "[redacted-key]", "temperature": 1},
        "LANGSMITH_API_KEY": "[redacted-key]",
        "max_tokens": 3,
    }


def test_a_pattern_of_the_user_is_numbered() -> None:
    assert Redactor([r"ACME-\d+", "bob"]).value(["ACME-17", "bobby"]) == ["[redacted-1]", "[redacted-2]by"]


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1"])
def test_a_pattern_outside_the_linear_syntax_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"--redact-pattern .*; write it in the syntax of Rust's regex") as refusal:
        Redactor([pattern])
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "piece", ["eyJ-", "a@", "a@b.", "api_key=", "/home/", "sk-", "-----BEGIN PRIVATE KEY-----", "x@x."]
)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        begun = time.process_time()
        text(piece * (size // len(piece)))
        return time.process_time() - begun

    small = min(seconds(20_000) for _ in range(5))
    assert min(seconds(200_000) for _ in range(5)) < max(40 * small, 0.05)


SECRET_LINE = generation(
    generation_id="g1",
    content=f"<tool_call> {KEY}",
    reasoning="mail ana@example.com",
    tool_calls=[{"name": "ls", "arguments": json.dumps({"path": "/home/ana"})}],
    tags={"owner": "ana@example.com"},
    api_key="zzz",
)


def test_nothing_secret_reaches_the_store(store: Store) -> None:
    source = written(store.path.parent / "log.jsonl", [SECRET_LINE, '{"broken": "ana@example.com"'])
    ingest(store, source, MARK_JUDGE, format_name="native", redactor=Redactor())
    held = json.dumps(everything(store))
    assert not [secret for secret in (KEY, "ana@", "/home/ana", "zzz") if secret in held]
    assert rows(store, "SELECT text_fidelity FROM generations") == [("redacted",)]
    assert "[redacted-email]" in held


def test_a_generation_with_nothing_secret_stays_exact(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", [generation(text_fidelity="exact")])
    ingest(store, source, MARK_JUDGE, format_name="native", redactor=Redactor())
    assert rows(store, "SELECT text_fidelity FROM generations") == [("exact",)]


@given(st.text(alphabet="ab@./:\\-_ =\"'skeyJ", max_size=60))
def test_redacting_twice_changes_nothing_more(value: str) -> None:
    assert text(text(value)) == text(value)
