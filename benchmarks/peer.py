"""One library's partial dependence of one model, timed; run in the library's own environment.

    python benchmarks/peer.py NAME

Needs numpy, pandas and scikit-learn beside the library, and nothing of ipdp. Prints one line of
JSON: CPU seconds of the library and of one stacked prediction of the same points in the same
environment, and how far its curves are from that prediction's means.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats.mstats import mquantiles
from sklearn.ensemble import HistGradientBoostingRegressor

N_ROWS, D, M = 2_000, 8, 10
NAMES = [f"f{k}" for k in range(D)]


def data() -> tuple[pd.DataFrame, Any]:
    """Eight numbers that interact, and what they say."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N_ROWS, D))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + rng.normal(size=N_ROWS) / 2
    return pd.DataFrame(X, columns=NAMES), y


def points(X: pd.DataFrame) -> dict[str, Any]:
    """Ten points of each feature, between the two quantiles that scikit-learn takes."""
    return {name: np.linspace(*mquantiles(X[name], (0.05, 0.95)), M) for name in NAMES}


def stacked(model: Any, X: pd.DataFrame, grid: dict[str, Any]) -> Any:
    """The curves by one call of the model with every point of every row, (D, M)."""
    rows = np.repeat(X.to_numpy()[:, None], D * M, axis=1)
    for k, name in enumerate(NAMES):
        rows[:, k * M : (k + 1) * M, k] = grid[name]
    table = pd.DataFrame(rows.reshape(-1, D), columns=NAMES)
    return model.predict(table).reshape(len(X), D, M).mean(axis=0)


def predict_rows(model: Any) -> Callable[[Any], Any]:
    """The model as a function of an array."""
    return lambda rows: model.predict(pd.DataFrame(rows, columns=NAMES))


def by_sklearn(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """As it is ordinarily called, a feature at a time."""
    del y
    from sklearn.inspection import partial_dependence

    found = [
        partial_dependence(
            model, X, [name], kind="average", method="brute", custom_values={name: grid[name]}
        )
        for name in NAMES
    ]
    return np.array([each["average"][0] for each in found])


def by_dalex(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """Partial dependence profiles of all rows."""
    import dalex

    explainer = dalex.Explainer(model, X, y, verbose=False)
    found = explainer.model_profile(
        type="partial", N=None, variable_splits=grid, verbose=False
    ).result
    return np.array([found[found["_vname_"] == name]["_yhat_"] for name in NAMES])


def by_alibi(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """The general partial dependence, with its points given."""
    del y
    from alibi.explainers import PartialDependence

    explainer = PartialDependence(predict_rows(model), feature_names=NAMES)
    given = {k: grid[name] for k, name in enumerate(NAMES)}
    found = explainer.explain(
        X.to_numpy(), features=list(range(D)), kind="average", grid_points=given
    )
    return np.array([values[0] for values in found.data["pd_values"]])


def by_effector(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """Its partial dependence at given points."""
    del y
    import effector

    pdp = effector.PDP(
        X.to_numpy(),
        lambda rows: model.predict(pd.DataFrame(rows, columns=NAMES)),
        nof_instances="all",
    )
    return np.array([pdp.eval(k, grid[name], centering=False) for k, name in enumerate(NAMES)])


def by_pdpbox(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """A `PDPIsolate` for each feature."""
    del y
    from pdpbox.pdp import PDPIsolate

    found = []
    for name in NAMES:
        pdp = PDPIsolate(
            model=model, df=X, model_features=NAMES, feature=name, feature_name=name, n_classes=0,
            grid_type="equal", num_grid_points=M, cust_grid_points=grid[name], n_jobs=1,
        )  # fmt: skip
        found.append(pdp.results[0].pdp)
    return np.array(found)


def by_woodelf(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """Its partial dependence of trees; the points are its own, by the same quantiles."""
    del y, grid
    from woodelf.pdp import woodelf_pdp

    values, _ = woodelf_pdp(model, X, k=M, centered=False, verbose=False)
    return np.array([values[name] for name in NAMES])


def by_pyale(model: Any, X: pd.DataFrame, grid: dict[str, Any], y: Any) -> Any:
    """Accumulated local effects, which are other curves."""
    del y, grid
    from PyALE import ale

    for name in NAMES:
        ale(X=X, model=model, feature=[name], grid_size=M, plot=False, include_CI=False)
    return None


LIBRARIES: dict[str, Callable[..., Any]] = {
    "scikit-learn": by_sklearn,
    "woodelf_explainer": by_woodelf,
    "dalex": by_dalex,
    "alibi": by_alibi,
    "effector": by_effector,
    "pdpbox": by_pdpbox,
    "PyALE": by_pyale,
}


def measured(call: Callable[..., Any], repeats: int = 3) -> tuple[float, float, Any]:
    """CPU seconds of a library and of one stacked prediction, in turns, and how far it is off."""
    X, y = data()
    model = HistGradientBoostingRegressor(max_iter=100, early_stopping=False, random_state=0)
    model.fit(X, y)
    grid = points(X)
    times: list[list[float]] = [[], []]
    found = wanted = None
    for _ in range(repeats):
        start = time.process_time()
        found = call(model, X, grid, y)
        middle = time.process_time()
        wanted = stacked(model, X, grid)
        times[0].append(middle - start)
        times[1].append(time.process_time() - middle)
    off = None if found is None else float(np.abs(np.asarray(found) - wanted).max())
    return min(times[0]), min(times[1]), off


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    library, reference, difference = measured(LIBRARIES[sys.argv[1]])
    print(json.dumps({"library": library, "stacked": reference, "difference": difference}))
