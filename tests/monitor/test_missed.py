"""Changes of a model on streams with memory, and changes that differ between observations."""

import numpy as np
import pytest
from scipy.signal import lfilter

from ipdp import IncrementalPDP, Monitor, models

NAMES = ["a", "b", "c"]


def with_memory(rho, n, seed):
    """Rows of three autoregressive columns with a variance of 1."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 3)) * np.sqrt(1 - rho**2)
    noise[0] = rng.normal(size=3)
    return lfilter([1.0], [1.0, -rho], noise, axis=0)


def watched(model, **setup):
    pdp = IncrementalPDP(models.engine(model, takes="array"), NAMES, alpha=0.005, n_ice=32)
    return Monitor(pdp, **{"warm_up": 500} | setup)


@pytest.mark.parametrize("seed", [6, 8, 9, 11])
def test_a_reversal_after_many_moves_of_the_data(seed):
    now = {"slope": 1.0}
    monitor = watched(lambda X: now["slope"] * X[:, 0] + X[:, 1] * X[:, 2])
    X = with_memory(0.99, 6_000, seed)
    monitor.explain_many(X[:3_000], names=NAMES)
    assert not [change for change in monitor.changes if change.kind != "virtual"]
    now["slope"] = -1.0
    monitor.explain_many(X[3_000:], names=NAMES)
    found = [change for change in monitor.changes if change.kind != "virtual"]
    assert {change.feature for change in found} == {"a"}


@pytest.mark.parametrize("seed", range(4))
def test_a_change_that_differs_between_observations(seed):
    now = {"slope": 0.0}
    monitor = watched(lambda X: X[:, 0] + X[:, 1] + now["slope"] * X[:, 0] * (0.6 + X[:, 2]))
    X = np.random.default_rng(seed).normal(size=(6_000, 3))
    monitor.explain_many(X[:2_000], names=NAMES)
    assert monitor.changes == []
    now["slope"] = 1.0
    monitor.explain_many(X[2_000:], names=NAMES)
    assert [change.feature for change in monitor.changes if change.kind == "real"][:1] == ["a"]
