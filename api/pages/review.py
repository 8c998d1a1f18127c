"""Review: one output, blind, and a person's verdict on it."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.pages.rendering import address, page
from api.routes import TheStore
from api.routes.labels import LabelRequest, SkipRequest, add_label, next_output, skip_output, take_back_label

router = APIRouter()

Person = Annotated[str, Form(min_length=1, max_length=100)]
SampleId = Annotated[str, Form(max_length=100)]
SAID = {"leak": True, "clean": False, "unsure": None}


@router.get("/review")
def review(
    request: Request,
    store: TheStore,
    by: str = "",
    sample: Annotated[str, Query(max_length=100)] = "",
    double: bool = False,
    at: Annotated[str, Query(max_length=100)] = "",
    last: str = "",
) -> Response:
    """The next output for `by`, of a drawn `sample` or of the whole store; asks for a name first. `at` shows one again
    that was shown before; `last` is the label that undo takes back."""
    name, way = by.strip()[:100], {"sample": sample, "double": double}
    if not name:
        return page(request, "review_name.html", way)
    found = next_output(store, name, sample, double, at)
    here: dict[str, Any] = {"by": name, **way}
    others = {side: address("/review", **here, at=found[side]) if found[side] else None for side in _SIDES}
    if not at:
        others["later"] = None
    context = {**here, "at": at, "last": last, "onwards": address("/review", **here), **found, **others}
    return page(request, "review.html", context, twin=address("/v1/labels/next", **here, at=at))


_SIDES = ("previous", "later")


@router.post("/review")
def say(
    store: TheStore,
    by: Person,
    generation_id: Annotated[str, Form()],
    run_id: Annotated[str, Form()],
    verdict: Annotated[Literal["leak", "clean", "unsure"], Form()],
    sample: SampleId = "",
    double: Annotated[bool, Form()] = False,
) -> Response:
    """Keep a verdict, and show the next output."""
    wanted = LabelRequest(generation_id=generation_id, run_id=run_id, leak=SAID[verdict], by=by)
    label = add_label(store, wanted)
    return RedirectResponse(address("/review", by=by, sample=sample, double=double, last=label["label_id"]), 303)


@router.post("/review/skip")
def skip(
    store: TheStore,
    by: Person,
    verdict_key: Annotated[str, Form(max_length=100)],
    sample: SampleId = "",
    double: Annotated[bool, Form()] = False,
) -> Response:
    """Leave an output for later, and show the next one."""
    skip_output(store, SkipRequest(by=by, verdict_key=verdict_key))
    return RedirectResponse(address("/review", by=by, sample=sample, double=double), 303)


@router.post("/review/undo")
def undo(
    store: TheStore,
    by: Person,
    label_id: Annotated[str, Form()],
    sample: SampleId = "",
    double: Annotated[bool, Form()] = False,
) -> Response:
    """Take the last verdict back, and show what it was given on."""
    take_back_label(store, label_id)
    return RedirectResponse(address("/review", by=by, sample=sample, double=double), 303)
