"""Labels: coverage, conflicts to be resolved, how far people agree, weak evidence beside the truth, the history."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from analysis.labels.blind import texts
from api.pages.figures import Share
from api.pages.rendering import address, page
from api.pages.review import SAID
from api.routes import TheBackend, TheStore
from api.routes.labels import (
    ResolutionRequest,
    add_resolution,
    get_agreement,
    get_history,
    import_file,
    list_conflicts,
    take_back_label,
)

router = APIRouter()

SHOWN = 20
"""Conflicts, resolved ones and changes that the page shows; the JSON has all."""
Person = Annotated[str, Form(min_length=1, max_length=100)]


@router.get("/labels")
def labels(request: Request, backend: TheBackend, by: str = "") -> Response:
    """All that there is to know of the labels; `by` is put into the forms that ask for a name."""
    found, agreement = list_conflicts(backend), get_agreement(backend)
    shown = {state: found[state][:SHOWN] for state in ("open", "resolved")}
    context: dict[str, Any] = {
        "by": by.strip()[:100],
        "conflicts": shown,
        "texts": texts(backend.store, [each["verdict_key"] for each in shown["open"]]),
        "counts": {state: len(each) for state, each in found.items()},
        **agreement,
        "agreed": [
            _share(each, "agreement", each["both_leak"] + each["both_clean"], each["n"]) for each in agreement["pairs"]
        ],
        "right": [_share(each, "right", each["right"], each["labelled"]) for each in agreement["evidence"]],
        "told": [_share(each, "told", each["told"], each["leaks"]) for each in agreement["evidence"]],
        "history": get_history(backend, limit=SHOWN),
    }
    return page(request, "labels.html", context, twin="/v1/labels/agreement")


def _share(row: dict[str, Any], name: str, hits: int, n: int) -> Share:
    return Share(hits, n, row.get(f"{name}_share", row[name]), row[f"{name}_low"], row[f"{name}_high"])


@router.post("/labels/resolve")
def resolve(
    backend: TheBackend,
    generation_id: Annotated[str, Form()],
    run_id: Annotated[str, Form()],
    by: Person,
    note: Annotated[str, Form(min_length=1, max_length=10_000, pattern=r"\S")],
    verdict: Annotated[Literal["leak", "clean", "unsure"], Form()],
) -> Response:
    """Decide a conflict, and show what is left."""
    wanted = ResolutionRequest(generation_id=generation_id, run_id=run_id, leak=SAID[verdict], by=by, note=note)
    add_resolution(backend, wanted)
    return RedirectResponse(address("/labels", by=by), 303)


@router.post("/labels/take-back")
def take_back(store: TheStore, label_id: Annotated[str, Form()]) -> Response:
    """Take a resolution back: the conflict is open again."""
    take_back_label(store, label_id)
    return RedirectResponse("/labels", 303)


@router.post("/labels/import")
async def import_(request: Request) -> Response:
    """Read a file of labels, and say what became of it."""
    result = await import_file(request)
    return page(request, "labels_imported.html", {"result": result})
