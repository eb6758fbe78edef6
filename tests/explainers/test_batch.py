"""`ipdp.partial_dependence` against scikit-learn's brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.inspection import partial_dependence as sklearn_partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ipdp
from ipdp.grid import Auto, Categories, MinMax, QuantileRange, Quantiles

N = 60
GRID = [-1.0, -0.2, 0.4, 1.3]


def regression() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = make_regression(N, 4, random_state=1)
    return pd.DataFrame(X, columns=list("abcd")), y / 10


def classification(n_classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = make_classification(
        N, 4, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=1
    )
    return pd.DataFrame(X, columns=list("abcd")), y


REGRESSORS = [
    LinearRegression(),
    DecisionTreeRegressor(max_depth=4, random_state=0),
    HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=3, random_state=0),
    MLPRegressor(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=30, random_state=0),
    make_pipeline(StandardScaler(), LinearRegression()),
]
CLASSIFIERS = [
    LogisticRegression(),
    DecisionTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(10, random_state=0),
    HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3, random_state=0),
    MLPClassifier(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=30, random_state=0),
    RidgeClassifier(),  # decision_function only
]


def both(model, X, features, weights=None, **settings):
    """Our curve and scikit-learn's result on the same grid."""
    names = features if isinstance(features, tuple) else (features,)
    [curve] = ipdp.partial_dependence(
        model, X, [features], grid=ipdp.grid.Fixed(GRID), weights=weights
    )
    theirs = sklearn_partial_dependence(
        model,
        X,
        list(names),
        method="brute",
        kind="average" if weights is not None else "both",
        sample_weight=weights,
        custom_values=dict.fromkeys(names, np.array(GRID)),
        **settings,
    )
    return curve, theirs


def positive_class(values: np.ndarray) -> np.ndarray:
    """scikit-learn shows one of two classes, the second."""
    return values[1:] if len(values) == 2 else values


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("features", ["b", ("a", "c")])
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)
def test_regression(model, features):
    X, y = regression()
    curve, theirs = both(model.fit(X, y), X, features)
    assert curve.outputs == ("prediction",)
    np.testing.assert_allclose(curve.average, theirs["average"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(curve.ice, theirs["individual"], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("features", ["b", ("a", "c")])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_classification(model, n_classes, features):
    X, y = classification(n_classes)
    curve, theirs = both(model.fit(X, y), X, features)
    np.testing.assert_allclose(
        positive_class(curve.average), theirs["average"], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        positive_class(curve.ice), theirs["individual"], rtol=1e-9, atol=1e-9
    )


def test_a_classifier_has_one_row_for_each_class():
    X, y = classification(3)
    model = LogisticRegression().fit(X, np.array(["x", "y", "z"])[y])
    [curve] = ipdp.partial_dependence(model, X, "a")
    assert curve.outputs == ("x", "y", "z")
    np.testing.assert_allclose(curve.average.sum(axis=0), 1)


@pytest.mark.parametrize("features", ["b", ("a", "c")])
def test_weights(features):
    X, y = regression()
    weights = np.random.default_rng(0).uniform(0, 3, N)
    curve, theirs = both(DecisionTreeRegressor(max_depth=4).fit(X, y), X, features, weights=weights)
    np.testing.assert_allclose(curve.average, theirs["average"], rtol=1e-9, atol=1e-9)


def test_categories():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], N),
            "big": rng.choice([True, False], N),
            "a": rng.normal(size=N),
        }
    )
    y = (X["colour"] == "red") * 2.0 + X["a"] + X["big"]
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeRegressor(random_state=0)).fit(X, y)
    colour, big, pair = ipdp.partial_dependence(model, X, ["colour", "big", ("colour", "big")])
    for curve in (colour, big, pair):
        theirs = sklearn_partial_dependence(
            model,
            X,
            list(curve.features),
            method="brute",
            kind="both",
            categorical_features=["colour", "big"],
        )
        for ours, other in zip(curve.grid_values, theirs["grid_values"], strict=True):
            assert ours.tolist() == other.tolist()
        np.testing.assert_allclose(curve.average, theirs["average"], rtol=1e-9)
        np.testing.assert_allclose(curve.ice, theirs["individual"], rtol=1e-9)


def test_several_targets():
    X, y = regression()
    model = LinearRegression().fit(X, np.column_stack([y, -y]))
    [curve] = ipdp.partial_dependence(model, X, "a")
    assert curve.outputs == (0, 1)
    np.testing.assert_allclose(curve.average[0], -curve.average[1], atol=1e-9)


def test_the_grid_spans_the_whole_table():
    X, y = regression()
    model = LinearRegression().fit(X, y)
    minmax, quantiles = (
        ipdp.partial_dependence(model, X, "a", grid=grid)[0].grid_values[0]
        for grid in (ipdp.grid.MinMax(5, window=3), ipdp.grid.Quantiles(5, window=3))
    )
    np.testing.assert_allclose(minmax, np.linspace(X["a"].min(), X["a"].max(), 5))
    np.testing.assert_allclose(quantiles, np.quantile(X["a"], [0, 0.25, 0.5, 0.75, 1]))


def test_missing_values_are_left_out_of_the_grid():
    X = [{"a": 1.0}, {"a": None}, {"a": float("nan")}, {"a": 3.0}]
    [curve] = ipdp.partial_dependence(lambda x: x["a"], X, grid=ipdp.grid.MinMax(3))
    assert curve.grid_values[0].tolist() == [1, 2, 3]
    assert curve.n_samples == 4


def test_without_ice_memory_is_bounded_and_the_average_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_500, 2))
    model = ipdp.models.engine(lambda X: X[:, 0] * X[:, 1], takes="array")
    with_ice, without = (ipdp.partial_dependence(model, X, [0], ice=flag)[0] for flag in (1, 0))
    assert with_ice.ice is not None
    assert without.ice is None
    np.testing.assert_allclose(with_ice.average, without.average, atol=1e-12)
    np.testing.assert_allclose(with_ice.std_error, without.std_error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": []}, "no rows"),
        ({"X": [{"a": None}]}, "feature 'a' has no values"),
        ({"X": [{"a": 1.0}], "weights": [1, 2]}, "weights has 2 values for 1 rows"),
        ({"X": [{"a": 1.0}], "weights": [0]}, "must not all be 0"),
        ({"X": [{"a": 1.0}], "weights": [-1]}, "at least 0"),
        ({"X": [{"abc": 1.0}], "features": ["abd"]}, "did you mean 'abc'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        ipdp.partial_dependence(lambda x: 0.0, **arguments)


def test_the_incremental_one_converges_to_it():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    model = ipdp.models.engine(lambda X: np.sin(3 * X[:, 0]) * X[:, 1], takes="array")
    grid = ipdp.grid.Fixed(np.linspace(0, 1, 9))
    [batch] = ipdp.partial_dependence(model, X, [0], grid=grid)
    pdp = ipdp.IncrementalPDP(model, [0], alpha=None, grid=grid)
    pdp.explain_many(X)
    curve = pdp.curve(0)
    np.testing.assert_allclose(curve.average, batch.average, rtol=1e-12)
    # The batch takes rows as independent. The stream finds out from 50 blocks: 6 / 50 is the
    # relative variance of its estimate, a quarter of it that of its root: four times that root.
    np.testing.assert_allclose(curve.std_error, batch.std_error, rtol=0.7)
    assert not batch.provisional


def test_grids_of_a_pair_say_nothing_of_the_other_features():
    rows = [{"a": k / 3, "b": k % 4 / 2, "c": 1.0, "d": k % 5 / 2} for k in range(30)]
    fixed = ipdp.grid.Fixed([0.0, 1.0])
    [curve] = ipdp.partial_dependence(
        lambda x: x["b"] * x["d"] + x["a"], rows, [("b", "d")], grid={"b": fixed, "d": fixed}
    )
    assert curve.average.shape == (1, 2, 2)
    with pytest.raises(ValueError, match="there is no feature 'e'"):
        ipdp.partial_dependence(lambda x: x["b"], rows, ["b"], grid={"e": fixed})


@pytest.mark.parametrize("whole", [False, True])
def test_the_default_grid_covers_the_quantiles_of_all_rows(whole):
    # More rows than the default grid keeps values of on a stream.
    values = np.random.default_rng(5).normal(scale=300.0, size=3_000)
    column = [int(v) for v in values] if whole else values.tolist()
    column[7] = None
    [curve] = ipdp.partial_dependence(lambda x: 1.0, [{"a": v} for v in column], ice=False)
    known = sorted(v for v in column if v is not None)
    ends = np.quantile(known, [0.01, 0.99])
    if whole:
        ends = np.floor(ends + 0.5)
    np.testing.assert_allclose(curve.grid_values[0][[0, -1]], ends, rtol=1e-14)
    ranks = np.linspace(0, len(known) - 1, 200).round().astype(int)
    assert curve.rug[0].tolist() == [known[k] for k in ranks]


@pytest.mark.parametrize("kind", ["numbers", "whole", "few", "mixed", "text", "truth"])
def test_a_grid_takes_a_table_as_it_takes_its_rows(kind):
    rng = np.random.default_rng(6)
    column = {
        "numbers": rng.normal(size=90).tolist(),
        "whole": rng.integers(0, 50, 90).tolist(),
        "few": rng.integers(0, 4, 90).tolist(),
        "mixed": [1, 2.5, *range(88)],
        "text": rng.choice(["x", "y", "z"], 90).tolist(),
        "truth": (rng.random(90) < 0.3).tolist(),
    }[kind]
    grids = [Auto(), Auto(ends="extremes"), QuantileRange(5), Quantiles(5), MinMax(5), Categories()]
    for pattern in grids if kind not in ("text", "truth") else [grids[0], grids[-1]]:
        one, whole = pattern.spanning(90).fresh(), pattern.spanning(90).fresh()
        for value in column:
            one.update(value)
        whole.take(column)
        assert (one.points.tolist(), one.keys) == (whole.points.tolist(), whole.keys)
        assert (one.rug.tolist(), one.n_values) == (whole.rug.tolist(), whole.n_values)
        assert (one.whole, one.categorical) == (whole.whole, whole.categorical)
