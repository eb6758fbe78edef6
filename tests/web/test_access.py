"""Who is let in, and what is refused."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient
from tests.web.logs import write_run

from ipdp.web import make_app, new_token, serve

TOKEN = "a-token-to-test-with"
PATHS = ["/", "/runs.json", "/runs/loans", "/runs/loans.json", "/runs/loans/features/0.json"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    parent = tmp_path_factory.mktemp("runs")
    write_run(parent / "loans", 500, changes=())
    write_run(parent / "more", 500, changes=())
    (parent / "secret.txt").write_text("not for you")
    return parent


@pytest.fixture(scope="module")
def client(directory):
    with TestClient(make_app(directory), base_url="http://127.0.0.1:8321") as client:
        yield client


@pytest.fixture
def guarded(directory):
    app = make_app(directory, token=TOKEN, host="0.0.0.0")
    with TestClient(app, base_url="http://192.0.2.7:8321") as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "192.0.2.7", "", "[::2]"],
)
def test_a_foreign_host_is_refused(client, path, host):
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 421
    assert "not reached by that name" in answer.json()["error"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:8321", "[::1]:8321", "LOCALHOST", "127.0.0.2"]
)
def test_this_machine_is_let_in(client, host):
    assert client.get("/runs.json", headers={"host": host}).status_code == 200


def test_a_name_of_its_own(directory):
    app = make_app(directory, names=["ipdp.example"])
    with TestClient(app, base_url="http://ipdp.example") as client:
        assert client.get("/runs.json").status_code == 200
        assert client.get("/runs.json", headers={"host": "other.example"}).status_code == 421


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_other_sites_are_not_answered(client, path, headers):
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert "other sites" in answer.json()["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:8321"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a link to here
    ],
)
def test_the_page_itself_and_links_to_it_are_answered(client, headers):
    assert client.get("/runs.json", headers=headers).status_code == 200


def test_a_proxy_may_have_another_name(directory):
    app = make_app(directory, names=["ipdp.example"])
    with TestClient(app, base_url="http://127.0.0.1:8321") as client:
        answer = client.get("/runs.json", headers={"origin": "https://ipdp.example"})
        assert answer.status_code == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer " + "é" * 20},
        {"cookie": f"ipdp-token={TOKEN}"},
        {"cookie": "ipdp-token="},
    ],
    ids=["none", "wrong", "basic", "odd", "bare cookie", "empty cookie"],
)
def test_without_the_token_nothing_is_shown(guarded, path, headers):
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = guarded.get(path, headers=raw)
    assert answer.status_code == 401
    assert "token" in answer.json()["error"]
    assert guarded.get(f"{path}?token=wrong").status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(guarded):
    answer = guarded.get(f"/runs/loans?token={TOKEN}&x=1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/loans?x=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert guarded.get("/runs/loans.json").status_code == 200


def test_redirects_stay_here(guarded):
    answer = guarded.get(
        f"http://192.0.2.7:8321//evil.example/?token={TOKEN}", follow_redirects=False
    )
    assert answer.headers["location"].startswith("/evil.example")


def test_programs_bring_the_token_as_a_bearer(guarded):
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/runs.json", headers=headers).status_code == 200


def test_a_name_that_points_here_is_no_way_around_the_token(guarded):
    answer = guarded.get(f"/?token={TOKEN}", headers={"host": "evil.example"})
    assert answer.status_code == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", [*PATHS, "/static/style.css"])
def test_the_page_only_answers_questions(client, method, path):
    assert client.request(method, path).status_code == 405


def ask(app, path, query=""):
    """Ask the app itself: a client would tidy the address up first."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http",
        "method": "GET",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1")],
        "scheme": "http",
        "server": ("127.0.0.1", 8321),
    }

    async def ask_and_close():
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)

    asyncio.run(ask_and_close())
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


UP = ["..", "../secret.txt", "..%2Fsecret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt"]
ELSEWHERE = ["secret.txt", "%00", "loans%00", "/etc/passwd", "%2Fetc%2Fpasswd", "."]


@pytest.mark.parametrize("up", [*UP, *ELSEWHERE])
@pytest.mark.parametrize(
    "path",
    [
        "/{}",
        "/runs/{}",
        "/runs/{}.json",
        "/runs/{}/features/0.json",
        "/runs/loans/features/{}.json",
        "/static/{}",
    ],
)
def test_no_path_from_the_address_reaches_the_files(directory, path, up):
    status, body = ask(make_app(directory), path.format(up))
    assert status == 404
    assert b"not for you" not in body


@pytest.mark.parametrize(
    "after", ["../../etc/passwd", "-5", "1e3", "9" * 40, "1.2", "<script>", "%00"]
)
def test_what_makes_no_sense_is_refused(client, after):
    for path in ("/runs/loans.json", "/runs/loans/features/0.json"):
        answer = client.get(f"{path}?after={after}")
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("after must be")


@pytest.mark.parametrize("feature", ["-1", "99", "1.0", "salary", "9" * 30, "0x0", "٣"])
def test_features_that_are_not_there(client, feature):
    assert client.get(f"/runs/loans/features/{feature}.json").status_code == 404


@pytest.mark.parametrize("path", PATHS)
def test_a_query_of_a_megabyte_is_refused(directory, path):
    assert ask(make_app(directory), path, f"after={'1' * 1_000_000}")[0] == 414


@pytest.mark.parametrize("path", [*PATHS, "/absent", "/static/absent"])
def test_every_answer_keeps_the_browser_strict(client, path):
    headers = client.get(path, follow_redirects=False).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert policy.count("unsafe-inline") == 1  # of style attributes, which plotly sets
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/runs/loans"])
def test_no_script_is_in_the_page_itself(client, path):
    page = client.get(path).text
    assert page.count("<script") == page.count("<script src=") + page.count("<script defer src=")
    assert " onclick" not in page


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
def test_others_are_let_in_with_a_token_only(directory, host):
    for start in (make_app, serve):
        with pytest.raises(ValueError, match="give a token"):
            start(directory, host=host)


def test_a_token_must_be_worth_its_name(directory):
    with pytest.raises(ValueError, match="at least 8"):
        make_app(directory, token="short")
    assert new_token() != new_token()
    assert len(new_token()) >= 24
