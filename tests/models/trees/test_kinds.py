"""Which models and leaves the walk knows, and what becomes of one that overrides something."""

from __future__ import annotations

import numpy as np
import pytest
from river import compose, ensemble, linear_model, naive_bayes, preprocessing, tree
from river.tree.nodes import branch
from tests.models.trees import models, streams
from tests.models.trees.asking import Asker, asked_along, plain_engine, unchecked, worst_difference
from tests.models.trees.models import (
    FlattenedLeaf,
    Grower,
    HiddenLeaf,
    IdleLeaf,
    RegressorGrower,
)

from ipdp.models import RowEngine, engine
from ipdp.models.trees import SlowPathWarning, TreeEngine, kinds


class Doubtful(tree.HoeffdingTreeClassifier):
    """Has a prediction of its own."""

    def predict_proba_one(self, x):
        return dict.fromkeys(super().predict_proba_one(x), 0.5)


class Mirror(branch.NumericBinaryBranch):
    """Sends each observation to the other side."""

    def branch_no(self, x):
        return 1 - super().branch_no(x)


@pytest.mark.parametrize("kind", [FlattenedLeaf, HiddenLeaf, IdleLeaf])
def test_leaves_that_override_something_are_asked_themselves(kind):
    model = Grower(kind)
    worst, ours = asked_along(model, streams.prices)
    assert worst < 1e-9
    assert ours.fault is None
    assert model.n_branches > 1
    assert "one walk for all points, river's own leaves" in repr(ours)


def test_members_of_an_ensemble_may_override_their_leaves():
    for model in (
        ensemble.BaggingClassifier(Grower(FlattenedLeaf), n_models=2, seed=1),
        ensemble.SRPClassifier(Grower(FlattenedLeaf), n_models=3, seed=1),
    ):
        worst, ours = asked_along(model, streams.prices)
        assert worst < 1e-9
        assert ours.fault is None
        assert "river's own leaves" in repr(ours)


def test_leaves_of_regressors_that_override_something_are_asked_themselves():
    model = RegressorGrower(grace_period=30, leaf_prediction="mean")
    worst, ours = asked_along(model, streams.distances)
    assert worst < 1e-9
    assert ours.fault is None
    assert "river's own leaves" in repr(ours)


def test_another_model_in_the_leaves_is_asked_itself():
    model = models.htr(leaf_model=linear_model.PARegressor(), leaf_prediction="model")
    _, ours = asked_along(model, streams.distances)
    assert "river's own leaves" in repr(ours)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (models.ht(), "HoeffdingTreeClassifier.predict_proba_one, one walk for all points, fact"),
        (models.arf(), "ARFClassifier.predict_proba_one, one walk for all points, factored leaves"),
        (models.amf(), "AMFClassifier.predict_proba_one, one walk for all points, factored leaves"),
        (models.arfr(), "ARFRegressor.predict_one, one walk for all points, factored leaves"),
        (
            models.scaled(models.ht()),
            "pipeline of HoeffdingTreeClassifier.predict_proba_one, all points at once, fact",
        ),
        (models.srp(), "SRPClassifier.predict_proba_one, one walk"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_says_which_tier_it_is(model, words):
    ours = engine(model)
    assert isinstance(ours, TreeEngine)
    assert words in repr(ours)


@pytest.mark.parametrize(
    "model",
    [
        Doubtful(),
        ensemble.BaggingClassifier(Doubtful(), n_models=2),
        ensemble.SRPClassifier(naive_bayes.GaussianNB(), n_models=2),
        preprocessing.Normalizer() | Doubtful(),
        tree.SGTClassifier(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_models_get_plain_calls_at_no_extra_cost(model):
    # A pipeline is taken apart all the same; its last step is what gets plain calls.
    assert "one walk" not in repr(engine(model))
    assert type(engine(model)) is not TreeEngine


def test_the_classes_themselves_get_plain_calls():
    assert type(engine(models.ht(), response="predict")) is RowEngine


def test_an_unknown_branch_means_plain_calls():
    model = models.ht()
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    for x, y in streams.prices(300):
        asker.learn_one(x)
        model.learn_one(x, y)
    model._root.__class__ = Mirror
    question = asker.question()
    with pytest.warns(SlowPathWarning, match="HoeffdingTreeClassifier .* nodes of class Mirror"):
        assert worst_difference(ours, plain, x, *question)[0] == 0
    assert worst_difference(ours, plain, x, *question)[0] == 0
    assert repr(ours).startswith("<TreeEngine: HoeffdingTreeClassifier.predict_proba_one, one call")
    assert "nodes of class Mirror" in repr(ours)


def test_a_pipeline_that_learns_while_it_predicts_gets_plain_calls():
    model, twin = models.scaled(models.ht()), models.scaled(models.ht())
    ours, plain = unchecked(model), plain_engine(twin)
    asker = Asker()
    for x, y in streams.prices(100):
        asker.learn_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    question = asker.question()
    with compose.learn_during_predict():
        answer = ours.ice([x], *question)
        expected = plain.ice([x], *question)
    assert answer.labels == expected.labels
    np.testing.assert_array_equal(answer.values, expected.values)
    assert ours.fault is None


def test_values_that_are_no_numbers_are_no_fault_of_the_walk():
    """river raises for a text, but not if the only branch on it is the point's own feature."""
    model = models.ht()
    asker = Asker()
    for x, y in streams.distances(300):
        asker.learn_one(x)
        model.learn_one(x, y > 0)
    name = model._root.feature
    ours, plain = unchecked(model), plain_engine(model)
    probes, positions = asker.question()
    with pytest.raises(TypeError, match="'str'"):
        ours.ice([{**x, name: "text"}], probes, positions)
    (own,) = [probe for probe in probes if probe.names == (name,)]
    positions = positions[:, :, own.start : own.stop]
    own = own._replace(start=0, stop=own.stop - own.start)
    assert worst_difference(ours, plain, {**x, name: "text"}, [own], positions)[0] < 1e-9
    assert ours.fault is None


def test_a_name_that_river_does_not_have_is_nothing():
    assert kinds.find("tree", "NoSuchTree", "predict_one") is None
    assert kinds.find("no_such_room", "NoSuchTree") is None
    assert kinds.known((None, 1), ("a", 2)) == {"a": 2}
