"""What the routes answer about candidates that are judged outside of the service."""

from typing import Any, Literal

from api.routes.answers.base import Answer, Count, like


class JudgingPart(Answer):
    """Outputs that wait for a candidate's verdicts. `outputs` is empty when none have come yet: ask again while
    `state` is `judging`."""

    session: str
    detector: str
    state: Literal["judging", "done", "failed"]
    error: str | None
    searched: Count
    part: str
    outputs: list[dict[str, Any]]


class JudgedPart(Answer):
    """How many outputs of the part still wait."""

    model_config = like(session="9f2ab0c4d1e65f37", part="1", missing=0)

    session: str
    part: str
    missing: Count
