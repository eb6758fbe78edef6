"""A browser for the report."""

from __future__ import annotations

import pytest
from tests.report.browser import chromium


@pytest.fixture(scope="session")
def browser():
    with chromium() as browser:
        yield browser
