"""The audit: runs that break an invariant, and the acknowledgement of a finding."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from analysis.paging import PAGE
from api.audits import AuditAsked
from api.kept_audits import KeptAudits, PageAsked
from api.routes import Cursor, Limit, Since, Where
from api.routes.answers.audit import AcknowledgedFinding, AuditPage

router = APIRouter(tags=["audit"])


def _audits(request: Request) -> KeptAudits:
    audits: KeptAudits = request.app.state.audits
    return audits


TheAudits = Annotated[KeptAudits, Depends(_audits)]

Rules = Annotated[
    list[str],
    Query(default_factory=list, description="Rules by name; all if none.", examples=[["leak_completed_turn"]]),
]
OnePolicy = Annotated[
    str | None,
    Query(
        description="The policy that all runs are held to, `name` or `name:parameter=value,…`; that of each client if "
        "none.",
        examples=["goat"],
    ),
]
All = Annotated[bool, Query(alias="all", description="Acknowledged findings too.")]


class AcknowledgementRequest(BaseModel):
    """Why a finding may stand, and who says so; `policy` is the one it was found under."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"reason": "a known fault", "by": "ana"}]}
    )

    reason: str = Field(max_length=10_000, json_schema_extra={"pattern": r"\S"}, description="Why.")
    by: Annotated[str, Field(max_length=100, json_schema_extra={"pattern": r"\S"}, description="Who says so.")]
    policy: str | None = None


@router.get("/v1/audit", response_model=AuditPage)
def get_audit(
    audits: TheAudits,
    rule: Rules,
    where: Where,
    since: Since = None,
    policy: OnePolicy = None,
    all_: All = False,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, Any]:
    """Broken rules by the current detector, in order by rule and run, with what each rule could not check.
    Kept until the store changes; the first answer after that takes as long as it takes."""
    return audits.up_to_date(PageAsked(AuditAsked(policy or None, rule, where, since, all_), cursor, limit))


@router.post("/v1/audit/{finding_id}/acknowledgement", status_code=201, response_model=AcknowledgedFinding)
def acknowledge_finding(
    audits: TheAudits,
    finding_id: Annotated[str, Path(examples=["9f0c2f6a4be81d37"])],
    wanted: AcknowledgementRequest,
) -> dict[str, Any]:
    """Acknowledge a finding: it stays, and is listed only on demand from then on. Once: a second time is refused."""
    return audits.acknowledge(finding_id, wanted.reason, wanted.by, wanted.policy)
