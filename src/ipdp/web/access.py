"""Who may see the page: the right host, the right token, and requests that make sense."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import secrets
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_QUERY = 1000
"""Letters of a query string; ours have fewer than a hundred."""

COOKIE = "ipdp-token"

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

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
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host in _LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_token(host: str, token: str | None) -> None:
    """A ValueError where others reach the page and no token keeps them out."""
    if token is None and not is_loopback(host):
        raise ValueError(
            f"others can reach {host}: give a token (ipdp.web.new_token() makes one), or "
            "use 127.0.0.1"
        )
    if token is not None and len(token) < 8:
        raise ValueError("a token must have at least 8 letters")


class Guard:
    """Stands before the app, and sends away whom it is not for.

    Parameters
    ----------
    app
        The app.
    host
        The address that the server listens at.
    token
        What a visitor must bring, in the first address or as a bearer; None: nothing.
    names
        Other names by which the server is reached, such as that of a proxy before it.
    """

    def __init__(
        self, app: ASGIApp, *, host: str, token: str | None, names: Iterable[str] = ()
    ) -> None:
        self.app = app
        self.host = host
        self.token = None if token is None else token.encode()
        self.names = {name.lower() for name in (host, *names)} | _LOOPBACK
        if not is_loopback(host):
            self.names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is None and self.token is not None:
            if self._is_first_visit(scope):
                await self._let_in(scope, send)
                return
            if not self._is_known(headers):
                refusal = 401, "This page needs its token: open the whole link that was printed."
        if refusal is not None:
            await _refuse(*refusal, send)
            return
        await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, bytes]) -> tuple[int, str] | None:
        """Status and sentence for what makes no sense whoever asks."""
        host = headers.get("host", b"").decode("latin-1")
        if not self._is_ours(host):
            # A page elsewhere may have its own name point here (DNS rebinding).
            return 421, "This server is not reached by that name."
        if len(scope.get("query_string", b"")) > LONGEST_QUERY:
            return 414, f"A query has at most {LONGEST_QUERY} letters."
        return None

    def _is_ours(self, header: str) -> bool:
        name = _without_port(header.lower())
        if name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # A bare address cannot be a name that was made to point here.
        return address.is_loopback or not is_loopback(self.host)

    def _is_first_visit(self, scope: Scope) -> bool:
        """Whether the address brings the right token."""
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        assert self.token is not None
        return given is not None and secrets.compare_digest(given.encode(), self.token)

    def _is_known(self, headers: dict[str, bytes]) -> bool:
        assert self.token is not None
        bearer = headers.get("authorization", b"")
        if bearer[:7].lower() == b"bearer ":
            return secrets.compare_digest(bearer[7:].strip(), self.token)
        expected = self._cookie().encode()
        cookies = (part.strip() for part in headers.get("cookie", b"").split(b";"))
        return any(secrets.compare_digest(part, expected) for part in cookies)

    def _cookie(self) -> str:
        # Not the token itself: cookies are kept in files.
        assert self.token is not None
        return f"{COOKIE}={hashlib.sha256(b'ipdp cookie ' + self.token).hexdigest()}"

    async def _let_in(self, scope: Scope, send: Send) -> None:
        """Keep the token as a cookie and drop it from the address."""
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope.get("raw_path", b"/").decode("latin-1").split("?")[0].lstrip("/\\")
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        cookie = f"{self._cookie()}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000{secure}"
        headers = {"location": f"{path}?{rest}" if rest else path, "set-cookie": cookie}
        await _answer(303, b"", headers, send)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


async def _refuse(status: int, sentence: str, send: Send) -> None:
    body = json.dumps({"error": sentence}).encode()
    await _answer(status, body, {"content-type": "application/json"}, send)


async def _answer(status: int, body: bytes, headers: dict[str, str], send: Send) -> None:
    all_headers = {**HEADERS, "cache-control": "no-store", "content-length": str(len(body))}
    all_headers.update(headers)
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in all_headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *own]}
        await send(message)

    return sending
