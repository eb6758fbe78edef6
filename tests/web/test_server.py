"""The server: in a process of its own, and what it says when it cannot start."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from starlette.testclient import TestClient
from tests.web.logs import write_run

from ipdp.web import background, serve, server
from ipdp.web.server import page_address


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "loans", 300, changes=())


def test_it_serves_until_it_is_let_go(run):
    with background(run, token="a-token-to-test-with") as address:
        assert address.startswith("http://127.0.0.1:")
        base, _, query = address.partition("?")
        assert query == "token=a-token-to-test-with"
        request = urllib.request.Request(
            f"{base}runs/loans.json", headers={"authorization": "Bearer a-token-to-test-with"}
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            assert json.load(answer)["n"] == [100, 200, 300]
            assert "server" not in answer.headers
        with pytest.raises(urllib.error.HTTPError, match="401") as unknown:
            urllib.request.urlopen(base, timeout=120)
        unknown.value.close()
        # More than the server itself takes in, long before the app sees it.
        with pytest.raises((urllib.error.HTTPError, OSError)) as refused:
            urllib.request.urlopen(f"{base}?after={'1' * 1_000_000}", timeout=120)
        if isinstance(refused.value, urllib.error.HTTPError):
            assert refused.value.code in (400, 414, 431)
            refused.value.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(base, timeout=120)


def test_a_page_that_cannot_start_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="a directory of runs"), background(tmp_path / "absent"):
        pass


def test_a_port_that_is_taken(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="give another port, or 0"):
            serve(run, port=port)


def test_addresses_are_ready_to_be_opened():
    assert page_address("0.0.0.0", 80, "x").endswith(f"{socket.gethostname()}:80/?token=x")
    assert page_address("::1", 80) == "http://[::1]:80/"


def test_a_page_that_does_not_listen_is_ended_by_force(monkeypatch):
    monkeypatch.setattr(server, "_PATIENCE", 0.2)
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print(flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "\n"
    server._end(process)
    assert process.returncode == -signal.SIGKILL


def test_nothing_in_the_current_directory_is_imported(run, tmp_path, monkeypatch):
    """Whoever looks at a run from somebody else may be in its directory."""
    for name in ("uvicorn", "asyncio", "sqlite3"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with background(run) as address:
        assert address.startswith("http://")
    assert not (tmp_path / "ran").exists()


def test_the_command_line_of_a_browser_holds_no_token(run, monkeypatch):
    apps, opened, said = [], [], []

    class Served:
        def __init__(self, config):
            apps.append(config.app)

        def run(self, sockets):
            assert sockets

    class AtOnce:
        def __init__(self, _seconds, function, arguments):
            self.start = lambda: function(*arguments)

    monkeypatch.setattr(server.uvicorn, "Server", Served)
    monkeypatch.setattr(server.threading, "Timer", AtOnce)
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    token = "a-token-to-test-with"
    serve(run, port=0, token=token, open_browser=True, ready=said.append)
    assert token in said[0]
    assert token not in opened[0]
    with TestClient(apps[0], base_url="http://127.0.0.1:8321") as browser:
        assert browser.get(opened[0]).status_code == 200  # the code, then the cookie
        assert browser.get("/runs.json").status_code == 200
    with TestClient(apps[0], base_url="http://127.0.0.1:8321") as another:
        assert another.get(opened[0]).status_code == 401
        assert another.get(said[0]).status_code == 200
