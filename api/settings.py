"""Every setting: name, default, what it is for. Read once, at the edge; nothing below `api` reads them."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from ingest.errors import UsageError

PREFIX = "LEAKDOWN_"


class Settings(BaseSettings):
    """Settings from the environment, each as LEAKDOWN_<NAME>; an empty one is as good as none."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True)

    store: Path = Field(default=Path("leakdown.duckdb"), description="The DuckDB file.")
    url: str | None = Field(default=None, description="A running service to work through, instead of a store.")
    key: SecretStr | None = Field(default=None, description="The key for the service at LEAKDOWN_URL.")
    host: str = Field(default="127.0.0.1", description="The address to serve on.")
    port: int = Field(default=8321, ge=0, le=65535, description="The port to serve on; 0 takes a free one.")
    names: list[str] = Field(default=[], description="Names by which a proxy or others reach it: a JSON list.")
    https: bool = Field(default=False, description="Browsers reach it by https alone, through a proxy: `true`.")
    body_limit: int = Field(default=4 * 2**30, ge=1, description="Bytes of an upload's body at the most.")
    redact: bool = Field(default=False, description="Redact every upload: `true` or `false`.")
    redact_patterns: list[str] = Field(default=[], description="What to redact too: a JSON list of patterns.")
    alerts: Path | None = Field(default=None, description="A file with rules of alerts; else the built-in ones hold.")
    log: Literal["text", "json"] = Field(
        default="text", description="What the service says on stderr: warnings as `text`, or requests too as `json`."
    )
    idle_limit: float = Field(default=60.0, gt=0, description="Seconds that a body or an answer may stand still.")
    slowest_body: int = Field(default=1024, ge=0, description="Bytes a second of a body at the least, on the average.")
    head_seconds: float = Field(default=10.0, gt=0, description="Seconds for the head of a request to come.")
    connections: int = Field(default=500, ge=1, description="Connections at a time.")
    uploads_at_once: int = Field(default=16, ge=1, description="Uploads at a time; one is read, the others wait.")
    replays_waiting: int = Field(default=50, ge=1, description="Replays that may wait for the one that runs.")
    otlp_body_limit: int = Field(default=20 * 2**20, ge=1, description="Bytes of an OTLP body, unfolded too.")
    otlp_waiting_limit: int = Field(default=2**28, ge=1, description="Bytes of exporters that may wait to be read.")
    otlp_seconds: float = Field(default=5.0, gt=0, description="Seconds between two readings of what exporters sent.")
    otlp_wait: float = Field(default=60.0, ge=0, description="Seconds that a span waits for its text in a log record.")


def settings() -> Settings:
    """The settings; UsageError for a LEAKDOWN_ variable that is none, or a value that does not fit."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    unknown = sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)
    if unknown:
        raise UsageError(f"unknown setting {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    try:
        return Settings()
    except SettingsError as fault:
        name = str(fault).split('"')[1]
        raise UsageError(f'{PREFIX}{name.upper()}: write a JSON list of texts, such as ["one", "two"]') from None
    except ValidationError as fault:
        first = fault.errors()[0]
        raise UsageError(f"{PREFIX}{str(first['loc'][0]).upper()}: {first['msg']}") from None
