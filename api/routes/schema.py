"""The JSON Schema of native records."""

from typing import Any

from fastapi import APIRouter

from ingest.records import json_schema

router = APIRouter(tags=["schema"])
_EXAMPLE = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "leakdown record"}


@router.get("/v1/schema", responses={200: {"content": {"application/json": {"example": _EXAMPLE}}}})
def get_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a native file."""
    return json_schema()
