"""What all answers share: keys that stay, counts, shares and moments."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[str, Field(description="ISO 8601, UTC.", examples=["2026-11-01T12:00:00Z"])]


def like(**example: Any) -> ConfigDict:
    """The configuration of a model with an example."""
    return ConfigDict(extra="allow", json_schema_extra={"examples": [example]})


class Answer(BaseModel):
    """An answer with the keys that stay."""

    model_config = ConfigDict(extra="allow")
