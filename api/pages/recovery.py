"""Recovery: from leak to outcome, policies side by side, and retries as a strict system would have judged them."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from analysis.rates import DEFAULT_BY
from analysis.recovery.policies import policies
from analysis.recovery.round_rates import DEFAULT_BY as ROUNDS_BY
from analysis.recovery.round_rates import KEYS
from api.pages import recovery_words
from api.pages.faults import faults_part
from api.pages.pairing import pairing_part
from api.pages.recovery_figures import expected, figures
from api.pages.rendering import TheFilters, address, listed, page
from api.routes import TheBackend
from api.routes.recovery import TheRecoveries

router = APIRouter()

Policies = Annotated[list[str], Query()]


@router.get("/recovery")
def recovery(
    request: Request,
    recoveries: TheRecoveries,
    asked: TheFilters,
    backend: TheBackend,
    policy: Policies = [],  # noqa: B006
    by: Annotated[str, Query()] = ",".join(ROUNDS_BY),
) -> Response:
    """What was computed last, while something newer is on its way if the store has changed since."""
    wanted, keys = _given(policy), listed([by])
    kept = recoveries.kept(wanted, asked.where, asked.since, keys)
    query: dict[str, Any] = {"policy": wanted, "where": asked.where, "since": asked.since}
    pairing = backend.figures.rates(DEFAULT_BY, asked.where, asked.since)
    context = {
        "asked": asked,
        "wanted": wanted,
        "by": keys,
        "keys_of_rounds": KEYS,
        **pairing_part(pairing, DEFAULT_BY),
        "known": policies(),
        "kept": kept,
        "report": kept.report,
        "figure": address("/v1/recovery/figure", **query),
        "leaking": address("/runs", where=asked.where, since=asked.since, leaking=True),
        "recovery_words": recovery_words,
        "expected": expected,
        **(figures(kept.report) if kept.report else {}),
        **faults_part(kept.faults or [], DEFAULT_BY),
    }
    return page(request, "recovery.html", context, twin=address("/v1/recovery", **query, by=_told(by)))


@router.post("/recovery")
def again(
    recoveries: TheRecoveries,
    policy: Annotated[list[str], Form()] = [],  # noqa: B006
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Annotated[str, Form()] = "",
    by: Annotated[str, Form()] = ",".join(ROUNDS_BY),
) -> Response:
    """Compute it anew, and show it."""
    wanted, filters, moment = _given(policy), _given(where), since.strip() or None
    recoveries.again(wanted, filters, moment, listed([by]))
    return RedirectResponse(address("/recovery", policy=wanted, where=filters, since=moment, by=_told(by)), 303)


def _told(by: str) -> str | None:
    """What stands in an address: what is usual does not."""
    return None if listed([by]) == [*ROUNDS_BY] else by


def _given(texts: list[str]) -> list[str]:
    """Without the empty fields of a form."""
    return [each.strip() for each in texts if each.strip()]
