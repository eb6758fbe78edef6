"""Serving the live page: here until Ctrl-C, or in a process of its own, which this file is."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import urllib.parse
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import uvicorn

from ipdp.web.access import allow_once, check_token, new_token
from ipdp.web.app import make_app
from ipdp.web.connections import BACKLOG, limits

PORT = 8321
"""Where the page is unless another port is asked for."""

# Seconds that the process of a page has to end in; it lets requests finish within one.
_PATIENCE = 5.0


def serve(
    directory: str | Path,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    open_browser: bool = False,
    *,
    names: Iterable[str] = (),
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the live page until the program is interrupted.

    Parameters
    ----------
    directory
        A run's directory, its log, or a directory with several runs.
    host, port
        Where to listen; port 0 takes any that is free.
    token
        What visitors must bring; needed unless the host is 127.0.0.1 or the like.
    open_browser
        Whether to open the page in a browser.
    names
        Other host names by which the server is reached.
    ready
        Called with the page's address, token included, once the server listens.

    Examples
    --------
    `ipdp.web.serve("runs/loans", open_browser=True)` runs until Ctrl-C. What cannot be served is
    said at once:

    >>> from ipdp.web import serve
    >>> serve("runs/absent")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no runs/absent: give a run, or a directory of runs
    """
    app = make_app(directory, token=token, host=host, names=names)
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    address = opened = page_address(host, port, token)
    if open_browser and token is not None:
        # Everyone on the machine sees the command line of a browser.
        allow_once(app, code := new_token())
        opened = page_address(host, port, code)
    config = uvicorn.Config(
        app,
        **limits(),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,  # longer than a page pauses
        timeout_graceful_shutdown=1,
    )
    with listening:
        if ready is not None:
            ready(address)
        if open_browser:
            threading.Timer(0.3, webbrowser.open, [opened]).start()
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


@contextlib.contextmanager
def background(
    directory: str | Path,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
) -> Iterator[str]:
    """The page in a process of its own, so that a run beside it is not slowed down.

    Parameters
    ----------
    directory, host, port, token
        As in `serve`.

    Yields
    ------
    The page's address. The process ends with the context, or with the program.

    Examples
    --------
    >>> import tempfile
    >>> import ipdp
    >>> from ipdp.web import background
    >>> directory = tempfile.mkdtemp()
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    >>> stream = [{"a": k % 7} for k in range(200)]
    >>> with background(directory) as address:
    ...     summary = ipdp.run(stream, pdp.model, pdp, log=directory, learn=False)
    ...     print(address.startswith("http://127.0.0.1:"))
    True
    """
    check_token(host, token)
    pipe = subprocess.PIPE
    # With -P nothing is imported from the current directory, which may be a run of somebody else.
    command = [sys.executable, "-P", "-m", "ipdp.web.server", str(directory), host, str(port)]
    process = subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        # The token goes by the environment: everyone on the machine sees a command line.
        env={**os.environ, "IPDP_TOKEN": token or ""},
        # Ctrl-C is for the run, which then ends the page.
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the live page did not start: {process.stderr.read().strip()}")
        yield address
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End the process of a page, by force if it does not listen."""
    process.terminate()
    try:
        process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def page_address(host: str, port: int, token: str | None = None) -> str:
    """What to type into a browser."""
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname(), "": "127.0.0.1"}
    name = shown.get(host, host)
    name = f"[{name}]" if ":" in name else name
    query = "" if token is None else "?" + urllib.parse.urlencode({"token": token})
    return f"http://{name}:{port}/{query}"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = f"cannot listen at {host}, port {port}: {error.strerror or error}"
        raise OSError(f"{reason}; give another port, or 0 for any that is free") from None


def main(directory: str, host: str, port: str) -> int:
    """Serve until the program that started this process has ended."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    token = os.environ.get("IPDP_TOKEN") or None
    try:
        serve(directory, host, int(port), token, ready=_print_address)
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _print_address(address: str) -> None:
    # Nobody reads what is said from now on: a pipe that is full would stop the server.
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    sys.stdin.read()  # ends when the parent, however it ends, closes the pipe
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
