"""Every test of the walk runs in both builds."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

import ipdp
from ipdp.core import kernels as core
from ipdp.core.kernels.build import EXTENSIONS
from ipdp.models.river import kernels as parts
from ipdp.models.trees import kernels

BUILD_IT = "build it with `pip install -e .`, or `python setup.py build_ext --inplace`"


def compiled_kernels():
    """The compiled build, as new as its sources."""
    try:
        built = kernels.compiled()
    except ImportError:
        compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
        if shutil.which(compiler) is None:
            pytest.skip("the walk is not compiled, and there is no C compiler here")
        pytest.fail(f"the walk is not compiled, though {compiler} is there: {BUILD_IT}")
    package = Path(ipdp.__file__).parent
    for full_name in EXTENSIONS:
        _, *rooms, name = full_name.split(".")
        room = package.joinpath(*rooms)
        (extension,) = room.glob(f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
        for source in (room / f"{name[1:]}.py", room / f"{name}.pxd"):
            if source.stat().st_mtime > extension.stat().st_mtime:
                pytest.fail(f"{extension.name} is older than {source.name}: {BUILD_IT}")
    return built


@pytest.fixture(scope="module", params=["pure", "compiled"], autouse=True)
def build(request):
    """The build that runs."""
    before = kernels.current, parts.current, core.current
    if request.param == "pure":
        kernels.current, parts.current, core.current = kernels.PURE, parts.PURE, core.array
    else:
        kernels.current, parts.current = compiled_kernels(), parts.compiled()
        core.current = core.installed()
    yield request.param
    kernels.current, parts.current, core.current = before
