"""What a test does that needs the compiled build where there is none."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path
from typing import NoReturn

import pytest

import ipdp

IS_CHECKOUT = Path(ipdp.__file__).resolve().is_relative_to(Path(__file__).resolve().parents[1])
"""Whether it is the sources here that are tested, and not a wheel that was installed."""

BUILD_IT = "build it with `pip install -e .`, or `python setup.py build_ext --inplace`"


def nothing_compiled() -> NoReturn:
    """Skip where nothing can be compiled or is to be; else it was forgotten, which is an error."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip("the loops are not compiled, and there is no C compiler here")
    if not IS_CHECKOUT or os.environ.get("IPDP_PURE"):
        pytest.skip("the pure build is tested, which has nothing compiled to compare with")
    pytest.fail(f"the loops are not compiled, though {compiler} is there: {BUILD_IT}")
