"""Who a request comes from: the one place that looks at keys, cookies and the secret of this machine."""

from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil

from starlette.requests import Request

from api.access.actors import ON_THE_MACHINE, Actor, with_key
from api.access.failures import Failures
from api.access.keys import Keyring
from api.access.sign_ins import SignIns, same

HOW = "send `Authorization: Bearer KEY`, or set LEAKDOWN_KEY; `leakdown keys create` makes one"


class Refused(Exception):
    """A request is refused: status, a line that says why, and headers."""

    def __init__(self, status: HTTPStatus, why: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(why)
        self.status, self.why, self.headers = status, why, headers or {}


@dataclass(slots=True)
class Access:
    """Of one service. `secret`: what the notice beside the store holds; `always`: a key is asked for even where the
    store never had one; `cookie`: the name of the cookie of a sign-in; `https`: browsers reach it by https alone."""

    keyring: Keyring
    secret: str = field(repr=False)
    always: bool
    cookie: str
    https: bool
    sign_ins: SignIns
    failures: Failures

    @property
    def in_force(self) -> bool:
        """Whether a key is asked for."""
        return self.always or self.keyring.in_force

    def actor(self, request: Request) -> Actor | None:
        """Who sent `request`; None for nobody that is known. Refused for a key that opens nothing."""
        if not self.in_force:
            return ON_THE_MACHINE
        given = request.headers.get("authorization")
        return self._signed_in(request) if given is None else self._by_header(given, _address(request))

    def by_key(self, text: str, address: str) -> Actor:
        """Who has the key of this text. Refused if there is none."""
        key = self.keyring.find(text)
        if key is None:
            raise self._failed(address)
        self.keyring.used(key)
        return with_key(key)

    def _by_header(self, given: str, address: str) -> Actor:
        scheme, _, text = given.partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            raise unknown(f"only keys are understood in Authorization: {HOW}")
        if same(text.strip(), self.secret):
            return ON_THE_MACHINE
        return self.by_key(text.strip(), address)

    def _signed_in(self, request: Request) -> Actor | None:
        found = self.sign_ins.find(request.cookies.get(self.cookie, ""))
        key = self.keyring.by_id(found.key_id) if found else None
        if found is None or key is None:
            return None
        self.keyring.used(key)
        return with_key(key, found.token)

    def _failed(self, address: str) -> Refused:
        wait = self.failures.count(address)
        if not wait:
            return unknown(f"this key is wrong or was revoked: {HOW}", 'error="invalid_token"')
        why = f"too many wrong keys; try again in {ceil(wait)} seconds"
        return Refused(HTTPStatus.TOO_MANY_REQUESTS, why, {"Retry-After": str(ceil(wait))})


def unknown(why: str, more: str = "") -> Refused:
    """Refused since it is not known who asks (RFC 6750 for the header)."""
    challenge = ", ".join(['Bearer realm="leakdown"', *([more] if more else [])])
    return Refused(HTTPStatus.UNAUTHORIZED, why, {"WWW-Authenticate": challenge})


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
