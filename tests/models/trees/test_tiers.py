"""Which tier a model gets, and what becomes of one that overrides something."""

from __future__ import annotations

import math
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import compose, ensemble, linear_model, naive_bayes, preprocessing, tree
from river.tree.nodes import branch
from tests.models.trees import models, streams
from tests.models.trees.asking import Asker, plain_engine, unchecked, worst_difference
from tests.models.trees.models import (
    FlattenedLeaf,
    Grower,
    HiddenLeaf,
    IdleLeaf,
    RegressorGrower,
)

import ipdp
from ipdp.models import engine
from ipdp.models.base import Probe
from ipdp.models.per_row import RowEngine
from ipdp.models.trees import (
    SlowPathWarning,
    TreeEngine,
    leaves,
    loops,
    mixing,
    names,
    voting,
    walk,
)
from ipdp.models.trees.columns import Columns, in_order
from ipdp.models.trees.scalers import scaled


class Doubtful(tree.HoeffdingTreeClassifier):
    """Has a prediction of its own."""

    def predict_proba_one(self, x):
        return dict.fromkeys(super().predict_proba_one(x), 0.5)


class Mirror(branch.NumericBinaryBranch):
    """Sends each observation to the other side."""

    def branch_no(self, x):
        return 1 - super().branch_no(x)


def asked_along(model, stream, n=300):
    """The worst difference along a stream, and the engine at the end of it."""
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    worst = 0.0
    for t, (x, y) in enumerate(stream(n)):
        if t % 40 == 39:
            worst = max(worst, worst_difference(ours, plain, x, *asker.question())[0])
        asker.learn_one(x)
        model.learn_one(x, y)
    return worst, ours


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
            "pipeline of HoeffdingTreeClassifier.predict_proba_one, one w",
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
        naive_bayes.GaussianNB(),
        linear_model.LinearRegression(),
        ensemble.BaggingClassifier(naive_bayes.GaussianNB(), n_models=2),
        ensemble.BaggingClassifier(Doubtful(), n_models=2),
        ensemble.SRPClassifier(naive_bayes.GaussianNB(), n_models=2),
        ensemble.BaggingClassifier(models.scaled(models.ht()), n_models=2),
        compose.Select("a") | models.ht(),
        preprocessing.Normalizer() | models.ht(),
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        tree.SGTClassifier(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_models_get_plain_calls_at_no_extra_cost(model):
    assert not isinstance(engine(model), TreeEngine)


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
    """river raises for None, but not if the only branch on it is the point's own feature."""
    model = models.ht()
    asker = Asker()
    for x, y in streams.distances(300):
        asker.learn_one(x)
        model.learn_one(x, y > 0)
    name = model._root.feature
    ours, plain = unchecked(model), plain_engine(model)
    probes, positions = asker.question()
    with pytest.raises(TypeError, match="NoneType"):
        ours.ice([{**x, name: None}], probes, positions)
    (own,) = [probe for probe in probes if probe.names == (name,)]
    positions = positions[:, :, own.start : own.stop]
    own = own._replace(start=0, stop=own.stop - own.start)
    assert worst_difference(ours, plain, {**x, name: None}, [own], positions)[0] < 1e-9
    assert ours.fault is None


def test_a_name_that_river_does_not_have_is_nothing():
    assert names.find("tree", "NoSuchTree", "predict_one") is None
    assert names.find("no_such_room", "NoSuchTree") is None
    assert names.known((None, 1), ("a", 2)) == {"a": 2}


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 1.5, -2.0, math.nan, math.inf]),
            st.sampled_from([0, walk.IS_NUMBER, walk.CLIMBS]),
            st.booleans(),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_columns_are_in_order_for_every_build(columns):
    numbers, order, whole = zip(*columns, strict=True)
    order = (min(order[0], walk.IS_NUMBER), *order[1:])  # the first has none before it
    # What is not finite is not asked whether it is whole.
    whole = [own and math.isfinite(number) for own, number in zip(whole, numbers, strict=True)]
    expected = all(
        (expected == 0 or not math.isnan(number))
        and (expected != walk.CLIMBS or number >= numbers[k - 1])
        and (not own or number == int(number))
        for k, (number, expected, own) in enumerate(zip(numbers, order, whole, strict=True))
    )
    asked = np.array(numbers), bytes(order), bytes(whole)
    assert in_order(*asked) == walk.in_order(*asked) == expected


@pytest.mark.parametrize("bad", [None, "1", np.float64(1), Decimal(1)])
def test_what_is_no_number_of_pythons_own_is_seen(bad):
    x = {"a": 1.0, "b": 2, "c": True}
    assert loops.current.has_only_numbers(x)
    assert not loops.current.has_only_numbers({**x, "d": bad})


@pytest.mark.parametrize("make", [models.ht, models.hat, models.arf, models.MIXED["HT binary"]])
@pytest.mark.parametrize("stream", [streams.prices, streams.five, streams.loans])
def test_the_loops_say_the_same_before_they_are_compiled(monkeypatch, make, stream):
    uncompiled = loops.Loops(
        "uncompiled",
        walk.Walker,
        leaves.parts_of,
        walk.has_only_numbers,
        mixing.mix,
        walk.in_order,
        voting.cast,
        voting.combine,
    )
    monkeypatch.setattr(loops, "current", uncompiled)
    worst, ours = asked_along(make(), stream, n=200)
    assert worst < 1e-9
    assert ours.fault is None


def test_says_which_build_runs(build):
    assert repr(engine(models.ht())).endswith(f"factored leaves ({build})>")
    assert ipdp.models.build() in ("pure", "compiled")


def test_the_environment_can_ask_for_the_pure_build(monkeypatch):
    monkeypatch.setenv("IPDP_PURE", "1")
    assert ipdp.models.build() == "pure"
    monkeypatch.delenv("IPDP_PURE")
    monkeypatch.setattr("ipdp.core.kernels.build.EXTENSIONS", ("ipdp.core._no_such_extension",))
    assert ipdp.models.build() == "pure"


def test_an_extension_that_cannot_be_loaded_is_said_and_done_without(monkeypatch):
    monkeypatch.setattr(loops, "build", lambda: "compiled")
    monkeypatch.setattr(loops, "EXTENSIONS", ("ipdp.core.kernels._loop", "_no_such_extension"))
    with pytest.warns(RuntimeWarning, match=r"cannot be loaded, the slower one runs: No module"):
        assert loops._installed() is loops.PURE


def test_a_river_without_log_densities_is_asked_for_each_likelihood(monkeypatch):
    """Before river 0.24 naive Bayes took the log of the density."""
    for name in ("leaves", "_leaves"):
        module = sys.modules.get(f"ipdp.models.trees.{name}")
        if module is not None:
            monkeypatch.setattr(module, "_HAS_LOG_PDF", False)
            monkeypatch.setattr(module, "_GAUSSIAN", type(module._GAUSSIAN)())
    worst, ours = asked_along(models.ht(), streams.prices)
    assert worst < 1e-9
    assert ours.fault is None


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(-50, 50)), min_size=1, max_size=8),
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5),
)
def test_points_are_standardized_as_river_does_it(rows, values):
    scaler = preprocessing.StandardScaler()
    for a, b in rows:
        scaler.learn_one({"a": a, "b": b, "constant": 3.0})
    n = len(values)
    probes = tuple(
        Probe((name,), k * n, (k + 1) * n, (False,), (None,), False)
        for k, name in enumerate(("a", "constant", "never seen"))
    )
    x = {"a": 1.0, "b": 2, "constant": 3.0, "never seen": 4.0}
    positions = np.array([[sorted(values) * 3]])
    ours = scaled(Columns(probes).points(x, positions), [scaler])
    assert ours.x == scaler.transform_one(x)
    assert not ours.unordered
    for column in range(3 * n):
        name, value = ours.columns.name_of[column], float(positions[0, 0, column])
        assert ours.numbers[column] == scaler.transform_one({name: value})[name]
