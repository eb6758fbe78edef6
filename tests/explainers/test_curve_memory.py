"""Observations that are folded in some at a time: nobody notices."""

import random
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import ipdp
from ipdp.core import kernels
from ipdp.explainers.state import curve_memory


def test_it_does_not_matter_when_it_is_read():
    """Observations are folded in some at a time, at the latest when something is read."""
    draws = random.Random(5)
    stream = [{"a": draws.gauss(0, 1), "b": draws.gauss(0, 1)} for _ in range(150)]
    pdps = [ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], alpha=0.05, seed=1) for _ in range(2)]
    for k, x in enumerate(stream):
        for pdp in pdps:
            pdp.explain_one(x)
        if k % 7 == 0 and k > 30:
            curve = pdps[0].curve("a")
            assert curve.n_samples == k + 1 - 20
    for feature, curve in pdps[0].curves.items():
        other = pdps[1].curve(feature)
        for name in ("average", "std_error", "ice_spread", "explained"):
            assert getattr(curve, name) == pytest.approx(getattr(other, name), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("estimator", ["regrid", "pointwise"])
def test_what_was_looked_at_once_is_folded_in_as_any_other(estimator, monkeypatch):
    """To the last bit where that is compiled, else to rounding."""
    draws = random.Random(6)
    stream = [{"a": draws.gauss(0, 1 + k / 99), "b": draws.choice("uvw")} for k in range(120)]
    pdps = []
    for pure in (None, kernels.current):
        build = SimpleNamespace(current=kernels.current, array=pure)
        monkeypatch.setattr(curve_memory, "kernels", build)
        pdp = ipdp.IncrementalPDP(
            lambda x: x["a"] * (x["b"] == "u"), estimator=estimator, alpha=0.05, seed=1
        )
        for k, x in enumerate(stream):
            pdp.explain_one(x, w=1.0 + k % 3)
        pdps.append(pdp)
    assert [pdp.memory._step is not None for pdp in pdps] == [True, False]
    if kernels.current is not kernels.array:
        assert pdps[0].state == pdps[1].state
    for feature, curve in pdps[0].curves.items():
        other = pdps[1].curve(feature)
        assert curve.n_samples == other.n_samples
        for name in ("average", "std_error", "ice_spread", "explained"):
            assert getattr(curve, name) == pytest.approx(getattr(other, name), rel=1e-9, abs=1e-12)


def test_what_is_folded_in_goes_to_the_means_that_a_memory_has_now():
    draws = random.Random(7)
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], alpha=0.05, seed=1)
    for _ in range(60):
        pdp.explain_one({"a": draws.gauss(0, 1)})
    memory = pdp.memory
    means, spreads = memory.means, memory.spreads
    memory.means, memory.spreads = means.copy(), spreads.copy()
    for _ in range(20):
        pdp.explain_one({"a": draws.gauss(0, 1)})
    assert (memory.means.smoothing.n, means.smoothing.n) == (60, 40)
    assert (memory.spreads.own.n, spreads.own.n) == (60, 40)


def test_a_model_may_use_its_array_again():
    answer = np.zeros(6)

    def model(X):
        answer[:] = X[:, 0] * X[:, 1]
        return answer

    engine = ipdp.models.engine(model, takes="array")
    grid = ipdp.grid.Fixed([0.0, 1.0, 2.0])
    pdp = ipdp.IncrementalPDP(engine, ["a", "b"], alpha=None, grid=grid)
    for k in range(10):
        pdp.explain_one({"a": 1.0, "b": float(k)})
    assert pdp.curve("a").average[0] == pytest.approx([0.0, 4.5, 9.0])
    assert pdp.curve("a").ice[0, :, 1].tolist() == list(range(10))


def test_another_thread_may_read_meanwhile():
    grid = ipdp.grid.Fixed([0, 1])
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], alpha=None, grid=grid, n_ice=0)
    pdp.explain_one({"a": 0.0})
    found, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            found.append(pdp.curve("a").n_samples)

    reader = threading.Thread(target=read)
    reader.start()
    for a in range(1_000):
        pdp.explain_one({"a": float(a)})
    stop.set()
    reader.join()
    assert found == sorted(found)
    assert pdp.curve("a").n_samples == 1_001
    assert pdp.curve("a").average.tolist() == [[0.0, 1.0]]
