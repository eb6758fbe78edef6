"""Incremental permutation feature importance, against plain Python and against what is known."""

import copy
import json
import math
import pickle
import random
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator
from river import datasets, metrics, naive_bayes, tree

from ipdp import NotEnoughSamples, models
from ipdp.explainers.pfi import IncrementalPFI, per_sample_loss

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)
MEANS = [
    metrics.MAE(),
    metrics.MSE(),
    metrics.SMAPE(),
    metrics.Accuracy(),
    metrics.MicroF1(),
    metrics.CrossEntropy(),
    metrics.LogLoss(),
]
OTHERS = [
    metrics.ROCAUC(),
    metrics.F1(),
    metrics.Precision(),
    metrics.CohenKappa(),
    metrics.R2(),
    metrics.RMSE(),
    metrics.BalancedAccuracy(),
    metrics.ConfusionMatrix(),
]


def squared(y_true, y_pred):
    return (y_true - y_pred) ** 2


def product_model(x):
    return 2.0 * x["a"] + x["b"] * x["c"]


def stream(n, seed=1):
    rng = random.Random(seed)
    for _ in range(n):
        x = {name: rng.gauss(0, 1) for name in ("a", "b", "c", "d")}
        yield x, product_model(x) + 0.1 * rng.gauss(0, 1)


def explained(pfi, examples):
    for x, y in examples:
        pfi.explain_one(x, y)
    return pfi


# The answer worked out the slow way, in plain Python: all observations are kept, the reservoir is
# replayed from the random numbers, and the weighted sums are taken over the whole list.


class Draws:
    """The uniform numbers of a name, as `ipdp.core.random` documents them."""

    def __init__(self, seed, name):
        self.generator = Generator(PCG64(zlib.crc32(f"{seed}:{name!r}".encode())))
        self.block = []

    def below(self, n):
        if not self.block:
            self.block = self.generator.random(256).tolist()
        return int(self.block.pop(0) * n)


def oracle(examples, features, model, loss, *, alpha, n_inner, size, seed):
    kept, storage = [], Draws(seed, ("storage",))
    draws = {feature: Draws(seed, feature) for feature in features}
    increases = {feature: [] for feature in features}
    for x, y in examples:
        for feature in features if kept else ():
            names = feature if isinstance(feature, tuple) else (feature,)
            total = 0.0
            for _ in range(n_inner):
                drawn = kept[draws[feature].below(len(kept))]
                total += loss(y, model({**x, **{name: drawn[name] for name in names}}))
            increases[feature].append(total / n_inner - loss(y, model(x)))
        if len(kept) < size:
            kept.append(x)
        else:
            kept[storage.below(size)] = x
    return {feature: smoothed(values, alpha) for feature, values in increases.items()}


def smoothed(values, alpha):
    """Mean, variance and standard error with weights (1 - alpha)^(T - t)."""
    weights = [(1 - alpha) ** (len(values) - 1 - k) for k in range(len(values))]
    total = sum(weights)
    mean = sum(w * v for w, v in zip(weights, values, strict=True)) / total
    n_effective = total**2 / sum(w * w for w in weights)
    spread = sum(w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True)) / total
    variance = spread / (1 - 1 / n_effective)
    return mean, variance, math.sqrt(variance / n_effective)


@pytest.mark.parametrize("n_inner", [1, 3])
@pytest.mark.parametrize("features", [["a", "b", "c", "d"], ["b", ("b", "c")]])
def test_agrees_with_the_oracle(features, n_inner):
    examples = list(stream(400))
    setup = {"alpha": 0.02, "n_inner": n_inner, "seed": 5}
    pfi = IncrementalPFI(product_model, features, loss=squared, storage_size=30, **setup)
    explained(pfi, examples)
    expected = oracle(examples, features, product_model, squared, size=30, **setup)
    # That of independent observations; `std_error` itself knows of their memory.
    plain = pfi.memory.smoothing.std_error[0].tolist()
    for (feature, (mean, variance, std_error)), own in zip(expected.items(), plain, strict=True):
        assert pfi.importance[feature] == pytest.approx(mean, rel=1e-9, abs=1e-9)
        assert pfi.variance[feature] == pytest.approx(variance, rel=1e-9, abs=1e-9)
        assert own == pytest.approx(std_error, rel=1e-9, abs=1e-9)


def test_agrees_with_the_oracle_for_classes_and_a_metric():
    model = naive_bayes.GaussianNB()
    examples = [({k: x[k] for k in ("a", "b")}, y > 0) for x, y in stream(300)]
    for x, y in examples[:100]:
        model.learn_one(x, y)

    def label(x):
        return max(model.predict_proba_one(x).items(), key=lambda pair: pair[1])[0]

    setup = {"alpha": 0.05, "n_inner": 2, "seed": 2}
    pfi = explained(IncrementalPFI(model, loss=metrics.Accuracy(), **setup), examples)
    wrong = oracle(examples, ["a", "b"], label, lambda y, p: float(y != p), size=100, **setup)
    for feature in ("a", "b"):
        assert pfi.importance[feature] == pytest.approx(wrong[feature][0], abs=1e-9)


def test_importance_of_a_linear_model_is_twice_the_variance_of_its_term():
    # Static case: E[(b (x' - x))^2] - 0 = 2 b^2 var(x) = 8 for "a" without noise. The mean of 8,000
    # increases has a standard error of about 8 * sqrt(2) / sqrt(8000) = 0.13, but neighbours share
    # stored observations; 0.6 is more than three times the error of 100 / 2 independent ones of 8.
    pfi = IncrementalPFI(lambda x: 2 * x["a"], loss=squared, alpha=None, seed=3)
    rng = random.Random(4)
    for _ in range(8_000):
        x = {"a": rng.gauss(0, 1), "d": rng.gauss(0, 1)}
        pfi.explain_one(x, 2 * x["a"])
    assert pfi.importance["a"] == pytest.approx(8.0, abs=0.6)
    assert pfi.importance["d"] == 0.0


def agrawal_rule(x):
    """Function 1 of Agrawal: a range of the salary that depends on the age."""
    low, high = (50_000, 100_000), (75_000, 125_000)
    if 40 <= x["age"] < 60:
        first, last = high
    else:
        first, last = low if x["age"] < 40 else (25_000, 75_000)
    return {0: 0.0, 1: 1.0} if first <= x["salary"] <= last else {0: 1.0, 1: 0.0}


def test_ranks_the_features_of_agrawal_under_its_own_rule():
    pfi = IncrementalPFI(agrawal_rule, loss=metrics.Accuracy(), alpha=None, seed=1)
    explained(pfi, datasets.synth.Agrawal(classification_function=1, seed=7).take(2_000))
    ranked = sorted(pfi.importance, key=pfi.importance.get, reverse=True)
    assert ranked[:2] == ["salary", "age"]
    assert pfi.band(0.99)["age"][0] > 0
    assert all(pfi.importance[feature] == 0 for feature in ranked[2:])


def test_ranks_the_features_of_agrawal_under_a_learning_tree():
    model = tree.HoeffdingTreeClassifier()
    pfi = IncrementalPFI(model, loss=metrics.CrossEntropy(), alpha=0.001, seed=1)
    for t, (x, y) in enumerate(
        datasets.synth.Agrawal(classification_function=1, seed=7).take(4000)
    ):
        if t >= 2_000:
            pfi.explain_one(x, y)
        model.learn_one(x, y)
    ranked = sorted(pfi.importance, key=pfi.importance.get, reverse=True)
    assert set(ranked[:2]) == {"age", "salary"}


def test_the_order_of_features_and_their_number_do_not_matter():
    setup = {"loss": squared, "alpha": 0.05, "seed": 9}
    examples = list(stream(200))
    one = explained(IncrementalPFI(product_model, ["a", "b", "c"], **setup), examples)
    other = explained(IncrementalPFI(product_model, ["c", "a"], **setup), examples)
    turned = [(dict(reversed(x.items())), y) for x, y in examples]
    third = explained(IncrementalPFI(product_model, **setup), turned)
    for feature in ("a", "c"):
        assert one.importance[feature] == other.importance[feature] == third.importance[feature]


def test_the_model_is_called_once_for_all_features():
    calls = []

    def f(X):
        calls.append(len(X))
        return X[:, 0]

    pfi = IncrementalPFI(models.engine(f, takes="array"), loss=squared, n_inner=5, seed=1)
    explained(pfi, stream(3))
    assert calls == [1 + 4 * 5, 1 + 4 * 5]


def test_follows_a_model_that_changes():
    weights = {"a": 1.0, "b": 0.0}
    pfi = IncrementalPFI(
        lambda x: sum(weights[k] * x[k] for k in weights), ["a", "b"], loss=squared, alpha=0.02
    )
    for t, (x, _) in enumerate(stream(1_000)):
        if t == 500:
            weights.update(a=0.0, b=1.0)
        pfi.explain_one(x, sum(weights[k] * x[k] for k in weights))
        if t == 499:
            assert pfi.importance["a"] > 1 > pfi.importance["b"] == 0
    assert pfi.importance["b"] > 1 > pfi.importance["a"]


@given(st.integers(0, 30), st.integers(0, 1_000))
@PROPERTY
def test_state_goes_on_bit_for_bit_through_json(cut, seed):
    examples = list(stream(31, seed))
    setup = {"loss": squared, "alpha": 0.1, "n_inner": 2, "storage_size": 7, "seed": seed}
    whole = explained(IncrementalPFI(product_model, **setup), examples)
    part = explained(IncrementalPFI(product_model, **setup), examples[:cut])
    other = IncrementalPFI(product_model, **setup)
    other.state = json.loads(json.dumps(part.state, allow_nan=False))
    explained(other, examples[cut:])
    assert other.state == whole.state
    assert other.importance == whole.importance


def test_state_keeps_all_kinds_of_values():
    x = {"n": float("nan"), 3: np.float64(1.5), "s": "red", "b": True, "none": None, ("p", "q"): 2}
    pfi = IncrementalPFI(lambda x: 1.0, ["n", 3], loss=squared, seed=1)
    explained(pfi, [(x, 1.0)] * 3)
    other = IncrementalPFI(lambda x: 1.0, ["n", 3], loss=squared, seed=1)
    other.state = json.loads(json.dumps(pfi.state, allow_nan=False))
    (kept, *_) = other.memory.storage.kept
    assert math.isnan(kept["n"])
    assert {name: kept[name] for name in kept if name != "n"} == {
        name: x[name] for name in x if name != "n"
    }


def test_pickles_and_copies():
    pfi = explained(IncrementalPFI(product_model, loss=metrics.MAE(), seed=1), stream(20))
    for twin in (pickle.loads(pickle.dumps(pfi)), copy.deepcopy(pfi)):
        explained(twin, stream(5, seed=8))
        expected = explained(copy.deepcopy(pfi), stream(5, seed=8))
        assert twin.state == expected.state


def test_merge_joins_the_importances_exactly():
    # Both parts get the increases that they would have had: the storage of the second is that of
    # the first at the cut, so that only the sums are joined.
    setup = {"loss": squared, "alpha": 0.05, "storage_size": 10, "seed": 6}
    examples = list(stream(60))
    whole = IncrementalPFI(product_model, **setup)
    first = IncrementalPFI(product_model, **setup)
    second = IncrementalPFI(product_model, **setup)
    for t, (x, y) in enumerate(examples):
        whole.explain_one(x, y, t=t)
        if t < 40:
            first.explain_one(x, y, t=t)
        if t == 39:
            state = first.state
            empty = IncrementalPFI(product_model, **setup)
            explained(empty, examples[:1])
            state["fold"]["smoothing"] = empty.state["fold"]["smoothing"]
            second.state = state
        if t >= 40:
            second.explain_one(x, y, t=t)
    joined = first.merge(second)
    for feature in "abcd":
        assert joined.importance[feature] == pytest.approx(whole.importance[feature], rel=1e-9)
        assert joined.std_error[feature] == pytest.approx(whole.std_error[feature], rel=1e-9)
    assert joined.t == whole.t == 59


def test_merge_with_nothing_and_with_other_settings():
    setup = {"loss": squared, "alpha": 0.05, "seed": 6}
    some = explained(IncrementalPFI(product_model, **setup), stream(10))
    none = IncrementalPFI(product_model, **setup)
    assert some.merge(none).importance == none.merge(some).importance == some.importance
    with pytest.raises(ValueError, match=r"alpha is 0\.05 and 0\.1"):
        some.merge(IncrementalPFI(product_model, loss=squared, alpha=0.1))


def test_nothing_changes_when_the_model_or_the_loss_raises():
    trouble = {"model": False, "loss": None}

    def model(x):
        if trouble["model"]:
            raise RuntimeError("out of order")
        return product_model(x)

    def loss(y_true, y_pred):
        return squared(y_true, y_pred) if trouble["loss"] is None else trouble["loss"]

    pfi = explained(IncrementalPFI(model, loss=loss, seed=1), stream(20))
    twin = copy.deepcopy(pfi.state)
    x, y = next(stream(1, seed=3))
    trouble["model"] = True
    with pytest.raises(RuntimeError, match="out of order"):
        pfi.explain_one(x, y)
    trouble["model"] = False
    for value in (math.nan, math.inf):
        trouble["loss"] = value
        with pytest.raises(ValueError, match="the loss must be a finite number"):
            pfi.explain_one(x, y)
    trouble["loss"] = None
    assert pfi.state == twin


def test_the_observation_is_copied_and_left_as_it_is():
    pfi = IncrementalPFI(lambda x: x["a"], loss=squared, seed=1)
    x = {"a": 1.0}
    pfi.explain_one(x, 1.0)
    x["a"] = 5.0
    pfi.explain_one({"a": 2.0}, 2.0)
    assert pfi.importance == {"a": 1.0}
    assert x == {"a": 5.0}


def test_a_feature_that_was_missing_stays_missing():
    asked = []

    def model(x):
        asked.append(dict(x))
        return 0.0

    pfi = IncrementalPFI(model, ["a"], loss=squared, storage_size=1)
    pfi.explain_one({"a": 1.0}, 0.0)
    pfi.explain_one({}, 0.0)
    pfi.explain_one({"a": 2.0}, 0.0)
    assert asked == [{}, {"a": 1.0}, {"a": 2.0}, {}]


def test_an_unfitted_model_uses_no_feature():
    pfi = IncrementalPFI(naive_bayes.GaussianNB(), loss=metrics.CrossEntropy())
    explained(pfi, [({"a": 1.0}, True), ({"a": 2.0}, False)])
    assert pfi.importance == {"a": 0.0}


def test_weights_and_times():
    setup = {"loss": squared, "alpha": 0.1, "seed": 1}
    pfi = IncrementalPFI(product_model, **setup)
    other = IncrementalPFI(product_model, **setup)
    for t, (x, y) in enumerate(stream(20)):
        pfi.explain_one(x, y, 2.5, t=10 * t)
        other.explain_one(x, y, 1.0, t=10 * t)
    # Equal weights cancel in the mean.
    assert pfi.importance == pytest.approx(other.importance, rel=1e-12)
    before = pfi.importance
    pfi.explain_one(x, y, 0.0)
    assert pfi.importance == before
    with pytest.raises(ValueError, match="time must not go back"):
        pfi.explain_one(x, y, t=3)


def test_more_inner_samples_make_the_increases_less_noisy():
    one, many = (
        explained(
            IncrementalPFI(product_model, loss=squared, n_inner=n, alpha=None, seed=2), stream(600)
        )
        for n in (1, 20)
    )
    assert many.variance["a"] < 0.8 * one.variance["a"]


def dependent(rho, n=4_000, seed=6):
    """Values with a memory, which are their own labels."""
    rng = np.random.default_rng(seed)
    a = 0.0
    for _ in range(n):
        a = rho * a + np.sqrt(1 - rho**2) * rng.normal()
        yield {"a": a}, a


def test_a_band_knows_that_observations_depend_on_each_other():
    alone, together = (
        explained(IncrementalPFI(lambda x: x["a"], loss=squared, alpha=0.005, seed=2), dependent(r))
        for r in (0.0, 0.95)
    )
    plain = {pfi: float(pfi.memory.smoothing.std_error[0, 0]) for pfi in (alone, together)}
    assert 0.8 < alone.std_error["a"] / plain[alone] < 1.4
    assert together.std_error["a"] > 2 * plain[together]
    assert together.results()["a"].n_effective < alone.results()["a"].n_effective / 4


def test_blocks_of_segments_are_those_of_the_whole():
    table = list(dependent(0.9, n=700))
    whole, first = (
        IncrementalPFI(lambda x: x["a"], loss=squared, alpha=0.02, seed=2) for _ in range(2)
    )
    explained(whole, table)
    explained(first, table[:333])
    joined = first.merge(explained(first.successor(), table[333:]))
    assert joined.std_error["a"] == pytest.approx(whole.std_error["a"], rel=1e-9)
    twin = whole.successor()
    twin.state = json.loads(json.dumps(whole.state))
    assert twin.results() == whole.results()


def test_a_state_without_blocks_is_opened():
    pfi = explained(IncrementalPFI(lambda x: x["a"], loss=squared, seed=2), dependent(0.5, n=300))
    state = json.loads(json.dumps(pfi.state))
    del state["fold"]["blocks"]
    twin = pfi.successor()
    twin.state = state
    assert twin.importance == pfi.importance
    explained(twin, dependent(0.5, n=200, seed=7))
    assert np.isfinite(twin.std_error["a"])


def test_band_is_symmetric_and_wider_for_a_higher_level():
    pfi = explained(IncrementalPFI(product_model, loss=squared, alpha=None, seed=2), stream(500))
    for feature, (lower, upper) in pfi.band(0.95).items():
        assert (lower + upper) / 2 == pytest.approx(pfi.importance[feature])
        # 500 values: Student's quantile is the normal one to 1 %.
        assert (upper - lower) / 2 == pytest.approx(1.96 * pfi.std_error[feature], rel=0.01)
    assert pfi.band(0.99)["a"][0] < pfi.band(0.95)["a"][0]
    with pytest.raises(ValueError, match="level"):
        pfi.band(1.0)


@pytest.mark.parametrize(
    "metric",
    MEANS,
    ids=lambda metric: type(metric).__name__,
)
def test_metrics_that_are_means(metric):
    loss, wants_labels = per_sample_loss(metric)
    good, bad = (1.0, 1.0), (1.0, 3.0)
    if wants_labels:
        good, bad = (True, True), (True, False)
    elif hasattr(metric, "requires_labels"):
        good, bad = (True, {True: 0.9, False: 0.1}), (True, {True: 0.3, False: 0.7})
    assert loss(*good) < loss(*bad)


@pytest.mark.parametrize(
    "metric",
    OTHERS,
    ids=lambda metric: type(metric).__name__,
)
def test_metrics_that_are_not_means_are_refused(metric):
    with pytest.raises(ValueError, match="is not a mean over observations"):
        IncrementalPFI(lambda x: 1.0, loss=metric)


def test_the_metric_given_is_not_changed():
    metric = metrics.MAE()
    explained(IncrementalPFI(product_model, loss=metric), stream(5))
    assert metric.get() == 0.0


def test_probabilities_numbers_and_arrays_reach_a_loss_as_documented():
    seen = []

    def loss(y_true, y_pred):
        seen.append(y_pred)
        return 0.0

    x = {"a": 1.0}
    for model in (lambda x: {"yes": 1, "no": 0}, lambda x: 3, lambda x: [1, 2, 3]):
        explained(IncrementalPFI(model, loss=loss), [(x, 0), (x, 0)])
    assert seen[0] == {"yes": 1.0, "no": 0.0}
    assert seen[2] == 3.0
    assert seen[4].tolist() == [1.0, 2.0, 3.0]


def test_reading_before_there_is_anything():
    pfi = IncrementalPFI(product_model, loss=squared)
    for read in (lambda: pfi.importance, pfi.band, lambda: pfi.variance):
        with pytest.raises(NotEnoughSamples, match="second observation"):
            read()
    explained(pfi, stream(1))
    with pytest.raises(NotEnoughSamples):
        pfi.std_error  # noqa: B018  # reading it is what is tested
    explained(pfi, stream(1))
    assert math.isnan(pfi.std_error["a"])
    assert pfi.n_seen == pfi.t == 2


@pytest.mark.parametrize(
    ("setup", "error", "says"),
    [
        ({"loss": metrics.MAE}, TypeError, "MAE is a class: give a metric"),
        ({"loss": "mae"}, TypeError, "loss must be a river metric or a function"),
        ({"n_inner": 0}, ValueError, "n_inner must be a whole number of at least 1"),
        ({"storage_size": 0}, ValueError, "storage_size must be a whole number of at least 1"),
        ({"alpha": 2}, ValueError, "alpha must be in"),
        ({"features": []}, ValueError, "features is empty"),
    ],
)
def test_wrong_settings(setup, error, says):
    with pytest.raises(error, match=says):
        IncrementalPFI(product_model, **{"loss": squared} | setup)


def test_wrong_observations():
    pfi = IncrementalPFI(product_model, ["salry"], loss=squared)
    with pytest.raises(ValueError, match="did you mean 'salary'"):
        pfi.explain_one({"salary": 1.0}, 1.0)
    with pytest.raises(TypeError, match="one observation is a dict"):
        pfi.explain_one([1.0], 1.0)
    pfi = explained(IncrementalPFI(lambda x: [1, 2], loss=metrics.Accuracy()), [({"a": 1}, 0)])
    with pytest.raises(ValueError, match="does not name its outputs"):
        pfi.explain_one({"a": 1}, 0)


def test_wrong_states():
    pfi = IncrementalPFI(product_model, loss=squared)
    with pytest.raises(ValueError, match="version None"):
        pfi.state = {}
    with pytest.raises(ValueError, match=r"made with alpha = 0\.5"):
        pfi.state = IncrementalPFI(product_model, loss=squared, alpha=0.5).state
    with pytest.raises(TypeError, match="cannot be saved"):
        explained(pfi, [({"a": 1.0, "b": 1.0, "c": object()}, 1.0)])
    assert pfi.n_seen == 0


def test_repr_says_what_it_is():
    assert "loss=MAE" in repr(IncrementalPFI(product_model, loss=metrics.MAE()))
