"""Detectors: listed, promoted, and tried on a text."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from analysis.candidates.kept import kept, known
from analysis.detectors import EVERY, detectors, judge
from analysis.output import Call, OfferedTool, Output
from analysis.registry import promotions
from api.routes import AnyDetectorId, RuleText, TheBackend, TheStore
from api.routes.answers.detectors import Current, DetectorInFull, DetectorRow, Promoted, TrialVerdict
from api.routes.replays import keep_rules
from ingest.errors import NotFound, UsageError
from ingest.records import CallMode
from ingest.store import Store

router = APIRouter(tags=["detectors"])


class Trial(BaseModel):
    """One output to be judged by every detector; `tools` null means that they are unknown."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"content": '<tool_call>\n{"name": "bash"}', "tools": ["bash"]}]},
    )

    content: str = Field(max_length=2**20)
    reasoning: str | None = Field(default=None, max_length=2**20)
    tools: list[str] | None = Field(default=[], max_length=1000)
    calls: list[str] = Field(default=[], max_length=1000, description="Names of structured calls beside the text.")
    finish_reason: str | None = None
    call_mode: CallMode = "native"


class Promotion(BaseModel):
    """The detector to be made current."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"detector": "openrouter-net@1"}]}
    )

    detector: AnyDetectorId
    rules: RuleText | None = Field(default=None, description="The rule file that `detector` names, by name or by id.")


@router.get("/v1/detectors", response_model=list[DetectorRow])
def list_detectors(backend: TheBackend) -> list[dict[str, Any]]:
    """All detectors, the current one marked."""
    return backend.detectors.listed()


@router.get("/v1/detectors/history", response_model=list[Promoted])
def list_promotions(store: TheStore) -> list[dict[str, Any]]:
    """Which detector was current since when, oldest first."""
    return [
        {"detector": each.detector, "promoted_at": f"{each.promoted_at.isoformat()}Z"} for each in promotions(store)
    ]


@router.put("/v1/detectors/current", response_model=Current)
def promote_detector(backend: TheBackend, promotion: Promotion) -> dict[str, Any]:
    """Make a detector the current one; it judges the stored history first."""
    named = keep_rules(backend, [promotion.rules] if promotion.rules is not None else [])
    chosen = named.get(promotion.detector, promotion.detector)
    pruned = backend.detectors.promote(chosen)
    return {"detector": chosen, "current": True, "pruned": pruned}


@router.get("/v1/detectors/current", response_model=DetectorRow)
def get_current(backend: TheBackend) -> dict[str, Any]:
    """The current detector."""
    return next(each for each in backend.detectors.listed() if each["current"])


@router.post("/v1/detectors/try", response_model=list[TrialVerdict])
def try_detectors(trial: Trial) -> list[dict[str, Any]]:
    """Every detector's verdict on one output; nothing is stored."""
    output = Output(
        content=trial.content,
        reasoning=trial.reasoning,
        calls=tuple(Call(name) for name in trial.calls),
        tools=None if trial.tools is None else tuple(OfferedTool(name) for name in trial.tools),
        finish_reason=trial.finish_reason,
        call_mode=trial.call_mode,
    )
    found = ((each, judge(each, output)) for each in detectors())
    return [{"detector": each.id, "verdict": verdict.as_json() if verdict else None} for each, verdict in found]


@router.get("/v1/detectors/{name}@{version}", response_model=DetectorInFull)
def get_detector_version(
    store: TheStore,
    name: Annotated[str, Path(examples=["goat"])],
    version: Annotated[str, Path(examples=["1"])],
) -> dict[str, Any]:
    """One detector: its line, its source, its triggers, its own examples."""
    return get_detector(store, f"{name}@{version}")


def get_detector(store: Store, detector_id: str) -> dict[str, Any]:
    """The detector called `name@version`, in full; without triggers it looks at every output. NotFound."""
    try:
        one = known(store, detector_id)
    except UsageError:
        there = [*(each.id for each in detectors()), *(each["detector"] for each in kept(store))]
        raise NotFound(f"no detector {detector_id!r}; there are {', '.join(there)}") from None
    return {
        "detector": one.id,
        "summary": one.summary,
        "source": one.source,
        "kind": "built-in" if one.brought is None else "code" if one.brought.rules is None else "rules",
        "triggers": [each for each in one.triggers if each != EVERY],
        "leaks": [{"why": each.why, "content": each.output.content} for each in one.leaks],
        "clean": [{"why": each.why, "content": each.output.content} for each in one.clean],
    }
