"""Handlers cannot stop the stream: not by raising, hanging or being slow."""

import importlib
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.monitor.test_change import change

import ipdp
from ipdp.monitor.data.move import Move
from ipdp.monitor.notify import LogLine, Only, Webhook, notify

QUICK = {"timeout": 60.0, "backoff": 0.01}


class Server:
    """A server on this machine with given answers that remembers what it got."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.bodies = []
        self.release = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append((dict(self.headers), body))
                answer = server.answers.pop(0) if server.answers else 200
                if answer == "hang":
                    server.release.wait(120)
                    return
                code, location = answer if isinstance(answer, tuple) else (answer, None)
                self.send_response(code)
                if location is not None:
                    self.send_header("Location", location)
                self.end_headers()

            def do_GET(self):
                server.bodies.append((dict(self.headers), "GET"))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.release.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def test_a_webhook_posts_json_with_a_text():
    with Server() as server:
        hook = Webhook(server.url, headers={"X-Token": "secret"}, **QUICK)
        hook(change())
        assert hook.join(120)
        ((headers, body),) = server.bodies
    assert headers["X-Token"] == "secret"
    assert headers["Content-Type"] == "application/json"
    assert body["text"] == f"t = 10,312: {change().summary()}"


def test_the_text_names_run_time_and_page():
    with Server() as server:
        page = "https://ipdp.example.com/loans"
        hook = Webhook(server.url, run="loans", page=page)
        found = replace(change(), t=1_718_000_000.0)
        hook(found)
        assert hook.join(120)
        ((_, body),) = server.bodies
    when = "2024-06-10 06:13 UTC"
    assert body["text"] == f"loans, {when}: {found.summary()}\n{page}"
    assert body["change"]["feature"] == "salary"


def test_a_webhook_tries_again_and_then_goes_on(caplog):
    with Server(500, 503, 200, 500, 500, 500) as server:
        hook = Webhook(server.url, retries=2, **QUICK)
        hook(change())
        assert hook.join(120)
        assert len(server.bodies) == 3
        assert not caplog.records
        hook(change())
        assert hook.join(120)
        assert len(server.bodies) == 6
    assert "gave up" in caplog.text
    assert server.url not in caplog.text


def test_a_webhook_does_not_insist_when_it_is_refused(caplog):
    with Server(404) as server:
        hook = Webhook(server.url, retries=5, **QUICK)
        hook(change())
        assert hook.join(120)
        assert len(server.bodies) == 1
    assert "gave up" in caplog.text


def test_nobody_there(caplog):
    with Server() as server:
        url = server.url
    hook = Webhook(url, retries=1, **QUICK)
    hook(change())
    assert hook.join(120)
    assert "gave up" in caplog.text


def test_a_server_that_hangs_blocks_nothing_and_drops_are_loud(caplog):
    odd = replace(change(), feature="\x1b[2J\nERROR forged")
    with Server("hang") as server:
        hook = Webhook(server.url, retries=0, timeout=100.0, queue_size=2)
        hook(change())
        while not server.bodies:  # the first one is on its way
            time.sleep(0.005)
        for _ in range(5):
            hook(odd)  # the server hangs until it is released, below
        assert len(server.bodies) == 1
        assert caplog.text.count("is dropped") == 3
        assert all(record.getMessage().isprintable() for record in caplog.records)
        server.release.set()
        assert hook.join(120)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_not_counted_as_delivered(caplog, code):
    with Server() as other, Server((code, other.url)) as server:
        hook = Webhook(server.url, headers={"X-Token": "secret"}, retries=3, **QUICK)
        hook(change())
        assert hook.join(120)
        assert len(server.bodies) == 1
        assert other.bodies == []  # neither the change, as a GET, nor the token
    assert "redirects are not followed" in caplog.text
    assert other.url not in caplog.text


END_AT_ONCE = """
import atexit
import sys
import time
from tests.monitor.test_change import change
from ipdp.monitor.notify import Webhook
atexit.register(lambda: print(time.monotonic() - end))  # after what is registered later
hook = Webhook(sys.argv[1], timeout=100, backoff=0.01, at_exit=float(sys.argv[2]))
for _ in range(3):
    hook(change())
end = time.monotonic()
"""


def ended_at_once(url, at_exit):
    """How long a program takes to end right after its last changes, and what it writes."""
    command = [sys.executable, "-c", END_AT_ONCE, url, str(at_exit)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return float(ended.stdout), ended.stderr


def test_what_waits_at_the_end_of_the_program_is_posted():
    with Server(500) as server:
        _, said = ended_at_once(server.url, 60)
        assert said == ""
        assert len(server.bodies) == 4


def test_the_end_of_the_program_is_not_held_up_for_long():
    with Server("hang") as server:
        seconds, said = ended_at_once(server.url, 0.2)
    assert 0.2 <= seconds < 60  # the server hangs for 120
    assert "webhook: 3 changes were not posted before the program ended" in said


def test_the_log_line(caplog):
    with caplog.at_level(logging.INFO, logger="drift"):
        LogLine(level=logging.INFO, name="drift")(change())
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert change().summary() in record.getMessage()


def test_a_handler_that_raises_does_not_stop_the_others(caplog):
    called = []

    def broken(_):
        raise RuntimeError("no paper")

    notify([broken, called.append], change())
    assert len(called) == 1
    assert "no paper" in caplog.text


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        ({"url": "ftp://x"}, "url must start with"),
        ({"url": "https://me:secret@x/hook"}, "must not hold a user name or a password"),
        ({"url": "htps://hooks/T000/hunter2"}, "url must start with"),
        ({"url": "http://hooks/T000/hunter2 "}, "no spaces"),
        ({"url": "http://hooks/T000/hunter2\u00e9"}, "printable ASCII"),
        ({"url": "http://hooks:hunter/hunter2"}, "a number for its port"),
        ({"url": "http://[hooks/hunter2"}, "must have a host"),
        ({"url": "http:///hunter2"}, "must have a host"),
        ({"url": f"http://{'a' * 70}/hunter2"}, "must have a host"),
        ({"headers": {"Authorization": "Bearer hunter2\n"}}, "'Authorization' has characters"),
        ({"headers": {"A: b\r\nC": "hunter2"}}, "characters that no header can hold"),
        ({"headers": {"A": "hunter2\u4e2d"}}, "letters beyond latin-1"),
        ({"timeout": float("nan")}, "must be positive"),
        ({"timeout": float("inf")}, "must be positive"),
        ({"backoff": float("nan")}, "not be negative"),
        ({"timeout": 0}, "must be positive"),
        ({"retries": -1}, "retries must be a whole number"),
        ({"queue_size": 0}, "queue_size must be a whole number"),
        ({"at_exit": -1}, "not be negative"),
    ],
)
def test_wrong_settings(setup, says):
    with pytest.raises(ValueError, match=says) as error:
        Webhook(**{"url": "http://x"} | setup)
    assert "hunter2" not in str(error.value)


def test_what_a_post_fails_of_is_not_quoted_with_its_secrets(caplog):
    hook = Webhook("http://127.0.0.1:9/T000/hunter2", **QUICK)
    hook.headers["Authorization"] = "Bearer hunter2\n"  # past the check
    hook(change())
    assert hook.join(60)
    (record,) = caplog.records
    assert record.getMessage().startswith("webhook: could not post ")
    assert record.exc_info is None
    assert "hunter2" not in caplog.text
    assert "hunter2" not in repr(Webhook("http://127.0.0.1:9?hunter2"))


def test_the_old_name_of_the_module():
    with pytest.warns(DeprecationWarning, match=r"ipdp\.monitor\.handlers is now"):
        old = importlib.import_module("ipdp.monitor.handlers")
    assert old.Webhook is Webhook
    assert ipdp.monitor.handlers.LogLine is LogLine


@pytest.mark.parametrize(
    ("only", "passed"),
    [
        ({}, ["real", "virtual", "both", "missing"]),
        ({"about": ["real"]}, ["real", "both"]),
        ({"about": ["both"]}, ["both"]),
        ({"about": ["missing"]}, ["missing"]),
        ({"about": ["virtual"], "features": ["salary"]}, ["virtual", "both", "missing"]),
        ({"features": ["age"]}, []),
    ],
)
def test_a_handler_gets_what_it_is_for(only, passed):
    got = []
    changes = {kind: change(kind=kind) for kind in ("real", "virtual", "both")}
    missing = Move("salary", "missing", 5140, 60, before=0.0, after=0.5)
    changes["missing"] = change(kind="virtual", move=missing)
    for found in changes.values():
        notify([Only(got.append, **only)], found)
    assert got == [changes[name] for name in passed]


def test_names_are_text_in_a_chat_and_in_a_terminal(caplog):
    odd = replace(change(), feature="<!channel> <http://evil|click>\x1b[2J\nERROR forged")
    with Server(404) as server:
        hook = Webhook(server.url, run="a & b", **QUICK)
        hook(odd)
        assert hook.join(60)
        LogLine()(odd)
    (_, body), *_ = server.bodies
    assert body["text"].startswith("a &amp; b, t = ")
    assert "&lt;!channel&gt; &lt;http://evil|click&gt;" in body["text"]
    assert "<" not in body["text"]
    assert body["text"].isprintable()
    assert body["change"]["feature"] == odd.feature
    for record in caplog.records:
        assert record.getMessage().isprintable()
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 404 \x1b[2Jgone\r\n\r\n",
        b"what?\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000,
    ],
    ids=["escape", "no HTTP", "many headers", "long header"],
)
def test_an_answer_of_any_kind_is_one_line_in_the_log(answer, caplog):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            connection, _ = listening.accept()
            with connection:
                asked = b""
                while not asked.endswith(b"}}"):
                    asked += connection.recv(1 << 16)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        hook = Webhook(f"http://127.0.0.1:{listening.getsockname()[1]}/", retries=0, timeout=10.0)
        hook(change())
        assert hook.join(60)
        thread.join(60)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("webhook: gave up on ")
    assert record.getMessage().isprintable()
    assert record.exc_info is None
