"""Forms of a browser that signed in: each brings a token, which a page of another site cannot know.

The cookie is SameSite=Strict and the guard looks at where a request comes from; this is the third lock.
"""

from starlette.requests import Request

from api.access.sign_ins import same
from api.arrivals import FILES
from ingest.errors import NotAllowed

FIELD = "form_token"
"""The hidden field of each form that changes something."""
TOKEN_HEADER = "X-CSRF-Token"  # noqa: S105 - the name of a header
"""The same from a script."""
_READING = ("GET", "HEAD", "OPTIONS")


def changes(request: Request) -> bool:
    """Whether the method of `request` may change something."""
    return request.method not in _READING


def brings_token(request: Request, token: str) -> bool:
    """Whether the header of `request` has the token."""
    return same(request.headers.get(TOKEN_HEADER, ""), token)


async def own_form(request: Request) -> None:
    """NotAllowed for a change from a browser that signed in without the token of that sign-in: for every page."""
    token: str | None = request.state.actor.token
    if token is None or not changes(request) or brings_token(request, token):
        return
    form = await request.form(max_files=FILES)
    given = form.get(FIELD)
    if not isinstance(given, str) or not same(given, token):
        await form.close()
        raise NotAllowed("the form is not one of this sign-in; open the page again and send it from there")
