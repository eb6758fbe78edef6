"""The tests of the walk need the compiled one."""

from __future__ import annotations

import importlib
import shutil
import sysconfig

import pytest

from ipdp.models.forests import kernels


@pytest.fixture(scope="module", autouse=True)
def walk():
    """The compiled walk, also where the pure build runs."""
    before = kernels.current
    try:
        kernels.current = importlib.import_module("ipdp.models.forests.kernels._ice")
    except ImportError:
        compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
        if shutil.which(compiler) is None:
            pytest.skip("the walk is not compiled, and there is no C compiler here")
        pytest.fail("the walk is not compiled: run `python setup.py build_ext --inplace`")
    yield
    kernels.current = before
