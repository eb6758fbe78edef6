"""The app: each view as a page, and the same as JSON."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.web import assets
from ipdp.web.access import Guard, check_token, is_loopback
from ipdp.web.pace import HEADER, Pace
from ipdp.web.runs import NoSuchRun, Runs, address

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_WHOLE = re.compile(r"-1|[0-9]{1,18}")
_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


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
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
    except ImportError:
        raise ImportError("the live page needs starlette: pip install 'ipdp[live]'") from None
    check_token(host, token)
    assets.plotly_js()  # should it be missing: now
    views = _Views(Runs(directory))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        views.runs.close()

    guard = Middleware(Guard, host=host, token=token, names=tuple(names))
    return Starlette(routes=_routes(views), middleware=[guard], lifespan=lifespan)


def _routes(views: _Views) -> list[Any]:
    from starlette.routing import Route

    return [
        Route("/", views.index),
        Route("/runs.json", views.runs_json),
        Route("/runs/{run}.json", views.run_json),
        Route("/runs/{run}/features/{feature}.json", views.feature_json),
        Route("/runs/{run}", views.run),
        Route("/static/{name}", views.static),
    ]


class _Views:
    """What the app answers."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.pace = Pace()

    def index(self, _request: Request) -> Response:
        from starlette.responses import RedirectResponse

        names = list(self.runs.listing())
        if len(names) == 1:
            return RedirectResponse(address(names[0]), status_code=307)
        return _page("Runs · ipdp", "index.html", ["run.js", "index.js"])

    def runs_json(self, _request: Request) -> Response:
        return _json(lambda: json.dumps(self.runs.payload(), allow_nan=False).encode())

    def run(self, request: Request) -> Response:
        name = request.path_params["run"]
        try:
            self.runs.get(name)
        except NoSuchRun:
            return _page("Runs · ipdp", "index.html", ["run.js", "index.js"], status=404)
        # The largest comes last: while the browser reads it, the first numbers are on their way.
        scripts = [*assets.SCRIPTS, f"plotly-{_fingerprint(assets.plotly_js())}.js"]
        return _page(f"{name} · ipdp", "page.html", scripts)

    # Pages that follow a run ask for the same thing at the same time: what is at hand is answered
    # at once, and only what must be read takes a thread.

    async def run_json(self, request: Request) -> Response:
        name, after = request.path_params["run"], request.query_params.get("after")
        body = self.runs.at_hand(name, "run", after)
        answer = await _answer(body, lambda: self.runs.get(name).run(after))
        answer.headers[HEADER] = str(self.pace.ask())
        return answer

    async def feature_json(self, request: Request) -> Response:
        name, feature = request.path_params["run"], request.path_params["feature"]
        after = request.query_params.get("after", "-1")
        if not _WHOLE.fullmatch(feature) or feature == "-1":
            return _refuse(404, "a feature is asked for by its number")
        if not _WHOLE.fullmatch(after):
            return _refuse(400, "after must be a number of observations")
        asked = int(feature), int(after)
        body = self.runs.at_hand(name, "feature", *asked)
        return await _answer(body, lambda: self.runs.get(name).feature(*asked))

    def static(self, request: Request) -> Response:
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in _files():
            return _refuse(404, "there is no such file")
        body = _files()[name]
        headers = {"cache-control": "max-age=31536000, immutable", "vary": "accept-encoding"}
        # On this machine packing takes longer than sending.
        is_far = request.client is None or not is_loopback(request.client.host)
        if is_far and "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            body = _packed(name)
        kind = _TYPES[name.rpartition(".")[2]]
        return Response(body, media_type=kind, headers=headers)


@cache
def _files() -> dict[str, bytes]:
    """All that is served besides the views, by name."""
    names = [*assets.HEAD, *assets.SCRIPTS, "index.js", "style.css"]
    texts = {_versioned(name): assets.read(name) for name in names}
    texts[f"plotly-{_fingerprint(assets.plotly_js())}.js"] = assets.plotly_js()
    return {name: text.encode() for name, text in texts.items()}


@cache
def _packed(name: str) -> bytes:
    return gzip.compress(_files()[name], 6, mtime=0)


@cache
def _versioned(name: str) -> str:
    """The name with its content in it: a browser may keep the file for good."""
    if name.startswith("plotly-"):
        return name
    stem, _, suffix = name.rpartition(".")
    return f"{stem}-{_fingerprint(assets.read(name))}.{suffix}"


@cache
def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _page(title: str, body: str, scripts: Iterable[str], status: int = 200) -> Response:
    from starlette.responses import HTMLResponse

    head = "".join(f'<script src="/static/{_versioned(name)}"></script>\n' for name in assets.HEAD)
    late = "".join(
        f'<script defer src="/static/{_versioned(name)}"></script>\n' for name in scripts
    )
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n"
        '<link rel="icon" href="data:,">\n'
        f'<link rel="stylesheet" href="/static/{_versioned("style.css")}">\n'
        f'{assets.stand_ins()}\n{head}{late}</head>\n<body data-mode="live">\n'
        f"{assets.read(body)}</body>\n</html>\n"
    )
    return HTMLResponse(text, status_code=status, headers={"cache-control": "no-store"})


async def _answer(body: bytes | None, make: Callable[[], bytes]) -> Response:
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(_json, make) if body is None else _as_json(body)


def _json(make: Callable[[], bytes]) -> Response:
    """An answer as JSON, or the sentence that says why there is none."""
    from ipdp.log import LogError

    try:
        return _as_json(make())
    except NoSuchRun as error:
        return _refuse(404, error)
    except FileNotFoundError:
        return _refuse(404, "the log of this run is gone")
    except (LogError, OSError) as error:
        return _refuse(422, error)
    except ValueError as error:
        return _refuse(400, error)


def _as_json(body: bytes) -> Response:
    from starlette.responses import Response

    return Response(body, media_type="application/json", headers={"cache-control": "no-store"})


def _refuse(status: int, reason: object) -> Response:
    from starlette.responses import JSONResponse

    headers = {"cache-control": "no-store"}
    return JSONResponse({"error": str(reason)}, status_code=status, headers=headers)
