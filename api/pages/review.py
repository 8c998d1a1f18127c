"""Review: one output, blind, and a person's verdict on it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.pages.rendering import address, page
from api.routes import TheStore
from api.routes.labels import LabelRequest, add_label, next_output, take_back_label

router = APIRouter()

Person = Annotated[str, Form(min_length=1, max_length=100)]
SAID = {"leak": True, "not": False, "unsure": None}


@router.get("/review")
def review(request: Request, store: TheStore, by: str = "", last: str = "") -> Response:
    """The next output for `by`; asks for a name first. `last` is the label that undo takes back."""
    name = by.strip()[:100]
    if not name:
        return page(request, "review_name.html", {})
    context = {"by": name, "last": last, **next_output(store, name)}
    return page(request, "review.html", context, twin=address("/v1/labels/next", by=name))


@router.post("/review")
def say(
    store: TheStore,
    by: Person,
    generation_id: Annotated[str, Form()],
    run_id: Annotated[str, Form()],
    verdict: Annotated[Literal["leak", "not", "unsure"], Form()],
) -> Response:
    """Keep a verdict, and show the next output."""
    wanted = LabelRequest(generation_id=generation_id, run_id=run_id, leak=SAID[verdict], by=by)
    label = add_label(store, wanted)
    return RedirectResponse(address("/review", by=by, last=label["label_id"]), 303)


@router.post("/review/undo")
def undo(store: TheStore, by: Person, label_id: Annotated[str, Form()]) -> Response:
    """Take the last verdict back, and show what it was given on."""
    take_back_label(store, label_id)
    return RedirectResponse(address("/review", by=by), 303)
