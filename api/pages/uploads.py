"""Uploads: drop run logs, see what was understood of them, correct and delete."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from api.pages.errors import refusal
from api.pages.rendering import address, page
from api.routes import TheBackend
from api.routes.uploads import Correction, correct_upload, delete_upload, get_upload, redacting, what
from api.routes.uploads import upload as take
from ingest.records import SERIES

router = APIRouter()

UploadId = Annotated[int, Path(ge=1, lt=2**31)]
Said = Annotated[str, Form(max_length=1000)]


@router.get("/uploads")
def uploads(request: Request, backend: TheBackend, new: str = "") -> Response:
    """The list, latest first, and the form. `new` names the uploads that have just come in."""
    return page(request, "uploads.html", _list(backend, new), twin="/v1/uploads")


def _list(backend: TheBackend, new: str = "", refused: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"uploads": backend.uploads.listed()[::-1], "new": new.split(","), "told": new, "refused": refused or []}


@router.post("/uploads")
async def upload(request: Request, backend: TheBackend) -> Response:
    """Take the files of the form."""
    answer = await take(request, what(redacting(request)))
    if isinstance(answer, JSONResponse):
        return refusal(request, answer)
    if answer["refused"]:
        new = ",".join(str(each["upload_id"]) for each in answer["uploads"])
        return page(request, "uploads.html", _list(backend, new, answer["refused"]), twin="/v1/uploads")
    ids = [str(each["upload_id"]) for each in answer["uploads"] if each["upload_id"] is not None]
    return RedirectResponse(address("/uploads", new=",".join(ids) or "none"), 303)


@router.get("/uploads/{upload_id}")
def one_upload(request: Request, backend: TheBackend, upload_id: UploadId) -> Response:
    """One upload: its lines by what became of them, and the form to correct it."""
    return page(request, "upload.html", _upload(request, backend, upload_id), twin=f"/v1/uploads/{upload_id}")


def _upload(request: Request, backend: TheBackend, upload_id: int) -> dict[str, Any]:
    return {"upload": get_upload(request, backend, str(upload_id)), "series": SERIES}


@router.post("/uploads/{upload_id}/set")
def correct(
    backend: TheBackend,
    upload_id: UploadId,
    model: Said = "",
    provider: Said = "",
    engine: Said = "",
    engine_version: Said = "",
    template: Said = "",
    tool_parser: Said = "",
    client: Said = "",
    client_version: Said = "",
) -> Response:
    """Set the fields that were filled in; an empty one stays as it is."""
    given = (model, provider, engine, engine_version, template, tool_parser, client, client_version)
    settings = {name: value.strip() for name, value in zip(SERIES, given, strict=True) if value.strip()}
    correct_upload(backend, upload_id, Correction(settings=settings))
    return RedirectResponse(f"/uploads/{upload_id}", 303)


@router.get("/uploads/{upload_id}/delete")
def ask_to_delete(request: Request, backend: TheBackend, upload_id: UploadId) -> Response:
    """What a deletion would take away, and the button that does it."""
    return page(request, "upload_delete.html", _upload(request, backend, upload_id))


@router.post("/uploads/{upload_id}/delete")
def delete(backend: TheBackend, upload_id: UploadId) -> Response:
    """Delete an upload."""
    delete_upload(backend, upload_id)
    return RedirectResponse("/uploads", 303)
