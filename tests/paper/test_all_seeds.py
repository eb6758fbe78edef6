"""Every experiment at full size on five seeds: all bounds hold on each of them.

elec2 and california need their data, in the directory that IPDP_DATA names or from the network.
"""

from __future__ import annotations

import pytest

from ipdp import paper

pytestmark = pytest.mark.slow

# Only vicprice has bounds, and its curve does not depend on the others.
OPTIONS = {"elec2": {"features": ["vicprice"]}}


@pytest.mark.parametrize("seed", range(42, 47))
@pytest.mark.parametrize("name", paper.EXPERIMENTS)
def test_all_bounds_hold(name, seed, tmp_path):
    results = paper.run_experiment(
        name, [seed], out=tmp_path, progress=None, options=OPTIONS.get(name)
    )
    assert [row for row in results.rows if row.agrees is False and not row.known] == []
    assert results.figures
