"""Recovery: what followed the leaks, and what each policy would have done about them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from analysis.recovery.policies import policies
from analysis.recovery.round_rates import KEYS
from api.backend import BY_KIND
from api.routes import Since, TheBackend, Where
from api.routes.answers.recovery import PolicyInFull, Recovery

router = APIRouter(tags=["recovery"])

Policies = Annotated[
    list[str],
    Query(
        default_factory=list,
        description="Policies: `name`, `name@version` or `name:parameter=value,…`; all with their defaults if none.",
        examples=[["goat", "openrouter-net:max_retries=3"]],
    ),
]


_BY = ",".join(BY_KIND)
By = Annotated[
    str,
    Query(description=f"What `rates` are told by, comma separated: {', '.join(KEYS)}.", examples=["kind,family"]),
]


@router.get("/v1/recovery", response_model=Recovery)
def get_recovery(
    backend: TheBackend, policy: Policies, where: Where, since: Since = None, by: By = _BY
) -> dict[str, Any]:
    """The outcomes of the leaks by the current detector and what they rest on, rates of what became of leaked rounds,
    and each policy over the same history."""
    return backend.recovery(policy, where, since, by=[key.strip() for key in by.split(",") if key.strip()])


@router.get("/v1/policies", response_model=list[PolicyInFull])
def get_policies() -> list[dict[str, Any]]:
    """The policies, with their parameters and every reason that they may give."""
    return [each.as_json() for each in policies()]
