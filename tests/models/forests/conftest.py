"""The tests of the walk need the compiled one."""

from __future__ import annotations

import importlib

import pytest
from tests.builds import nothing_compiled

from ipdp.models.forests import kernels


@pytest.fixture(scope="module", autouse=True)
def walk():
    """The compiled walk, also where the pure build runs."""
    before = kernels.current
    try:
        kernels.current = importlib.import_module("ipdp.models.forests.kernels._ice")
    except ImportError:
        nothing_compiled()
    yield
    kernels.current = before
