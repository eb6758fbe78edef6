"""A small HTTP server for metrics: by names of this machine, with bounded threads."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from threading import BoundedSemaphore
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from ipdp.core.hosts import is_loopback, without_port

MOST = 16
"""Connections at a time; others are closed at once."""

# Seconds that a connection may be silent.
_PATIENCE = 5.0

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class _Handler(WSGIRequestHandler):
    timeout = _PATIENCE

    def log_message(self, *_: Any) -> None:
        """Say nothing: a scraper comes every few seconds."""


class BoundedServer(ThreadingMixIn, WSGIServer):
    """Answers each connection in a thread, of which there are at most `MOST`."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *args: Any, **options: Any) -> None:
        self._room = BoundedSemaphore(MOST)
        super().__init__(*args, **options)

    def server_bind(self) -> None:
        """As of the base class, but without looking for the name of this machine."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        host, port = self.server_address[:2]
        self.server_name, self.server_port = str(host), int(port)
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


def metrics_server(host: str, port: int, app: Application) -> BoundedServer:
    """A server of an application, which answers only those who call it by a name of its own."""
    family = socket.getaddrinfo(host, None)[0][0]
    kind = type("Server", (BoundedServer,), {"address_family": family})
    server: BoundedServer = kind((host, port), _Handler)
    server.set_app(_for(host, app))
    return server


def _for(host: str, app: Application) -> Any:
    """The application; where only this machine reaches it, by the names of this machine alone.

    Who lets others reach it gives it names that are not known here.
    """
    is_open = not is_loopback(host)
    names = {host.lower(), "localhost"}

    def checked(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        name = without_port(environ.get("HTTP_HOST", "").lower())
        if is_open or name in names or is_loopback(name):
            return app(environ, start)
        # A page elsewhere may have its own name point here (DNS rebinding).
        start("421 Misdirected Request", [("Content-Type", "text/plain")])
        return [b"This server is not reached by that name.\n"]

    return checked
