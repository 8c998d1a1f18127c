"""Settings come from the environment, each with its default and what it is for; unknown ones are refused."""

from pathlib import Path

import pytest

from api.settings import PREFIX, Settings, settings
from ingest.errors import UsageError


def test_every_setting_has_a_default_and_says_what_it_is_for() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []
    assert [name for name, field in Settings.model_fields.items() if field.is_required()] == []


def test_a_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKDOWN_STORE", "elsewhere.duckdb")
    assert settings().store == Path("elsewhere.duckdb")


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKDOWN_STORE", "")
    assert settings().store == Path("leakdown.duckdb")


@pytest.mark.parametrize("name", ["LEAKDOWN_STOER", "LEAKDOWN_", "leakdown_stoer"])
def test_an_unknown_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(UsageError, match=f"unknown setting {name}; known: .*{PREFIX}STORE"):
        settings()
