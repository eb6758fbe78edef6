"""Whoever is told of a change cannot stop the stream: not by raising, hanging or being slow."""

import json
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.monitor.test_change import change

from ipdp.monitor.handlers import LogLine, Webhook, tell

QUICK = {"timeout": 1.0, "backoff": 0.01}


class Server:
    """A server on this machine that answers as it is told and remembers what it got."""

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
                    server.release.wait(10)
                    return
                self.send_response(answer)
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
        assert hook.join(5)
        ((headers, body),) = server.bodies
    assert headers["X-Token"] == "secret"
    assert headers["Content-Type"] == "application/json"
    assert body["text"] == f"t = 10,312: {change().summary()}"
    assert body["change"]["feature"] == "salary"


def test_a_webhook_tries_again_and_then_goes_on(caplog):
    with Server(500, 503, 200, 500, 500, 500) as server:
        hook = Webhook(server.url, retries=2, **QUICK)
        hook(change())
        assert hook.join(5)
        assert len(server.bodies) == 3
        assert not caplog.records
        hook(change())
        assert hook.join(5)
        assert len(server.bodies) == 6
    assert "gave up" in caplog.text
    assert server.url not in caplog.text


def test_a_webhook_does_not_insist_when_it_is_refused(caplog):
    with Server(404) as server:
        hook = Webhook(server.url, retries=5, **QUICK)
        hook(change())
        assert hook.join(5)
        assert len(server.bodies) == 1
    assert "gave up" in caplog.text


def test_nobody_there(caplog):
    with Server() as server:
        url = server.url
    hook = Webhook(url, retries=1, **QUICK)
    hook(change())
    assert hook.join(5)
    assert "gave up" in caplog.text


def test_a_server_that_hangs_blocks_nothing_and_drops_are_loud(caplog):
    with Server("hang") as server:
        hook = Webhook(server.url, retries=0, timeout=5.0, queue_size=2)
        hook(change())
        while not server.bodies:  # the first one is on its way
            time.sleep(0.005)
        start = time.perf_counter()
        for _ in range(5):
            hook(change())
        # Five calls that only fill a queue; a second is generous on a busy machine.
        assert time.perf_counter() - start < 1
        assert caplog.text.count("is dropped") == 3
        server.release.set()
        assert hook.join(10)


def test_the_log_line(caplog):
    with caplog.at_level(logging.INFO, logger="drift"):
        LogLine(level=logging.INFO, name="drift")(change())
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert change().summary() in record.getMessage()


def test_a_handler_that_raises_does_not_keep_the_others_from_being_told(caplog):
    told = []

    def broken(_):
        raise RuntimeError("no paper")

    tell([broken, told.append], change())
    assert len(told) == 1
    assert "no paper" in caplog.text


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        ({"url": "ftp://x"}, "url must start with"),
        ({"timeout": 0}, "must be positive"),
        ({"retries": -1}, "not < 0"),
        ({"queue_size": 0}, "must be positive"),
    ],
)
def test_wrong_settings(setup, says):
    with pytest.raises(ValueError, match=says):
        Webhook(**{"url": "http://x"} | setup)
