"""Debian's Chromium, driven by Playwright, with an eye on all that should not happen."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlparse

import pytest

_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TIMEOUT = 120_000
"""Milliseconds after which a test has failed: a busy machine takes its time."""

# How many questions to the server have no answer yet: until then nothing is settled.
_COUNT_QUESTIONS = """
window.asking = 0;
const ask = window.fetch;
window.fetch = (...asked) => {
    window.asking += 1;
    const answered = () => setTimeout(() => { window.asking -= 1; });
    return ask(...asked).then((answer) => {
        const read = answer.json.bind(answer);
        answer.json = () => read().finally(answered);
        return answer;
    }, (error) => { answered(); throw error; });
};
"""
SIZES = {"phone": (390, 844), "desktop": (1440, 900)}


_open = ExitStack()
_users = []


@contextmanager
def chromium():
    """The browser, one for all; tests that need it are skipped where there is none."""
    if not _users:
        _users.append(_open.enter_context(_launched()))
    browser = _users[0]
    _users.append(browser)
    yield browser
    _users.pop()
    if len(_users) == 1:
        _users.clear()
        _open.close()


@contextmanager
def _launched():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip("no chromium: install it with `apt install chromium` to test the page itself")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGS)
        yield browser
        browser.close()


@contextmanager
def visit(browser, address, *, size="desktop", dark=False):
    """A page that must have no error, run no dialog and ask nobody else."""
    width, height = SIZES[size]
    phone = size == "phone"
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        has_touch=phone,
        is_mobile=phone,
        reduced_motion="reduce",
    )
    context.set_default_timeout(TIMEOUT)
    context.add_init_script(_COUNT_QUESTIONS)
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "console",
        lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.on(
        "request",
        lambda request: None if _is_here(request.url) else wrong.append(f"asks {request.url}"),
    )
    page.goto(address)
    try:
        yield page
        assert wrong == []
    finally:
        context.close()


def _is_here(address):
    parts = urlparse(address)
    return parts.scheme in ("file", "data", "blob") or parts.hostname == "127.0.0.1"


def until(page, expression, arg=None, seconds=TIMEOUT / 1000):
    """Wait until it is true. (Playwright's own way needs eval, which the page forbids.)"""
    end = time.monotonic() + seconds
    while not _is_so(page, expression, arg):
        assert time.monotonic() < end, f"still not so: {expression}"
        page.wait_for_timeout(20)


def _is_so(page, expression, arg):
    """Whether it is true; while the page goes to another one, nothing is."""
    from playwright.sync_api import Error

    try:
        return page.evaluate(expression, arg)
    except Error as error:
        if "context was destroyed" in str(error) or "Cannot find context" in str(error):
            return False
        raise


def drawn(page):
    """Wait until the curve is drawn."""
    until(page, "document.querySelector('#curve .main-svg') !== null")


def traces(page, plot="curve"):
    """The data of a plot, read back from plotly itself."""
    return page.evaluate(
        """(plot) => document.getElementById(plot).data.map((trace) => ({
            meta: trace.meta, x: Array.from(trace.x), y: Array.from(trace.y || []),
            z: trace.z, customdata: trace.customdata,
        }))""",
        plot,
    )


def trace(page, plot="curve", **meta):
    """The one trace with these marks."""
    found = [
        trace
        for trace in traces(page, plot)
        if all(trace["meta"].get(name) == value for name, value in meta.items())
    ]
    assert len(found) == 1, [trace["meta"] for trace in traces(page, plot)]
    return found[0]


_IS_SETTLED = """(!window.asking
    && (!window.ipdp || !ipdp.page || !ipdp.page.dirty || !ipdp.page.dirty.size))"""
_NEXT_FRAME = "new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)))"


def settled(page):
    """Wait until what was asked for is there and drawn."""
    until(page, _IS_SETTLED)
    # What came last is drawn with the next frame, and the plots over time right after it.
    while not page.evaluate(f"{_NEXT_FRAME}.then(() => {_IS_SETTLED})"):
        until(page, _IS_SETTLED)


def go_to(page, place):
    """Move the slider to a snapshot, as a hand would."""
    page.evaluate(
        """(place) => {
            const slider = document.getElementById("slider");
            slider.value = place;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        place,
    )
    settled(page)
