"""The JSON Schema of native records."""

from typing import Any

from fastapi import APIRouter

from ingest.records import json_schema

router = APIRouter(tags=["schema"])


@router.get("/v1/schema")
def get_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a native file."""
    return json_schema()
