"""What all rooms have in common."""

from __future__ import annotations

import pytest

from ipdp.core import kernels
from ipdp.explainers.segments import groups
from ipdp.explainers.state import curve_memory


@pytest.fixture(autouse=True, scope="module")
def _one_by_one(request):
    """In the pure build observations are folded in one by one, so that tests can compare bits.

    There a sum over several depends on how many they are, which reading decides, to rounding; the
    compiled build has no such difference. The tests of runs compare to rounding, of several
    together, as they are for a user; those of the kernels compare the builds.
    """
    with pytest.MonkeyPatch.context() as patch:
        if kernels.current is kernels.array and request.path.parent.name != "runs":
            for module in (curve_memory, groups):
                patch.setattr(module, "_TOGETHER", 1)
        yield
