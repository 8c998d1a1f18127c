"""Recovery: what followed the leaks, and what each policy would have done about them."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from analysis.charts import recovery_funnel
from analysis.recovery.policies import policies
from analysis.recovery.round_rates import KEYS
from api.figures import BY_KIND
from api.recoveries import Recoveries
from api.routes import Since, Where
from api.routes.answers.rates import Figure
from api.routes.answers.recovery import PolicyInFull, Recovery

router = APIRouter(tags=["recovery"])


def _recoveries(request: Request) -> Recoveries:
    recoveries: Recoveries = request.app.state.recoveries
    return recoveries


TheRecoveries = Annotated[Recoveries, Depends(_recoveries)]
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
    recoveries: TheRecoveries, policy: Policies, where: Where, since: Since = None, by: By = _BY
) -> dict[str, Any]:
    """The outcomes of the leaks by the current detector and what they rest on, rates of what became of leaked rounds,
    and each policy over the same history. Kept until the store changes; the first answer after that takes as long as
    it takes."""
    keys = [key.strip() for key in by.split(",") if key.strip()]
    return recoveries.up_to_date(policy, where, since, keys)


@router.get("/v1/recovery/figure", response_model=Figure)
def get_recovery_figure(
    recoveries: TheRecoveries, policy: Policies, where: Where, since: Since = None
) -> dict[str, Any]:
    """The way from leak to outcome as a Plotly figure, of what was computed last."""
    report = recoveries.kept(policy, where, since).report or recoveries.up_to_date(policy, where, since)
    return recovery_funnel.figure(report["funnel"])


@router.get("/v1/policies", response_model=list[PolicyInFull])
def get_policies() -> list[dict[str, Any]]:
    """The policies, with their parameters and every reason that they may give."""
    return [each.as_json() for each in policies()]
