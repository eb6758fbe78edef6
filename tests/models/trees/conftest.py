"""Every test of the walk runs in both builds."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from tests.builds import BUILD_IT, IS_CHECKOUT, nothing_compiled

import ipdp
from ipdp.core import kernels as core
from ipdp.core.kernels.build import EXTENSIONS
from ipdp.models.river import kernels as parts
from ipdp.models.trees import kernels


def compiled_kernels():
    """The compiled build, as new as its sources."""
    try:
        built = kernels.compiled()
    except ImportError:
        nothing_compiled()
    if not IS_CHECKOUT:  # what is in a wheel was made together, and is as new as its installation
        return built
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
