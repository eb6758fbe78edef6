"""river's metrics without pickle: what they remember comes back, and they go on the same."""

from __future__ import annotations

import copy
import inspect
import json
import random

import pytest
from river import metrics, stats, utils

from ipdp.runs.metrics import give, take

# Their numbers are kept by code that is not Python, or made by functions as they go.
CLOSED = {"RollingROCAUC", "RollingPRAUC", "ClassificationReport"}
ODD = {
    "FBeta": {"beta": 2},
    "MacroFBeta": {"beta": 2},
    "MicroFBeta": {"beta": 2},
    "WeightedFBeta": {"beta": 2},
    "MultiFBeta": {"betas": {False: 1, True: 2}, "weights": {False: 1, True: 2}},
}


def all_metrics():
    for name in metrics.__all__:
        kind = getattr(metrics, name, None)
        if inspect.isclass(kind) and issubclass(kind, metrics.base.Metric):
            yield name


def made(name: str):
    return getattr(metrics, name)(**ODD.get(name, {}))


def feed(metric, seed: int, n: int = 200) -> None:
    rng = random.Random(seed)
    labels = getattr(metric, "requires_labels", True)
    for _ in range(n):
        p = rng.random()
        if isinstance(metric, metrics.base.RegressionMetric):
            metric.update(5 + rng.gauss(0, 1), 5 + rng.gauss(0, 1))
        else:
            metric.update(rng.random() < 0.4, p > 0.5 if labels else {True: p, False: 1 - p})


@pytest.mark.parametrize("name", sorted(set(all_metrics()) - CLOSED - {"ConfusionMatrix"}))
def test_a_metric_goes_on_as_if_nothing_had_happened(name):
    one, other = made(name), made(name)
    feed(one, seed=1)
    give(other, json.loads(json.dumps(take(one))))
    assert repr(other.get()) == repr(one.get())
    feed(one, seed=2)
    feed(other, seed=2)
    assert repr(other.get()) == repr(one.get())
    assert take(other) == take(one)


def test_several_and_rolling_ones():
    def make():
        return [metrics.Accuracy() + metrics.F1(), utils.Rolling(metrics.Accuracy, window_size=50)]

    for one, other in zip(make(), make(), strict=True):
        feed(one, seed=1)
        give(other, json.loads(json.dumps(take(one))))
        feed(one, seed=2)
        feed(other, seed=2)
        assert other.get() == one.get()


def test_what_is_shared_stays_shared():
    cm = metrics.ConfusionMatrix()
    pair = [metrics.Accuracy(cm=cm), metrics.F1(cm=cm)]
    twins = copy.deepcopy(pair)
    feed(pair[0], seed=1)
    for one, other in zip(pair, twins, strict=True):
        give(other, take(one))
    assert twins[0].cm is twins[1].cm
    assert twins[1].get() == pair[1].get()


@pytest.mark.parametrize("name", ["RollingROCAUC", "RollingPRAUC"])
def test_what_cannot_be_seen_is_refused(name):
    with pytest.raises(TypeError, match="cannot be saved without pickle"):
        take(made(name))


@pytest.mark.parametrize(
    "state",
    [
        {"attributes": {"__class__": {"value": 1}}},
        {"attributes": {"update": {"value": 1}}},
        {"attributes": {"n": {"code": "print()"}}},
        {"attributes": {"n": {"value": "3"}}},
        {"attributes": {"n": {"value": {"set": []}}}},
        {"attributes": {"n": {"items": []}}},
        {"attributes": {"n": {"fixed": None}}},
        {"value": 3},
        [],
    ],
)
def test_a_state_of_something_else_is_refused(state):
    mean = stats.Mean()
    with pytest.raises(ValueError, match=r"no |nothing of the kind|not a state|cannot become"):
        give(mean, state)
    assert mean.get() == 0.0


@pytest.mark.parametrize("saved", [{"value": {"set": []}}, {"sequence": []}, {"attributes": {}}])
def test_counts_by_class_stay_counts(saved):
    state = take(metrics.ConfusionMatrix())
    state["attributes"]["sum_col"] = saved
    with pytest.raises(ValueError, match="remembers nothing of the kind"):
        give(metrics.ConfusionMatrix(), state)
