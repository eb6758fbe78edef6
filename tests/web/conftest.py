"""A browser, and a server with runs to look at."""

from __future__ import annotations

import pytest
from tests.web.browser import chromium
from tests.web.logs import EVIL, write_run

from ipdp.log import Log
from ipdp.web import background


@pytest.fixture(scope="session")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """Runs in all states."""
    directory = tmp_path_factory.mktemp("runs")
    write_run(directory / "loans")
    write_run(directory / "<b>evil", 600, features=EVIL, changes=(500,))
    write_run(directory / "died", 400, changes=(), state="died")
    write_run(directory / "failed", 400, changes=(), state="failed")
    with Log(directory / "empty") as log:
        log.begin({}, ["a"])
    (directory / "broken.db").write_text("this is no database")
    return directory


@pytest.fixture(scope="session")
def address(directory):
    with background(directory) as address:
        yield address
