"""The tests of the walk need the compiled loops."""

from __future__ import annotations

import pytest
from tests.builds import nothing_compiled

from ipdp.models.forests import kernels


@pytest.fixture(scope="module", autouse=True)
def walk():
    """The compiled loops, also where the pure build runs."""
    before = kernels.current
    try:
        kernels.current = kernels.compiled()
    except ImportError:
        nothing_compiled()
    yield
    kernels.current = before
