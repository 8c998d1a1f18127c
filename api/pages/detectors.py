"""Detectors: which there are, which one counts, and what each says of a text."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from analysis.candidates.kept import known
from api.pages.rendering import address, listed, page, segment
from api.routes import TheBackend, TheDetector, TheStore
from api.routes.detectors import Promotion, Trial, get_detector, list_promotions, promote_detector, try_detectors
from ingest.errors import NotFound, UsageError

router = APIRouter()

Text = Annotated[str, Form(max_length=2**20)]


@router.get("/detectors")
def detectors(request: Request, backend: TheBackend, store: TheStore) -> Response:
    """The list, the history of promotions, and the form to try a text."""
    return page(request, "detectors.html", _context(backend, store), twin="/v1/detectors")


@router.post("/detectors/try")
def try_text(
    request: Request,
    backend: TheBackend,
    store: TheStore,
    content: Text = "",
    tools: Text = "",
    tools_unknown: Annotated[bool, Form()] = False,
) -> Response:
    """Every detector's verdict on a text. A form sends line ends as CR LF; they are taken as LF."""
    text = content.replace("\r\n", "\n")
    names = listed([tools])
    trial = Trial(content=text, tools=None if tools_unknown else names[:1000])
    tried = {"content": text, "tools": ", ".join(names), "unknown": tools_unknown, "verdicts": try_detectors(trial)}
    return page(request, "detectors.html", {**_context(backend, store), "tried": tried}, twin="/v1/detectors")


def _context(backend: TheBackend, store: TheStore) -> dict[str, Any]:
    history = list_promotions(store)[::-1]
    return {"detectors": backend.detectors.listed(), "history": history, "tried": None}


@router.get("/detectors/promote")
def ask_to_promote(request: Request, store: TheStore, current: TheDetector, wanted: str) -> Response:
    """What a promotion would do, and the button that does it."""
    return page(request, "promote.html", {"wanted": known(store, wanted), "current": current.id})


@router.post("/detectors/promote")
def promote(backend: TheBackend, wanted: Annotated[str, Form()]) -> Response:
    """Make a detector the current one."""
    promote_detector(backend, Promotion(detector=wanted))
    return RedirectResponse(address("/detectors"), 303)


@router.get("/detectors/{detector_id}")
def one_detector(request: Request, store: TheStore, current: TheDetector, detector_id: str) -> Response:
    """What a detector looks for, with its own examples."""
    try:
        found = get_detector(store, detector_id)
    except UsageError as fault:
        raise NotFound(str(fault)) from None
    context = {**found, "current": current.id == detector_id}
    return page(request, "detector.html", context, twin=f"/v1/detectors/{segment(detector_id)}")
