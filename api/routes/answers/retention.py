"""What the routes answer about what was taken out."""

from api.routes.answers.base import Answer, Count


class StoreFile(Answer):
    """The file of the store, in bytes; `freed`: the blocks of what went are free for what comes."""

    before: Count
    after: Count
    freed: bool
    why_not_smaller: str | None


class Removed(Answer):
    """What was taken out, or would be. `before` is null for a run."""

    before: str | None
    rates_kept: bool
    runs: Count
    generations: Count
    events: Count
    labels: Count
    uploads: Count
    texts: Count
    reports: Count
    dry_run: bool
    file: StoreFile | None
