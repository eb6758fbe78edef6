"""The walk notices its own faults, and says so once."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest
from river import proba
from river.tree.nodes import htc_nodes
from tests.models.trees import models, streams
from tests.models.trees.asking import Asker, plain_engine, worst_difference
from tests.models.trees.models import FlattenedLeaf, Grower

import ipdp
from ipdp.models import RowEngine, engine
from ipdp.models.base import aligned
from ipdp.models.trees import Checker, SlowPathWarning, classification, kernels
from ipdp.models.trees.kernels.leaves import likelihoods


def wrong_bisection(monkeypatch):
    """The first column of each run that left the path of x stays on it."""

    class OffByOne(kernels.current.Walker):
        def walk(self, root, kinds, adaptive):
            leaf, spans, runs, alternates = super().walk(root, kinds, adaptive)
            spans = [*spans, *((lo, lo + 1) for _, lo, _ in runs)]
            return leaf, spans, [(other, lo + 1, hi) for other, lo, hi in runs], alternates

    monkeypatch.setattr(kernels, "current", kernels.current._replace(Walker=OffByOne))


def wrong_prior(monkeypatch):
    """As if a later river had smoothed its priors."""
    right = htc_nodes.do_naive_bayes_prediction

    def smoothed(x, stats, splitters):
        return right(x, {label: weight + 5 for label, weight in stats.items()}, splitters)

    monkeypatch.setattr(htc_nodes, "do_naive_bayes_prediction", smoothed)


def wrong_density(monkeypatch):
    """As if a later river had other densities; an older one has none that the walk knows."""
    if hasattr(proba.Gaussian, "log_pdf"):
        right = proba.Gaussian.log_pdf
        monkeypatch.setattr(proba.Gaussian, "log_pdf", lambda self, x: 1.01 * right(self, x))
    for name in ("array", "voting", "_voting"):
        module = sys.modules.get(f"ipdp.models.trees.kernels.{name}")
        if module is not None:
            monkeypatch.setattr(module, "likelihoods", doubled)


def doubled(*arguments):
    return [2 * term for term in likelihoods(*arguments)]


def wrong_weights(monkeypatch):
    monkeypatch.setattr(
        "ipdp.models.trees.classification._weights", lambda model, metrics: [1.0, 2.0, 3.0, 4.0]
    )


def wrong_linear_leaf(monkeypatch):
    def weights(self):
        return {name: 1.01 * weight for name, weight in self._weights.to_dict().items()}

    monkeypatch.setattr("river.linear_model.base.GLM.weights", property(weights))


def wrong_mean(monkeypatch):
    monkeypatch.setattr(
        "ipdp.models.trees.regression.RegressorLeaf.is_mean", property(lambda self: True)
    )


def wrong_aggregation(monkeypatch):
    """As if nodes of Mondrian trees had other shares; before river 0.24 trees are called."""
    right, by_call = kernels.current.aggregate, classification._shares_by_call
    wrong = kernels.current._replace(aggregate=lambda *arguments: right(*arguments) ** 1.001)
    monkeypatch.setattr(kernels, "current", wrong)
    monkeypatch.setattr(classification, "_shares_by_call", lambda *asked: by_call(*asked) ** 1.001)


def an_error(monkeypatch):
    def fails(*arguments, **settings):
        raise ZeroDivisionError("division by zero")

    broken = kernels.current._replace(has_only_numbers=fails)
    monkeypatch.setattr(kernels, "current", broken)


FAULTS = [
    pytest.param(wrong_bisection, models.ht, streams.prices, id="bisection, factored leaves"),
    pytest.param(
        wrong_bisection, lambda: Grower(FlattenedLeaf), streams.prices, id="bisection, own leaves"
    ),
    pytest.param(wrong_bisection, models.arf, streams.prices, id="bisection, forest"),
    pytest.param(wrong_bisection, models.htr, streams.distances, id="bisection, regressor"),
    pytest.param(wrong_bisection, models.amf, streams.prices, id="bisection, Mondrian trees"),
    pytest.param(wrong_aggregation, models.amf, streams.prices, id="aggregation"),
    pytest.param(wrong_prior, models.arf, streams.prices, id="prior"),
    pytest.param(
        wrong_density,
        lambda: models.ht(leaf_prediction="nb"),
        streams.prices,
        id="density",
    ),
    pytest.param(wrong_weights, models.arf, streams.prices, id="weights of trees"),
    pytest.param(wrong_linear_leaf, models.htr, streams.distances, id="linear leaf"),
    pytest.param(
        wrong_mean, lambda: models.htr(leaf_prediction="model"), streams.distances, id="mean"
    ),
    pytest.param(an_error, models.arf, streams.prices, id="error"),
]


def learned(make, stream, n=400):
    model, asker = make(), Asker()
    examples = list(stream(n + 300))
    for x, y in examples[:n]:
        asker.learn_one(x)
        model.learn_one(x, y)
    return model, asker, examples[n:]


@pytest.mark.parametrize(("fault", "make", "stream"), FAULTS)
def test_a_fault_is_found_at_the_first_observation(monkeypatch, fault, make, stream):
    model, asker, rest = learned(make, stream)
    fault(monkeypatch)
    ours, plain = engine(model), plain_engine(model)
    name = type(model).__name__
    with pytest.warns(SlowPathWarning, match=f"{name} is explained by plain calls") as caught:
        assert worst_difference(ours, plain, rest[0][0], *asker.question())[0] == 0
    assert len(caught) == 1
    assert ours.fault is not None
    for x, _ in rest[1:5]:  # without another warning
        assert worst_difference(ours, plain, x, *asker.question())[0] == 0


@pytest.mark.parametrize(("fault", "make", "stream"), FAULTS)
def test_a_fault_is_found_later_on(monkeypatch, fault, make, stream):
    model, asker, rest = learned(make, stream)
    ours, plain = engine(model), plain_engine(model)
    ours.checker = Checker(every=4)
    for x, _ in rest[:30]:
        ours.ice([x], *asker.question())
    assert ours.fault is None
    fault(monkeypatch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, y in rest[30:]:
            answer = ours.ice([x], *asker.question())
            if caught:
                break
            model.learn_one(x, y)
    assert [warning.category for warning in caught] == [SlowPathWarning]
    expected = plain.ice([x], *asker.question())
    np.testing.assert_array_equal(aligned(answer, expected.labels).values, expected.values)


def test_the_warning_says_why_and_where_from():
    model, asker, rest = learned(models.ht, streams.prices)
    ours = engine(model)
    model._root.__dict__.pop("threshold")
    with pytest.raises(AttributeError, match="threshold"):  # river cannot go on either
        ours.ice([rest[0][0]], *asker.question())
    assert ours.fault is None
    model._root.__dict__["threshold"] = 0.5
    ours.walk._order = None
    with pytest.warns(SlowPathWarning, match="the walk of the trees was given up: AttributeError"):
        ours.ice([rest[0][0]], *asker.question())


def test_an_explainer_goes_on_after_a_fault(monkeypatch):
    model = models.ht()
    pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(5), seed=1)
    examples = list(streams.prices(200))
    for x, y in examples[:100]:
        pdp.explain_one(x)
        model.learn_one(x, y)
    an_error(monkeypatch)
    with pytest.warns(SlowPathWarning) as caught:
        pdp.explain_one(examples[100][0])
    # The line that the user wrote is the one that the warning points at.
    assert caught[0].filename == __file__
    for x, y in examples[100:]:
        pdp.explain_one(x)
        model.learn_one(x, y)
    assert pdp.curve("nswprice").n_samples == 181


def test_one_tree_is_asked_as_a_rule_and_the_whole_model_now_and_then():
    for make, stream in ((models.arf, streams.prices), (models.arfr, streams.distances)):
        model, asker, rest = learned(make, stream)
        ours = engine(model)
        ours.checker = Checker(first=0, every=2, ensemble_every=5)
        calls, whole = [], ours.call
        ours.call = lambda x, calls=calls, whole=whole: calls.append(x) or whole(x)
        for x, _ in rest[:50]:
            ours.ice([x], *asker.question())
        assert len(calls) == 5
        assert ours.fault is None


def test_a_single_tree_is_asked_now_and_then():
    model, asker, rest = learned(models.ht, streams.prices)
    ours = engine(model)
    ours.checker = Checker(first=0, every=4)
    calls, whole = [], ours.call
    ours.call = lambda x: calls.append(x) or whole(x)
    for x, _ in rest[:40]:
        ours.ice([x], *asker.question())
    assert len(calls) == 10


def test_of_many_points_some_are_compared_at_first():
    model, asker, rest = learned(models.ht, streams.prices)
    probes, positions = asker.question()
    ours, plain = (
        engine(model),
        RowEngine(model.predict_proba_one, description="plain", leave_out=True),
    )
    ours.checker = Checker(first=3, most=10)
    calls, whole = [], ours.call
    ours.call = lambda x: calls.append(x) or whole(x)
    for x, _ in rest[:3]:
        answer, expected = ours.ice([x], probes, positions), plain.ice([x], probes, positions)
        np.testing.assert_allclose(aligned(answer, expected.labels).values, expected.values)
    assert len(calls) == 30
    ours.checker = Checker(first=3, most=10)
    ours.call = lambda x: {label: 2 * p for label, p in whole(x).items()}
    with pytest.warns(SlowPathWarning, match="differ from plain calls"):
        ours.ice([x], probes, positions)


def test_pairs_are_compared_too():
    model, asker, rest = learned(models.arf, streams.prices)
    probes, positions = asker.question(pair=True)
    ours = engine(model)
    ours.checker = Checker(first=0, every=1, ensemble_every=1)
    ours.ice([rest[0][0]], probes, positions)
    surfaces = ours._surfaces
    ours._surfaces = lambda x, at: [
        (own, o._replace(values=1 - o.values)) for own, o in surfaces(x, at)
    ]
    with pytest.warns(SlowPathWarning, match="differ from plain calls"):
        ours.ice([rest[1][0]], probes, positions)


def test_what_is_compared():
    checker = Checker(first=2, seed=1)
    assert [checker.wants_all() for _ in range(5)] == [True, True, False, False, False]
    columns = [3, 5, 8]
    chosen = [checker.one_of(columns) for _ in range(60)]
    assert set(chosen) == set(columns)
    again = Checker(seed=1)
    assert [again.one_of(columns) for _ in range(60)] == chosen


def test_a_checker_goes_on_from_its_state():
    def what_it_wants(checker):
        return [
            (checker.wants_all(), checker.wants_ensemble(), checker.one_of(range(9)))
            for _ in range(60)
        ]

    checker, other = Checker(first=2), Checker(first=2, seed=5)
    what_it_wants(checker)
    other.state = json.loads(json.dumps(checker.state))
    assert what_it_wants(other) == what_it_wants(checker)
