"""How a page is made: its template, its filters, its own address and that of its JSON twin."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, quote_plus, urlencode

from fastapi import Depends, Query, Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.filters import KEYS
from api.access.actors import Actor
from api.access.forms import FIELD
from api.access.scopes import needed
from api.pages import words
from api.pages.figures import count, evidence, p_value, percent
from api.pages.text import passage, visible

_STYLE = Path(__file__).parents[1] / "static" / "app.css"
_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


NAVIGATION = (
    ("/", "Overview"), ("/series", "Series"), ("/drift", "Drift"), ("/uploads", "Uploads"), ("/runs", "Runs"),
    ("/recovery", "Recovery"), ("/audit", "Audit"), ("/replays", "Replays"), ("/detectors", "Detectors"),
    ("/review", "Review"), ("/labels", "Labels"), ("/keys", "Keys"),
)  # fmt: skip
"""The pages that every page leads to, as far as who asks may see them."""


def address(path: str, **query: object) -> str:
    """`path` with a query string; what is None, empty or false is left out, a list is repeated."""
    given = {name: value for name, value in query.items() if value not in (None, "", [], False)}
    spelled = {name: "true" if value is True else value for name, value in given.items()}
    return f"{path}?{urlencode(spelled, doseq=True)}" if spelled else path


def segment(text: str) -> str:
    """`text` as one segment of a path."""
    return quote(text, safe="")


def run_address(run_id: str, top: str = "") -> str:
    """The page of a run. What no path can hold stands in the query: a browser resolves `.` and `..` even where they
    are encoded, and a route ends at a line feed."""
    if run_id in ("", ".", "..") or "\n" in run_id:
        query, value = ("runs?where", exactly("run_id", run_id)) if top else ("run?id", run_id)
        return f"{top}/{query}={quote_plus(value)}"
    return f"{top}/runs/{segment(run_id)}"


def exactly(key: str, value: str | None) -> str:
    """The filter that `value` alone passes; a missing value is an empty one."""
    literal = re.sub(r"[*?[]", r"[\g<0>]", value or "")
    return f"{key}={literal}"


def _own_style() -> Markup:
    """Our own style sheet, for an HTML file that stands alone: the one text that is put into a page as it is."""
    return Markup(_STYLE.read_text(encoding="utf-8"))  # noqa: S704 - nothing that anybody sent


_templates.filters |= {
    "visible": visible,
    "count": count,
    "percent": percent,
    "p_value": p_value,
    "evidence": evidence,
    "segment": segment,
}
_templates.globals |= {
    "own_style": _own_style,
    "address": address,
    "exactly": exactly,
    "run_address": run_address,
    "passage": passage,
    "keys": KEYS,
    "words": words,
    "form_token_field": FIELD,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters in a page's address."""

    where: list[str]
    since: str | None

    def without(self, one: str) -> list[str]:
        """The other filters."""
        return [each for each in self.where if each != one]


def _asked(where: Annotated[list[str], Query()] = [], since: str | None = None) -> Asked:  # noqa: B006
    """An empty field of a form asks for nothing."""
    return Asked([each.strip() for each in where if each.strip()], since or None)


TheFilters = Annotated[Asked, Depends(_asked)]


def listed(values: Iterable[str]) -> list[str]:
    """The values of a comma-separated list, or of several."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def render(template: str, context: Mapping[str, Any]) -> bytes:
    """The HTML made of `template`, as UTF-8."""
    # a lone surrogate cannot be sent; where text may hold one, `visible` has spelled it out already
    return _templates.get_template(template).render(context).encode("utf-8", "replace")


def page(
    request: Request, template: str, context: Mapping[str, Any], *, twin: str | None = None, status: int = 200
) -> Response:
    """The page made of `template`; `twin` is the address of the same as JSON."""
    actor: Actor = request.state.actor
    shown = {"actor": actor, "navigation": [each for each in NAVIGATION if actor.may(needed("GET", each[0]) or ())]}
    html = render(template, {"request": request, "twin": twin, **shown, **context})
    return Response(html, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")
