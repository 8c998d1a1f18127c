"""What the routes answer about uploads."""

from typing import Literal

from api.routes.answers.base import Answer, Count, Moment, like


class Unsure(Answer):
    """A format that is a guess: why, what was decoded of the first generations, how to say better."""

    why: str
    examples: list[dict[str, str | None]]
    override: str


class UploadResult(Answer):
    """What became of a file; `upload_id` null if it brought nothing new."""

    upload_id: int | None
    path: str
    format: str
    lines: Count
    mapped: Count
    skipped: Count
    duplicate: Count
    quarantined: Count
    generations: Count
    new_generations: Count
    events: Count
    skipped_why: dict[str, Count]
    quarantined_why: dict[str, Count]
    warning: str | None
    unsure: Unsure | None


class RefusedFile(Answer):
    """A file that was not understood, and the status that it alone would have had."""

    path: str
    status: int
    detail: str


class Uploaded(Answer):
    """The files of one request."""

    uploads: list[UploadResult]
    refused: list[RefusedFile]


class Arriving(Uploaded):
    """How far an upload with a client id has come."""

    client_id: str
    state: Literal["receiving", "reading", "done", "failed"]
    received_bytes: Count
    read_bytes: Count
    total_bytes: Count | None
    bytes_per_second: float | None
    seconds_left: float | None
    lines: Count
    detail: str | None


class StoredUpload(Answer):
    """An upload in the store."""

    model_config = like(
        upload_id=1, path="runs.jsonl", format="native", created_at="2026-11-01T12:00:00Z",
        settings={"engine": "vllm"}, origins={"engine": "given"}, lines=8, mapped=7, skipped=0, duplicate=0,
        quarantined=1, generations=4, new_generations=4, events=2,
    )  # fmt: skip

    upload_id: int
    path: str
    format: str
    created_at: Moment
    settings: dict[str, str]
    origins: dict[str, Literal["given", "sidecar", "corrected"]]
    lines: Count
    mapped: Count
    skipped: Count
    duplicate: Count
    quarantined: Count
    generations: Count
    new_generations: Count
    events: Count


class QuarantinedLine(Answer):
    """A line that was not understood."""

    line: int
    reason: str
    excerpt: str | None


class UploadInFull(StoredUpload):
    """An upload with the first of its quarantined lines."""

    quarantine: list[QuarantinedLine]
