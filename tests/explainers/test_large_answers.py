"""Answers of any size that is taken: what is read of them is finite, and nothing overflows."""

import json
import random

import numpy as np
import pytest

import ipdp
from ipdp.log import Log, LogReader

SIZES = [1e-120, 1e69]


def slope(size):
    return lambda x: size * (x["a"] + 0.3 * x["b"]) / 10


def one_answer(size):
    return lambda x: size * (1 + 1e-16 * x["a"]) / 2


def two_outputs(size):
    return lambda x: {"up": size * x["a"] / 10, "down": -size / 2}


def two_levels(size):
    return lambda x: size / 2 if x["a"] > 0 else -size / 2


MODELS = [slope, one_answer, two_outputs, two_levels]


def rows(n=900):
    """Values that depend on those before."""
    rng, a = random.Random(3), 0.0
    for k in range(n):
        a = 0.8 * a + rng.gauss(0, 0.6)
        yield {"a": a, "b": rng.gauss(0, 1), "c": "uvw"[k % 3]}


def must_be_finite(result):
    assert np.isfinite(result.std_error).all()
    if isinstance(result, ipdp.Curve):
        for ends in (result.band(), result.band(simultaneous=True)):
            assert np.isfinite(ends).all()
        assert np.isfinite(result.importance).all()
    str(result)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", SIZES)
def test_curves_now_monitor_and_log(size, model, tmp_path):
    pdp = ipdp.IncrementalPDP(model(size), ["a", "b", "c", ("a", "b")], alpha=0.01, seed=1)
    monitor = ipdp.Monitor(pdp, warm_up=200)
    for x in rows():
        monitor.explain_one(x)
    for result in [*pdp.results().values(), *pdp.snapshot(now=True).values()]:
        must_be_finite(result)
    with Log(tmp_path) as log:
        log.begin({}, pdp.features)
        log.snapshot(pdp.results(), pdp.n_seen)
        for change in monitor.changes:
            log.change(change, pdp.n_seen)
    with LogReader(tmp_path) as reader:
        assert reader.verify() == []
        for curve in reader.at(pdp.n_seen).values():
            must_be_finite(curve)
    again = ipdp.IncrementalPDP(model(size), ["a", "b", "c", ("a", "b")], alpha=0.01, seed=1)
    again.state = json.loads(json.dumps(pdp.state, allow_nan=False))
    watching = ipdp.Monitor(again, warm_up=200)
    watching.state = json.loads(json.dumps(monitor.state, allow_nan=False))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", SIZES)
def test_other_explainers(size, model):
    def loss(y, said):
        return abs(y - (said["up"] if isinstance(said, dict) else said))

    explainers = [
        ipdp.IncrementalALE(model(size), ["a", "b"], seed=1),
        ipdp.IncrementalRegions(model(size), ["a", "b"], seed=1),
        ipdp.IncrementalPDP(model(size), ["a", "b"], by="c", seed=1),
        ipdp.IncrementalPFI(model(size), ["a", "b"], loss=loss, seed=1),
    ]
    for explainer in explainers:
        for x in rows(600):
            if isinstance(explainer, ipdp.IncrementalPFI):
                explainer.explain_one(x, 0.0)
            else:
                explainer.explain_one(x)
        for result in explainer.results().values():
            must_be_finite(result)
        json.dumps(explainer.state, allow_nan=False)


@pytest.mark.parametrize("size", SIZES)
def test_changes_and_comparisons(size):
    """A model that is turned around is found, and described."""
    sign = [1]
    pdp = ipdp.IncrementalPDP(lambda x: sign[0] * slope(size)(x), ["a", "b"], alpha=0.01, seed=1)
    monitor = ipdp.Monitor(pdp, warm_up=200)
    before = None
    for k, x in enumerate(rows(1_600)):
        if k == 1_000:
            before, sign[0] = pdp.curves, -1
        monitor.explain_one(x)
    assert {change.feature for change in monitor.changes} == {"a", "b"}
    for change in monitor.changes:
        assert str(change)
        json.dumps(change.to_dict(), allow_nan=False)
    assert str(ipdp.compare(before, pdp.curves))


@pytest.mark.parametrize("size", [1e72, 1e100, 1e140, 1e154, 1e300])
def test_larger_ones_are_refused(size):
    scale = [1.0]
    pdp = ipdp.IncrementalPDP(lambda x: scale[0] * x["a"], ["a", "b"], seed=1)
    for x in rows(100):
        pdp.explain_one(x)
    before = json.dumps(pdp.state)
    scale[0] = size
    with pytest.raises(ValueError, match=r"beyond 1e\+70, which cannot be averaged"):
        pdp.explain_one(x)
    assert json.dumps(pdp.state) == before
