"""Who may see the page: the right host name, the right token, and security headers."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import socket
from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ipdp.core.hosts import is_loopback, without_port

LONGEST_QUERY = 1000
"""Letters of a query string; ours have fewer than a hundred."""

# Plotly makes one style element, which is empty at first, and sets style attributes; its pictures
# are data. Everything else comes from this server, and no script is in the page itself.
_EMPTY = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    f"style-src 'self' {_EMPTY}; style-src-attr 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # the first address holds the token
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def new_token() -> str:
    """A token that cannot be guessed.

    Examples
    --------
    >>> from ipdp.web import new_token
    >>> len(new_token()) > 20, new_token() != new_token()
    (True, True)
    """
    return secrets.token_urlsafe(24)


def check_token(host: str, token: str | None) -> None:
    """A ValueError where others can reach the page and there is no token."""
    if token is None and not is_loopback(host):
        raise ValueError(
            f"others can reach {host}: give a token (ipdp.web.new_token() makes one), or "
            "use 127.0.0.1"
        )
    if token is not None and len(token) < 8:
        raise ValueError("a token must have at least 8 letters")


def error_response(status: int, reason: object) -> Response:
    """A refusal: one sentence, as JSON."""
    headers = {"cache-control": "no-store"}
    return JSONResponse({"error": str(reason)}, status_code=status, headers=headers)


class AccessMiddleware:
    """Refuses requests for another host or without the token; adds security headers to all answers.

    The parameters are those of `make_app`.
    """

    def __init__(self, app: ASGIApp, host: str, token: str | None, names: Iterable[str]) -> None:
        self.app = app
        self.host = host
        self.token = token
        self.own_names = {name.lower() for name in names}
        self.names = {"localhost", host.lower(), *self.own_names}
        if not is_loopback(host):
            self.names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._answer(Request(scope)) or self.app
        await answer(scope, receive, send_with_headers)

    def _answer(self, request: Request) -> Response | None:
        """The answer to a request that does not reach the app; None where it does."""
        refusal = self._refusal(request)
        if refusal is not None or self.token is None:
            return refusal
        given = request.query_params.get("token")
        if given is not None and (
            _are_equal(given.encode(), self.token) or _is_used_up(request, given)
        ):
            return self._first_answer(request, self.token)
        if self._is_known(request, self.token):
            return None
        return error_response(
            401, "This page needs its token: open the whole link that was printed."
        )

    def _refusal(self, request: Request) -> Response | None:
        """What is said to a request that is not for this page, whoever it is from."""
        if not self._is_our_name(request.headers.get("host", "")):
            # A page elsewhere may have its own name point here (DNS rebinding).
            return error_response(421, "This server is not reached by that name.")
        if self._is_from_elsewhere(request):
            return error_response(403, "This page does not answer to other sites.")
        if len(request.scope["query_string"]) > LONGEST_QUERY:
            return error_response(414, f"A query has at most {LONGEST_QUERY} letters.")
        return None

    def _is_our_name(self, header: str) -> bool:
        """Whether the Host header names this server.

        Starlette's TrustedHostMiddleware compares names alone: it has no rule for addresses.
        """
        name = without_port(header.lower())
        if name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # A bare address cannot be a name that was made to point here.
        return address.is_loopback or not is_loopback(self.host)

    def _is_from_elsewhere(self, request: Request) -> bool:
        """Whether another site's page asks. Browsers say so; a link to here may be followed."""
        origin = request.headers.get("origin")
        if origin is not None:
            asking = origin.partition("://")[2].lower()
            is_ours = asking == request.headers["host"].lower()
            return not (is_ours or without_port(asking) in self.own_names)
        site, mode = (request.headers.get(f"sec-fetch-{name}") for name in ("site", "mode"))
        return site in ("cross-site", "same-site") and mode != "navigate"

    def _is_known(self, request: Request, token: str) -> bool:
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return _are_equal(bearer.strip().encode("latin-1"), token)
        name, value = _cookie(token)
        return _are_equal(request.cookies.get(name, "").encode("latin-1"), value)

    def _first_answer(self, request: Request, token: str) -> Response:
        """Keep the token as a cookie and drop it from the address."""
        rest = request.url.remove_query_params("token").query
        raw = request.scope.get("raw_path", b"/").decode("latin-1")
        path = "/" + raw.split("?")[0].lstrip("/\\")  # two slashes would be another host
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.headers["cache-control"] = "no-store"
        name, value = _cookie(token)
        is_secure = request.scope["scheme"] == "https"
        year = 365 * 24 * 3600
        answer.set_cookie(name, value, year, secure=is_secure, httponly=True, samesite="strict")
        return answer


def allow_once(app: Starlette, code: str) -> None:
    """Let a code take the place of the token, for the first who brings it."""
    app.state.once = code


def _is_used_up(request: Request, given: str) -> bool:
    """Whether it is the code that may take the place of the token, which it then may no more."""
    code = getattr(request.scope["app"].state, "once", None)
    if code is None or not _are_equal(given.encode(errors="replace"), code):
        return False
    request.scope["app"].state.once = None
    return True


def _are_equal(given: bytes, expected: str) -> bool:
    """Compared in a time that does not tell how much of it is right."""
    return secrets.compare_digest(given, expected.encode())


def _cookie(token: str) -> tuple[str, str]:
    """Name and value: not the token itself, since cookies are kept in files.

    The name is the token's as well: ports of a host share their cookies.
    """
    digest = hashlib.sha256(b"ipdp cookie " + token.encode()).hexdigest()
    return f"ipdp-token-{digest[-8:]}", digest[:-8]
