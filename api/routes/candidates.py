"""Code that a command runs against the history of this service: outputs go out, verdicts come back.

Nothing of it runs here. `leakdown replay --candidate path.py:attr` speaks this by itself.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from analysis.candidates.kept import elsewhere
from analysis.detectors import EVERY, Detector, Isolation
from api.exchange import Session, Sessions
from api.routes.answers.candidates import JudgedPart, JudgingPart
from ingest.errors import UsageError

router = APIRouter(tags=["candidates"])

_Literal = Annotated[str, Field(min_length=1, max_length=1000)]
_EXAMPLE: dict[str, Any] = {
    "name": "my_detector.find",
    "content": "5f0c3b6a9d1e48c7b2a40f9e8d7c6b5a",
    "source": "code my_detector.py:find",
    "triggers": ["<tool_call>"],
}


class IsolationPart(BaseModel):
    """How the command runs the code: isolated by bubblewrap, or by nothing, and why."""

    model_config = ConfigDict(extra="forbid", strict=True)

    by: Literal["bwrap", "none"]
    why: str | None = Field(default=None, max_length=500)


class CodeCandidate(BaseModel):
    """What code says of itself; `content` is the hash of all that decides its answers, and its first twelve digits
    are its version. Without triggers it sees every output."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    content: str = Field(pattern=r"^[0-9a-f]{32}$")
    summary: str = Field(default="", max_length=500)
    source: str = Field(default="code", max_length=2000)
    triggers: list[_Literal] = Field(default=[], max_length=10_000)
    endings: list[_Literal] = Field(default=[], max_length=10_000)
    by_name: bool = False
    isolation: IsolationPart | None = None

    def detector(self) -> Detector:
        """As a detector that is not here."""
        triggers, version = tuple(self.triggers) or (EVERY,), f"sha-{self.content[:12]}"
        isolation = Isolation(self.isolation.by, self.isolation.why) if self.isolation else None
        about = (self.content, self.summary, self.source, triggers, self.endings, self.by_name, isolation)
        return elsewhere(self.name, version, *about)


class OutputsRequest(BaseModel):
    """A candidate, to begin with, or the session that goes on."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"candidate": _EXAMPLE}]})

    candidate: CodeCandidate | None = None
    session: str | None = None
    recompute: bool = Field(default=False, description="Judge every output anew.")


class VerdictsRequest(BaseModel):
    """What the code said of the next outputs of a part, in their order: a finding, null, or a failure."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"session": "9f2ab0c4d1e65f37", "part": "1", "verdicts": [None, {"failure": "timeout: 5 s"}]}]
        },
    )

    session: str
    part: str = Field(max_length=20)
    verdicts: list[dict[str, Any] | None] = Field(max_length=100_000)


def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


@router.post("/v1/candidates/outputs", response_model=JudgingPart)
def next_outputs(request: Request, wanted: OutputsRequest) -> dict[str, Any]:
    """Begin to judge the history by a candidate, or go on: the outputs that wait for its verdicts."""
    return _session(_sessions(request), wanted).next()


def _session(sessions: Sessions, wanted: OutputsRequest) -> Session:
    if (wanted.candidate is None) == (wanted.session is None):
        raise UsageError("give a candidate to begin with, or the session that goes on")
    if wanted.candidate is not None:
        return sessions.begin(wanted.candidate.detector(), anew=wanted.recompute)
    return sessions.get(wanted.session or "")


@router.post("/v1/candidates/verdicts", response_model=JudgedPart)
def add_verdicts(request: Request, said: VerdictsRequest) -> dict[str, Any]:
    """What the candidate says of the outputs; an empty list says that the command is still there."""
    return _sessions(request).get(said.session).answer(said.part, said.verdicts)
