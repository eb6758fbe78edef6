"""Drifts under forests, whose trees are replaced all the time, and trees that go on learning."""

import copy

import numpy as np
import pytest
from river import ensemble, forest, tree
from river.datasets import synth

from ipdp import IncrementalPDP, Monitor
from ipdp.datasets import AgrawalDrift

DRIFT, END = 2_000, 3_600
# Of the features that the two rules read.
PLACES = {
    "salary": np.linspace(25_000, 145_000, 8).tolist(),
    "age": [22, 29, 36, 43, 50, 57, 64, 71],
    "elevel": [0, 1, 2, 3, 4],
}


def batch_curve(model, rows, feature, places):
    """Partial dependence by brute force, and the spread of the predictions."""
    said = [[model.predict_proba_one({**x, feature: v}).get(1, 0.0) for v in places] for x in rows]
    curve = np.mean(said, axis=0)
    return curve - curve.mean(), np.std(said)


def watched(model, seed):
    """What was reported after the drift, and by how much the curves of before and after moved."""
    monitor = Monitor(IncrementalPDP(model, seed=1))
    before, rows = None, []
    for t, (x, y) in enumerate(AgrawalDrift(DRIFT, stretch=1, seed=seed).take(END)):
        if t == DRIFT:
            before = copy.deepcopy(model)
        rows.append(x)
        monitor.explain_one(x)
        model.learn_one(x, y)
    moved = {}
    for feature, places in PLACES.items():
        then, spread = batch_curve(before, rows[DRIFT - 60 : DRIFT], feature, places)
        now, _ = batch_curve(model, rows[DRIFT - 60 : DRIFT], feature, places)
        moved[feature] = np.sqrt(((now - then) ** 2).mean()) / spread
    return {change.feature for change in monitor.changes if change.t > DRIFT}, moved


@pytest.mark.parametrize(
    ("model", "seed"),
    [
        (forest.ARFClassifier(n_models=3, seed=42), 4),
        (ensemble.SRPClassifier(tree.HoeffdingTreeClassifier(), n_models=3, seed=42), 2),
    ],
    ids=["adaptive random forest", "random patches"],
)
def test_a_drift_under_a_forest_is_found(model, seed):
    found, moved = watched(model, seed)
    assert {feature for feature in found & set(moved) if moved[feature] > 0.2}, (found, moved)


def test_a_tree_that_goes_on_learning_is_seldom_news():
    model = tree.HoeffdingAdaptiveTreeClassifier(seed=1)
    monitor = Monitor(IncrementalPDP(model, seed=1))
    for x, y in synth.Agrawal(classification_function=1, seed=1).take(4_000):
        monitor.explain_one(x)
        model.learn_one(x, y)
    # Six were reported when a change had to come to the tolerance only.
    assert len(monitor.changes) <= 4, monitor.changes
