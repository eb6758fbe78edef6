"""Others at the live page, seen by a real browser: crowds, other sites, tokens, crafted logs."""

from __future__ import annotations

import http.server
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.web.browser import TIMEOUT, drawn, traces, until, visit
from tests.web.logs import FEATURES, change_at, curve_at, curves_at, write_run

from ipdp.log import Log
from ipdp.web import background, new_token, write_report

TOKEN = "a-token-to-test-with"
POLLERS = 200
NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty"]


def place_of(address):
    parts = urlsplit(address)
    return parts.hostname, parts.port


def poll(place, over, statuses):
    """Ask as a page does, until it is over."""
    import http.client

    while not over.is_set():
        connection = http.client.HTTPConnection(*place, timeout=120)
        try:
            connection.request("GET", "/runs/live.json")
            statuses.append(connection.getresponse().status)
        except OSError as error:
            statuses.append(repr(error))
        finally:
            connection.close()
        over.wait(1.0)


@contextmanager
def crowd(address):
    """Two hundred pollers, and a hundred who say half a word or do not read what they asked for."""
    place, over, statuses = place_of(address), threading.Event(), []
    pollers = [threading.Thread(target=poll, args=(place, over, statuses)) for _ in range(POLLERS)]
    with ExitStack() as stack:
        for k in range(100):
            slow = stack.enter_context(socket.create_connection(place))
            asked = b"GET /static/plotly.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            slow.sendall(asked if k % 2 else asked[: k % 40])
        for poller in pollers:
            poller.start()
        try:
            yield statuses
        finally:
            over.set()
            for poller in pollers:
                poller.join()


def test_a_page_follows_its_run_in_a_crowd(browser, tmp_path):
    with Log(tmp_path / "live") as log, background(tmp_path) as address:
        log.begin({}, FEATURES)
        log.snapshot(curves_at(100), 100)
        log.commit()
        with crowd(address) as statuses, visit(browser, address) as page:
            until(page, "document.querySelector('#curve .main-svg') !== null")
            log.snapshot(curves_at(200), 200)
            log.commit()
            until(page, "document.getElementById('time').textContent === '200'")
    assert len(statuses) >= POLLERS
    assert set(statuses) == {200}


# The token.


@contextmanager
def watching(directory):
    """`ipdp watch` with a token: the link that it prints, and whatever it says afterwards."""
    command = [
        sys.executable,
        "-c",
        "from ipdp.cli import main; main()",
        "watch",
        str(directory),
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        [*command, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "IPDP_TOKEN": TOKEN},
    )
    said = []
    try:
        words = process.stdout.readline().split()
        yield next(word for word in words if word.startswith("http")), said
    finally:
        process.terminate()
        said.append(process.communicate(timeout=300)[0])


@contextmanager
def another_site(page="<p>Hello"):
    """A server of somebody else, and the headers of what it was asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(dict(self.headers))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://evil.localhost:{server.server_port}/", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def loans(tmp_path):
    write_run(tmp_path / "loans", 300, changes=())
    write_run(tmp_path / "more", 300, changes=())
    return tmp_path


@pytest.fixture
def context(browser):
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT)
    yield context
    context.close()


def test_the_token_is_in_the_cookie_only(context, loans):
    page, requests = context.new_page(), []

    def keep(request):  # playwright takes no built-in function
        requests.append(request)

    context.on("request", keep)
    with watching(loans) as (link, said), another_site() as (elsewhere, asked):
        assert TOKEN in link
        page.goto(link)
        page.click("text=loans")
        drawn(page)
        assert TOKEN not in page.url
        assert page.evaluate(
            "document.cookie + JSON.stringify([localStorage, sessionStorage])"
        ) == ("[{},{}]")
        (cookie,) = context.cookies()
        assert TOKEN not in str(cookie)
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        # What is asked after the first request has no token in it, and says not from where.
        first, *later = requests
        assert TOKEN in first.url
        assert not [request.url for request in later if TOKEN in request.url]
        sent = [request.all_headers() for request in requests]
        assert any("host" in headers for headers in sent)  # as they were sent
        assert not any(headers.get("referer") for headers in sent)
        assert page.evaluate("document.referrer") == ""
        assert TOKEN not in page.content()
        page.evaluate("(to) => { location.href = to; }", elsewhere)
        page.wait_for_url(elsewhere)
        assert "Referer" not in asked[0]
        assert TOKEN not in str(asked)
        # Nor is the link with the token in what one can go back to.
        page.go_back()
        drawn(page)
        while page.evaluate("history.length") and page.go_back():
            assert TOKEN not in page.url
    assert TOKEN not in "".join(said)


def test_two_ports_have_a_cookie_each(context, loans):
    tokens = new_token(), new_token()
    page = context.new_page()
    with (
        background(loans, token=tokens[0]) as first,
        background(loans, token=tokens[1]) as second,
    ):
        for link in (first, second):
            assert page.goto(link).status == 200
        for link in (first, second):
            assert page.goto(link.partition("?")[0]).status == 200
        assert len(context.cookies()) == 2


# Other sites.

ATTEMPTS = """async (target) => {
    const of = (work) => work.then((answer) => answer.type, () => "refused");
    const loaded = (name, address) => new Promise((done) => {
        const node = document.createElement(name);
        node.onload = () => done("loaded");
        node.onerror = () => done("refused");
        node.src = address;
        document.body.append(node);
    });
    const socket = new Promise((done) => {
        const opened = new WebSocket(target.replace("http", "ws") + "runs.json");
        opened.onopen = () => done("opened");
        opened.onerror = () => done("refused");
    });
    return {
        read: await of(fetch(target + "runs.json")),
        sent: await of(fetch(target + "runs.json", { method: "POST", body: "x" })),
        script: await loaded("script", target + "runs.json"),
        picture: await loaded("img", target + "runs/loans.json"),
        socket: await socket,
    };
}"""


def test_another_site_reads_nothing(context, loans):
    page, statuses = context.new_page(), []
    with background(loans) as address, another_site() as (elsewhere, _):
        host = urlsplit(address).netloc
        page.on(
            "response",
            lambda answer: statuses.append(answer.status) if host in answer.url else None,
        )
        page.goto(elsewhere)
        assert set(page.evaluate(ATTEMPTS, address).values()) == {"refused"}
        assert set(statuses) <= {403}
        # It cannot show the page as its own either.
        page.evaluate(
            """(address) => new Promise((done) => {
                const frame = document.createElement("iframe");
                frame.onload = done;
                frame.src = address;
                document.body.append(frame);
            })""",
            f"{address}runs/loans",
        )
        (_, frame) = page.frames
        assert "loans" not in frame.content()
        # A link to it may be followed.
        page.evaluate("(to) => { location.href = to; }", f"{address}runs/loans")
        drawn(page)


def test_a_name_that_was_made_to_point_here_shows_nothing(context, loans):
    page = context.new_page()
    with background(loans) as address:
        rebound = address.replace("127.0.0.1", "rebound.localhost")
        for path in ("", "runs.json", "runs/loans.json"):
            answer = page.goto(rebound + path)
            assert answer.status == 421
            assert "not reached by that name" in page.content()


# Crafted logs.

CRAFTED = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON metrics BEGIN DELETE FROM run; END",
    "view": "ALTER TABLE run RENAME TO real; CREATE VIEW run AS SELECT * FROM real",
    "endless": "ALTER TABLE run RENAME TO real; CREATE VIEW run AS WITH RECURSIVE r(k) AS "
    "(SELECT 1 UNION ALL SELECT k + 1 FROM r) SELECT k AS id FROM r",
    "giant": "UPDATE curves SET curve = zeroblob(100000000) WHERE n = 300 AND feature = 1",
    "deep": f"UPDATE run SET settings = '{'[' * 100_000}'",
    "script": "UPDATE run SET state = 'failed', message = '<img src=x onerror=alert(1)>'",
}


@pytest.fixture
def crafted(tmp_path):
    for name, statements in CRAFTED.items():
        write_run(tmp_path / name, 300, changes=())
        with closing(sqlite3.connect(tmp_path / name / "log.db")) as connection:
            connection.executescript(statements)
    write_run(tmp_path / "good", 300, changes=())
    return tmp_path


def test_crafted_logs_say_so_and_leave_others_alone(browser, crafted):
    before = {path: path.read_bytes() for path in crafted.rglob("log.db")}
    with background(crafted) as address, visit(browser, address) as page:
        until(page, "document.querySelectorAll('.run-headline').length === 7")
        said = {
            row.locator(".run-title").inner_text(): row.inner_text()
            for row in page.locator("#runs .run").all()
        }
        for name in ("trigger", "view", "endless"):
            assert "no log that ipdp has written" in said[name]
        assert "<img" in said["script"]
        page.click("text=good")
        drawn(page)
        context = browser.new_context()
        for name in ("trigger", "view", "endless", "giant", "deep"):
            odd = context.new_page()
            odd.goto(f"{address}runs/{name}")
            until(odd, "document.getElementById('banner').textContent.length > 10")
            odd.close()
        context.close()
    assert {path: path.read_bytes() for path in crafted.rglob("log.db")} == before


# Names.


def write_odd(path):
    """A run whose features, metrics and settings are called as what every object of a page has."""
    with Log(path) as log:
        log.begin(dict.fromkeys(NAMES, "x"), NAMES)
        for n in (100, 200, 300):
            rng = np.random.default_rng(n)
            log.snapshot({name: curve_at(name, n, rng) for name in NAMES}, n)
            log.metric(dict.fromkeys(NAMES, 1 - 1 / n), n)
        log.change(change_at(300, "constructor"), 300)
        log.end(300)
    return path


def test_names_that_every_object_has(browser, tmp_path):
    run = write_odd(tmp_path / "constructor")
    report = write_report(run, tmp_path / "report.html")
    with (
        background(run) as address,
        visit(browser, address) as live,
        visit(browser, f"{report.as_uri()}#explore") as opened,
    ):
        for page in (live, opened):
            drawn(page)
            until(page, "(document.getElementById('timeline').data || []).length > 0")
            metrics = [
                one["meta"]["name"]
                for one in traces(page, "timeline")
                if one["meta"]["part"] == "metric"
            ]
            assert metrics == NAMES[:3]  # there is room for three
            for k, name in enumerate(NAMES):
                page.click(f"[data-feature='{k}']")
                until(
                    page,
                    "(name) => document.getElementById('caption').textContent.includes(name)",
                    name,
                )


def test_a_run_called_as_an_address_of_another(browser, tmp_path):
    for name in ("x", "x.json", "x.html"):
        (tmp_path / name).mkdir()
        write_run(tmp_path / name, 300, changes=())
    with background(tmp_path) as address:
        for name in ("x", "x.json", "x.html"):
            with visit(browser, address) as page:
                page.click(f".run-title:text-is('{name}')")
                drawn(page)
                assert page.inner_text("#run-name") == name
                assert page.locator("#runs option").count() == 3
                assert name in page.locator("#runs option:checked").inner_text()
                page.click("#to-document")
                page.wait_for_url(f"**/runs/{name}.html")
                assert name in page.title()


def test_names_of_directories_that_are_not_utf_8(browser, tmp_path):
    write_run(tmp_path / "good", 300, changes=())
    try:
        for name in (b"l\xf6we", b"l\xf7we"):
            shutil.copytree(tmp_path / "good", tmp_path / os.fsdecode(name))
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    with background(tmp_path) as address, visit(browser, address) as page:
        until(page, "document.querySelectorAll('.run-headline').length === 3")
        page.click("text=xf7we")
        drawn(page)
        assert page.inner_text("#run-name") == "l\\xf7we"
