"""Every setting: name, default, what it is for. Read once, at the edge; nothing below `api` reads them."""

import os
from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from ingest.errors import UsageError

PREFIX = "LEAKDOWN_"


class Settings(BaseSettings):
    """Settings from the environment, each as LEAKDOWN_<NAME>."""

    model_config = SettingsConfigDict(env_prefix=PREFIX)

    store: Path = Field(default=Path("leakdown.duckdb"), description="The DuckDB file.")


def settings() -> Settings:
    """The settings; UsageError for a LEAKDOWN_ variable that is none, or a value that does not fit."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    unknown = sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)
    if unknown:
        raise UsageError(f"unknown setting {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    try:
        return Settings()
    except ValidationError as fault:
        first = fault.errors()[0]
        raise UsageError(f"{PREFIX}{str(first['loc'][0]).upper()}: {first['msg']}") from None
