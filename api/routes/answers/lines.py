"""Lines and their parts, as drift and alerts tell of them."""

from api.routes.answers.base import Answer, Count, Share


class Part(Answer):
    """A part of a line: its leaks and what they are of, in how many runs, from when to when."""

    n: Count
    leaks: Count
    rate: Share | None
    low: Share | None
    high: Share | None
    runs: Count
    first_day: str | None
    last_day: str | None


class DriftLine(Answer):
    """A series without its versions."""

    model: str | None
    provider: str | None
    engine: str | None
    client: str | None
    tools_known: bool
