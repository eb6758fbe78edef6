"""The thresholds of a model's trees: between two of them nothing changes, at each something may."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from river import tree
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import ipdp
from ipdp.grid import Thresholds

MODELS = {
    "tree": DecisionTreeRegressor(max_depth=5, random_state=0),
    "extra trees": ExtraTreesRegressor(8, max_depth=5, random_state=0),
    "forest": RandomForestClassifier(8, max_depth=5, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "histogram boosting": HistGradientBoostingRegressor(max_iter=8, random_state=0),
}


@pytest.fixture(scope="module")
def table():
    """Numbers, whole numbers and one column that says nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=400), "n": rng.integers(0, 9, 400), "still": np.zeros(400)}
    )
    return X, (np.sin(2 * X.a) + (X.n > 4) > 0.5).astype(int)


def answers(model, X):
    """What the library itself says, one column for each output."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.predict(X)[:, None]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("feature", ["a", "n"])
def test_a_curve_at_the_thresholds_has_every_step(name, feature, table):
    """Wherever it is read, the step that it lies in is the mean of the model's own answers."""
    X, y = table
    model = MODELS[name].fit(X, y)
    at = ipdp.models.thresholds(model)
    assert set(at) == {"a", "n"}
    grid = Thresholds(at[feature], size=10_000)
    [curve] = ipdp.partial_dependence(model, X, [feature], grid={feature: grid})
    points = curve.grid_values[0]
    rng = np.random.default_rng(1)
    for value in [*rng.uniform(points[0], points[-1], 30), *rng.choice(points, 10)]:
        expected = answers(model, X.assign(**{feature: value})).mean(axis=0)
        step = np.searchsorted(points, value)
        np.testing.assert_allclose(curve.average[:, step], expected, atol=1e-9)


def test_a_feature_that_is_split_by_category_has_none(table):
    X, y = table
    X = X.assign(kind=pd.Categorical(np.where(X.n % 2, "odd", "even")))
    model = HistGradientBoostingClassifier(
        max_iter=5, categorical_features="from_dtype", random_state=0
    ).fit(X[["kind", "a"]], y ^ (X.n % 2))
    assert set(ipdp.models.thresholds(model)) == {"a"}


def test_names_of_a_model_that_was_trained_on_an_array(table):
    X, y = table
    model = DecisionTreeRegressor(max_depth=3).fit(X.to_numpy(), y)
    assert set(ipdp.models.thresholds(model, names=list(X))) <= {"a", "n"}
    with pytest.raises(ValueError, match=r"give names=\[\.\.\.\]"):
        ipdp.models.thresholds(model)
    with pytest.raises(ValueError, match="names has 1"):
        ipdp.models.thresholds(model, names=["a"])


def test_a_model_without_trees_is_refused(table):
    X, y = table
    tree_in_pipeline = make_pipeline(StandardScaler(), DecisionTreeRegressor()).fit(X, y)
    for model in (LinearRegression().fit(X, y), tree.HoeffdingTreeClassifier(), tree_in_pipeline):
        with pytest.raises(TypeError, match=f"{type(model).__name__} has no trees whose"):
            ipdp.models.thresholds(model)
    with pytest.raises(ValueError, match="perhaps it is not trained yet"):
        ipdp.models.thresholds(DecisionTreeRegressor())


def test_a_model_that_learns_on_is_followed_at_the_same_points(table):
    """In the stream, with a state in between; the default estimator leaves the points alone."""
    X, y = table
    model = MODELS["forest"].fit(X, y)
    grid = {name: Thresholds(at) for name, at in ipdp.models.thresholds(model).items()}
    pdp = ipdp.IncrementalPDP(model, ["a", "n"], grid=grid, alpha=None)
    pdp.explain_many(X[:200])
    resumed = ipdp.IncrementalPDP(model, ["a", "n"], grid=grid, alpha=None)
    resumed.state = pdp.state
    resumed.explain_many(X[200:])
    for feature, own in grid.items():
        curve = resumed.curve(feature)
        np.testing.assert_array_equal(curve.grid_values[0], own.points)
        [batch] = ipdp.partial_dependence(model, X, [feature], grid={feature: own})
        np.testing.assert_allclose(curve.average, batch.average, atol=1e-12)
