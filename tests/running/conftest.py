"""A small stream and a small run."""

from __future__ import annotations

import random

import pytest
from river import metrics, tree

import ipdp
from ipdp.runs import Run

from ..checkpoint.conftest import read_only, small_disk

__all__ = ["make", "read_only", "rows", "small_disk"]


def rows(n: int = 400, seed: int = 1):
    """Two features; which side of 0.5 the first is on decides, and that turns around."""
    rng = random.Random(seed)
    for k in range(n):
        x = {"a": rng.random(), "b": rng.gauss(0, 1)}
        yield x, (x["a"] > 0.5) ^ (k > n // 2)


@pytest.fixture
def make():
    """Makes runs of a Hoeffding tree; what is given replaces what is usual."""

    def make(stream=None, **options):
        model = options.pop("model", None) or tree.HoeffdingTreeClassifier(grace_period=20)
        pdp = options.pop("pdp", None) or ipdp.IncrementalPDP(model, ["a", "b"], alpha=0.05, seed=1)
        if options.get("monitor") is True:
            options["monitor"] = ipdp.Monitor(pdp, warm_up=50, cool_down=50, clock=8)
        settings = {"metric": metrics.Accuracy(), "snapshot_every": 50, **options}
        return Run(rows() if stream is None else stream, model, pdp, **settings)

    return make
