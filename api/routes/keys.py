"""Keys: made, listed, revoked; and the audit log."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from api.access.keys import NAME, Scope
from api.routes import TheBackend
from api.routes.answers.keys import ListedKey, LoggedAction, NewKey

router = APIRouter(tags=["keys"])
KeyName = Annotated[str, Path(pattern=NAME, examples=["agents"])]
Entries = Annotated[int, Query(ge=1, le=1_000, description="So many of the latest entries.")]


class KeyRequest(BaseModel):
    """What to call a key, and what it may do."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"name": "agents", "scopes": ["ingest"]}]}
    )

    name: str = Field(pattern=NAME)
    scopes: list[Scope] = Field(min_length=1, max_length=4)


@router.get("/v1/keys", response_model=list[ListedKey])
def list_keys(backend: TheBackend) -> list[dict[str, Any]]:
    """All keys, oldest first, those that were revoked as well."""
    return backend.keys.listed()


@router.post("/v1/keys", status_code=201, response_model=NewKey)
def create_key(backend: TheBackend, response: Response, wanted: KeyRequest) -> dict[str, Any]:
    """Make a key. Its text is in this answer and nowhere else; from now on this service asks for a key."""
    response.headers["Cache-Control"] = "no-store"
    return backend.keys.create(wanted.name, wanted.scopes)


@router.delete("/v1/keys/{name}", status_code=204)
def revoke_key(backend: TheBackend, name: KeyName) -> None:
    """Revoke a key: it opens nothing any more, and whoever signed in by it is signed out."""
    backend.keys.revoke(name)


@router.get("/v1/actions", response_model=list[LoggedAction])
def get_log(backend: TheBackend, limit: Entries = 100) -> list[dict[str, Any]]:
    """The audit log: who promoted, labelled, corrected, deleted, acknowledged, made and revoked keys, latest first."""
    return backend.keys.log(limit)
