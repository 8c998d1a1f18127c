"""What the routes answer about its health."""

from typing import Literal

from api.routes.answers.base import Answer, Count, like


class Health(Answer):
    """Alive; `instance` names this life of the service."""

    model_config = like(status="ok", instance="9f2ab0c4d1e65f37", version="0.1.0")

    status: Literal["ok"]
    instance: str
    version: str


class Ready(Answer):
    """Ready, with the number of uploads in the store."""

    model_config = like(status="ready", uploads=3)

    status: Literal["ready"]
    uploads: Count
