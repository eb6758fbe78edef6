"""How many connections the page's server holds: silent and slow ones give way to those who ask."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 400
"""Connections at a time, where the process may have 1,024 files open."""

BACKLOG = 256
"""Connections that wait to be taken in. They come in one go, before any other is closed."""


class BoundedConnection(H11Protocol):
    """A connection to the page; beyond `most`, the one that asked longest ago is closed.

    A client that says nothing, half a request, or a letter now and then has never asked, and one
    that does not read its answer asked long ago. Pages ask again by themselves.
    """

    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.asked_at = self.loop.time()
        if len(self.connections) > self.most:
            oldest: Any = min(self.connections, key=lambda each: getattr(each, "asked_at", 0.0))
            self.connections.discard(oldest)  # the next one to come must choose another
            oldest.transport.abort()  # which does not wait until the client has read all

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self.asked_at = self.loop.time()


def limits() -> dict[str, Any]:
    """Settings of uvicorn: as many connections as this process may well hold."""
    share = min(1.0, _files() / 1024)
    named = {"most": int(MOST * share)}
    protocol = type("BoundedConnection", (BoundedConnection,), named)
    return {"http": protocol, "ws": "none", "backlog": max(1, int(BACKLOG * share))}


def _files() -> float:
    """How many files this process may have open, connections among them."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return float("inf")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return float("inf") if soft == resource.RLIM_INFINITY else soft
