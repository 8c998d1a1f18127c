"""Replays: two detectors compared on the stored outputs; one, with every disagreement in its text."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from analysis.candidates.kept import kept
from analysis.detectors import detectors
from analysis.registry import current
from analysis.replay_markdown import markdown
from api.pages.disagreements import with_passages
from api.pages.rendering import address, page, segment
from api.pages.replay_figures import figures
from api.pages.replay_file import html
from api.routes import TheBackend, TheStore
from api.routes.replays import ReplayRequest, cancel_replay, get_replay, keep_rules, list_replays, start_replay
from ingest.errors import NotFound

router = APIRouter()

SHOWN = 50
"""Disagreements of a page."""
Chosen = Annotated[str, Form()]


@router.get("/replays")
def replays(request: Request, store: TheStore) -> Response:
    """The list, latest first, and the form, which offers to compare the current detector with another one."""
    known = [*(each.id for each in detectors()), *(each["detector"] for each in kept(store))]
    baseline = current(store).id
    candidate = next((each for each in known if each != baseline), baseline)
    context = {"replays": list_replays(request), "detectors": known, "baseline": baseline, "candidate": candidate}
    return page(request, "replays.html", context, twin="/v1/replays")


@router.post("/replays")
def start(
    request: Request,
    backend: TheBackend,
    baseline: Chosen,
    candidate: Chosen,
    rules: Annotated[str, Form(max_length=2**18)] = "",
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Annotated[str, Form()] = "",
    until: Annotated[str, Form()] = "",
    recompute: Annotated[bool, Form()] = False,
) -> Response:
    """Queue a replay, and show it. A rule file is the candidate, whichever is chosen."""
    filters = [each.strip() for each in where if each.strip()]
    text = rules.replace("\r\n", "\n")
    chosen = next(iter(keep_rules(backend, [text]).values())) if text.strip() else candidate
    wanted = ReplayRequest(
        baseline=baseline,
        candidate=chosen,
        where=filters,
        since=since.strip() or None,
        until=until.strip() or None,
        recompute=recompute,
    )
    job = start_replay(request, Response(), backend, wanted)
    return RedirectResponse(f"/replays/{job['id']}", 303)


@router.post("/replays/{job_id}/cancel")
def cancel(request: Request, job_id: str) -> Response:
    """Cancel a replay that has not ended."""
    cancel_replay(request, job_id)
    return RedirectResponse(f"/replays/{segment(job_id)}", 303)


@router.get("/replays/{job_id}")
def one_replay(
    request: Request, store: TheStore, job_id: str, number: Annotated[int, Query(alias="page", ge=1, le=10_000)] = 1
) -> Response:
    """One replay: how far it is, or its report with one page of its disagreements."""
    job = get_replay(request, job_id)
    path = f"/replays/{segment(job_id)}"
    report = job["report"]
    context: dict[str, Any] = {"job": job, "path": path, "report": report, "linked": True}
    if report and "shapes" in report:
        kept = report["disagreements"]
        first = SHOWN * (number - 1)
        context |= figures(report) | {
            "shown": with_passages(store, kept[first : first + SHOWN]),
            "first": first,
            "kept": len(kept),
            "earlier": address(path, page=number - 1) if number > 1 else None,
            "later": address(path, page=number + 1) if len(kept) > first + SHOWN else None,
        }
    return page(request, "replay.html", context, twin=f"/v1{path}")


@router.get("/replays/{job_id}/report.{form}")
def report_file(request: Request, job_id: str, form: Literal["html", "md"]) -> Response:
    """The report of a replay that is done, as a file to keep or to send on. NotFound."""
    report = get_replay(request, job_id)["report"]
    if not report or "shapes" not in report:
        raise NotFound(f"replay {job_id!r} has no report to save")
    media = {"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8"}[form]
    body = html(report) if form == "html" else markdown(report).encode("utf-8", "replace")
    headers = {"Content-Disposition": f'attachment; filename="replay.{form}"', "Cache-Control": "no-store"}
    return Response(body, 200, headers, media)
