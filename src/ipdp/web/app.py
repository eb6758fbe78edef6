"""The app: each view as a page, and the same as JSON."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from ipdp.core.hosts import is_loopback
from ipdp.web import document
from ipdp.web.access import AccessMiddleware, check_token, error_response
from ipdp.web.comparisons import Asked, Comparisons
from ipdp.web.runs import Runs, Unreadable, What, address
from ipdp.web.status import Cursor, NotFound

PAUSE_HEADER = "x-ipdp-pause"
"""Says how many seconds a page is to wait before it asks again."""

_NUMBER = re.compile("[0-9]{1,18}")
# Not left to the machine's table of types: a browser runs no script of another type.
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_NO_STORE = {"cache-control": "no-store"}


def make_app(
    directory: str | Path,
    *,
    token: str | None = None,
    host: str = "127.0.0.1",
    names: Iterable[str] = (),
) -> Starlette:
    """The live page of a run, or of the runs in a directory, as an ASGI app.

    Parameters
    ----------
    directory
        A run's directory, its log, or a directory with several runs. Nothing is written there.
    token
        What a visitor must bring: `?token=...` in the first address, which becomes a cookie, or
        `Authorization: Bearer ...`. Needed unless only this machine reaches the host.
    host
        The address that the server listens at.
    names
        Other host names by which the server is reached, such as that of a proxy.

    Examples
    --------
    >>> import tempfile
    >>> app = make_app(tempfile.mkdtemp())
    >>> [route.path for route in app.routes][:3]
    ['/', '/runs.json', '/runs/{run}.json']
    """
    check_token(host, token)
    document.plotly_js()  # raises now if it is missing
    views = _Views(Runs(directory))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        views.runs.close()

    routes = [
        Route("/", views.index),
        Route("/runs.json", views.runs_json),
        Route("/runs/{run}.json", views.run_json),
        Route("/runs/{run}.html", views.document),
        Route("/runs/{run}/features/{feature}.json", views.feature_json),
        Route("/runs/{run}/comparison.json", views.comparison_json),
        Route("/runs/{run}", views.run),
        Route("/runs/{run}/", views.run),
        Mount("/static", _PageFiles()),
    ]
    access = Middleware(AccessMiddleware, host=host, token=token, names=tuple(names))
    middleware = [access, Middleware(_RemoteGZip, compresslevel=6)]
    return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)


class _RemoteGZip(GZipMiddleware):
    """Compresses answers to other machines: to this one, sending takes less time."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        is_here = client is not None and is_loopback(client[0])
        await (self.app if is_here else super().__call__)(scope, receive, send)


class _PageFiles(StaticFiles):
    """The page's scripts and style sheet, and plotly.js: these files and no other."""

    def __init__(self) -> None:
        super().__init__(directory=document.DIRECTORY, packages=[("plotly", "package_data")])

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        return super().lookup_path(path) if path in _versions() else ("", None)

    def file_response(self, full_path: Any, *args: Any, **options: Any) -> Response:
        answer = super().file_response(full_path, *args, **options)
        # Its address holds a digest of its content: a browser may keep it for good.
        answer.headers["cache-control"] = "max-age=31536000, immutable"
        answer.headers["content-type"] = _TYPES[Path(full_path).suffix]
        return answer


class PollInterval:
    """How long pages wait between two requests: a second each, longer if there are many of them.

    All pages together may ask so often a second, counted over a window of some seconds.
    """

    longest = 10.0

    def __init__(
        self,
        most: float = 20.0,
        window: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.window = window
        self.clock = clock
        self._seconds = 1.0
        self._asked = 0
        self._since = clock()

    def next(self) -> float:
        """A page has asked: how many seconds it is to wait before it asks again."""
        passed = self.clock() - self._since
        if passed >= self.window:
            n_pages = self._asked / passed * self._seconds
            self._seconds = min(max(1.0, n_pages / self.most), self.longest)
            self._asked, self._since = 0, self.clock()
        self._asked += 1
        return round(self._seconds, 1)


class _Views:
    """What the app answers."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.interval = PollInterval()
        self.comparisons = Comparisons()

    def index(self, _request: Request) -> Response:
        names = list(self.runs.listing())
        if len(names) == 1:
            return RedirectResponse(address(names[0]), status_code=307)
        return _index_page(self.runs)

    def runs_json(self, _request: Request) -> Response:
        return _json_response(self.runs.payload())

    def run(self, request: Request) -> Response:
        name = request.path_params["run"]
        try:
            self.runs.get(name)
        except NotFound:
            return _index_page(self.runs, status=404)
        # The largest comes last: while the browser reads it, the first numbers are on their way.
        scripts = [*document.SCRIPTS, document.PLOTLY]
        # Without scripts the document is all that can be shown.
        to = f'<meta http-equiv="refresh" content="0; url={address(name).rstrip("/")}.html">'
        return _page(name, document.page(), scripts, head=f"<noscript>{to}</noscript>\n")

    async def document(self, request: Request) -> Response:
        """The run as it is now, in a page that runs no scripts."""
        name = request.path_params["run"]
        answer = await self._answer(name, "document")
        if answer.status_code != 200:
            return answer
        said = json.loads(bytes(answer.body))
        # While the run goes on, the browser asks again.
        again = '<meta http-equiv="refresh" content="30">' if said["is_running"] else ""
        return _page(name, said["text"], (), head=again, mode="paper")

    async def run_json(self, request: Request) -> Response:
        name, after = request.path_params["run"], request.query_params.get("after")
        try:
            cursor = Cursor() if after is None else Cursor.parse(after)
        except ValueError as error:
            return error_response(400, error)
        answer = await self._answer(name, "run", cursor)
        answer.headers[PAUSE_HEADER] = str(self.interval.next())
        return answer

    async def feature_json(self, request: Request) -> Response:
        name, feature = request.path_params["run"], request.path_params["feature"]
        after = request.query_params.get("after", "-1")
        if not _NUMBER.fullmatch(feature):
            return error_response(404, "a feature is asked for by its number")
        if after != "-1" and not _NUMBER.fullmatch(after):
            return error_response(400, "after must be a number of observations")
        explainer = request.query_params.get("explainer")
        return await self._answer(name, "feature", int(feature), int(after), explainer)

    async def comparison_json(self, request: Request) -> Response:
        """The run at two times, beside another run, or beside a challenger."""
        query = request.query_params
        times = {name: query[name] for name in ("a", "b") if name in query}
        for name, given in times.items():
            if not _NUMBER.fullmatch(given):
                return error_response(400, f"{name} must be a number of observations")
        try:
            run, other = request.path_params["run"], query.get("run")
            asked = Asked(
                self.runs.get(run).path,
                a=int(times["a"]) if "a" in times else None,
                b=int(times["b"]) if "b" in times else None,
                other=None if other is None else self.runs.get(other).path,
                explainer=query.get("explainer"),
                challenger=query.get("challenger"),
            )
            return _json_response(await run_in_threadpool(self.comparisons.answer, asked))
        except NotFound as error:
            return error_response(404, error)
        except Unreadable as error:
            return error_response(422, error)

    async def _answer(self, name: str, what: What, *asked: Any) -> Response:
        """An answer as JSON, or the sentence that says why there is none.

        Pages that follow a run ask for the same thing at the same time: an answer that is kept is
        given at once, and only what must be read takes a thread.
        """
        try:
            body = self.runs.kept_answer(name, what, *asked)
            if body is None:
                body = await run_in_threadpool(self.runs.answer, name, what, *asked)
        except NotFound as error:
            return error_response(404, error)
        except Unreadable as error:
            return error_response(422, error)
        return _json_response(body)


@cache
def _versions() -> dict[str, str]:
    """A digest of each file that is served besides the views."""
    names = (document.FIRST, *document.SCRIPTS, "index.js", "style.css")
    texts = {document.PLOTLY: document.plotly_js()} | {name: document.read(name) for name in names}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in texts.items()}


def _static(name: str) -> str:
    return f"/static/{name}?v={_versions()[name]}"


def _page(
    title: str,
    body: str,
    scripts: Iterable[str],
    *,
    head: str = "",
    status: int = 200,
    mode: Literal["live", "paper"] = "live",
) -> Response:
    # The first script sets light or dark, also for a document that has no other.
    late = "".join(f'<script defer src="{_static(name)}"></script>\n' for name in scripts)
    head += (
        '<link rel="icon" href="data:,">\n'
        f'<link rel="stylesheet" href="{_static("style.css")}">\n'
        f'<script src="{_static(document.FIRST)}"></script>\n{late}'
    )
    text = document.document(title, head, body, mode)
    return HTMLResponse(text, status_code=status, headers=_NO_STORE)


def _index_page(runs: Runs, status: int = 200) -> Response:
    """The list of runs; what the script would say of them stands there for those who run none."""
    listed = "".join(
        f'<li><a class="run" href="{html.escape(run["address"])}">'
        f'<span class="run-title">{html.escape(run["name"])}</span> {html.escape(run["state"])}'
        f'<span class="muted">{html.escape(run["headline"])}</span></a></li>'
        for run in json.loads(runs.payload())["runs"]
    )
    body = document.read("index.html").replace("<!-- runs -->", listed)
    return _page("Runs", body, ["run.js", "index.js"], status=status)


def _json_response(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers=_NO_STORE)
