"""Many runs and many connections: the page's server holds a bounded number of both."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient
from tests.web.logs import write_run

from ipdp.web import background, make_app, runs
from ipdp.web.connections import MOST

resource = pytest.importorskip("resource")


@contextmanager
def files(most):
    """Let this process, and those that it starts meanwhile, have so many files open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < most:
        pytest.skip(f"this machine lets nobody have {most} files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def served(directory):
    """The page in a process that may have 1,024 files open: its host and port."""
    with ExitStack() as stack:
        with files(1024):
            address = stack.enter_context(background(directory))
        parts = urlsplit(address)
        yield parts.hostname, parts.port


def ask(place, path, **headers):
    connection = http.client.HTTPConnection(*place, timeout=120)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("small") / "run", 100, features=["age"], changes=())


def test_600_runs_are_read_with_1024_files(small, tmp_path):
    for k in range(600):
        shutil.copytree(small, tmp_path / f"run{k}")
    with served(tmp_path) as place:
        for k in range(600):
            assert ask(place, f"/runs/run{k}.json")[0] == 200
        status, body = ask(place, "/runs.json")
        assert status == 200
        assert [run["state"] for run in json.loads(body)["runs"]] == ["ended"] * 600


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files are counted by /proc")
def test_logs_that_nobody_asks_for_are_closed(small, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "OPEN", 3)
    for k in range(20):
        shutil.copytree(small, tmp_path / f"run{k}")
    with TestClient(make_app(tmp_path), base_url="http://127.0.0.1") as client:
        for _ in range(2):  # one that was closed is opened again
            for k in range(20):
                assert client.get(f"/runs/run{k}.json").json()["n"] == [100]
        links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        logs = {os.readlink(link) for link in links if os.path.islink(link)}
        opened = {name for name in logs if name.startswith(str(tmp_path)) and name.endswith(".db")}
        assert len(opened) == 3


def test_1100_half_open_connections_block_nobody(small):
    with served(small.parent) as place, files(4096), ExitStack() as stack:
        half = [stack.enter_context(socket.create_connection(place)) for _ in range(1100)]
        for k, connection in enumerate(half):
            # Some of them have been closed by now, to make room.
            try:
                connection.sendall(b"GET /runs.json HTTP/1.1\r\nHost: 127.0.0.1"[: k % 42])
            except OSError:
                continue
        assert ask(place, "/runs/run.json")[0] == 200


def test_clients_that_do_not_read_their_answers_block_nobody(small):
    with served(small.parent) as place, files(4096), ExitStack() as stack:
        for _ in range(MOST + 50):
            connection = stack.enter_context(socket.create_connection(place))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(b"GET /static/plotly.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert ask(place, "/runs/run.json")[0] == 200


def test_a_connection_that_asks_stays_while_silent_ones_come(small):
    with served(small.parent) as place, files(4096), ExitStack() as stack:
        kept = http.client.HTTPConnection(*place, timeout=120)
        stack.callback(kept.close)
        for _ in range(4):
            kept.request("GET", "/runs/run.json")
            answer = kept.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            for _ in range(MOST // 2):
                stack.enter_context(socket.create_connection(place))
        assert kept.sock is not None  # the same connection all along


def test_what_the_server_has_to_say_does_not_stop_it(small):
    with served(small.parent) as place:
        for _ in range(2500):  # each is a warning, which nobody reads
            with socket.create_connection(place) as connection:
                connection.sendall(b"no request\r\n\r\n")
                connection.recv(1)
        assert ask(place, "/runs/run.json")[0] == 200
