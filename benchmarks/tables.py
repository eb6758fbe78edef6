"""`explain_many` on a table against scikit-learn's partial dependence as it is ordinarily called.

Every figure is a ratio taken in one run, of thread CPU time, the contestants taking turns.

    python benchmarks/tables.py [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import median
from time import thread_time
from typing import Any

import numpy as np
from growth import seconds
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression
from table import Row, show

import ipdp

N_ROWS, N_FEATURES, SIZE = 1_000, 8, 10


def rows(*, quick: bool = False) -> Iterator[Row]:
    """All figures of this file."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    models = [LinearRegression(), HistGradientBoostingRegressor(max_iter=50, random_state=0)]
    if not quick:
        models.append(RandomForestRegressor(100, random_state=0))
    fitted = [model.fit(X, y) for model in models]
    for model in fitted:
        repeats = 1 if isinstance(model, RandomForestRegressor) else 3
        ratio = median(ordinary(model, X) / ours(model, X) for _ in range(repeats))
        yield Row(
            f"sklearn's partial_dependence / explain_many, {N_ROWS:,} rows",
            type(model).__name__,
            ratio,
        )
    for model in fitted:
        share = inside(model, X)
        yield Row("share of explain_many inside the model", type(model).__name__, share)


def ours(model: Any, X: Any) -> float:
    """All rows in one call."""
    pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(SIZE, warm_up=2), seed=1)
    return seconds(pdp.explain_many, X)


def ordinary(model: Any, X: Any) -> float:
    """What a user without ipdp would do: the curve of each feature, one by one, without bands."""
    grid = {k: np.linspace(*np.quantile(X[:, k], (0.05, 0.95)), SIZE) for k in range(N_FEATURES)}
    start = thread_time()
    for k in range(N_FEATURES):
        partial_dependence(
            model, X, [k], method="brute", custom_values={k: grid[k]}, kind="average"
        )
    return thread_time() - start


def inside(model: Any, X: Any) -> float:
    """Share of the time that the model itself takes."""
    spent = 0.0

    def predict(table: Any) -> Any:
        nonlocal spent
        start = thread_time()
        answer = model.predict(table)
        spent += thread_time() - start
        return answer

    whole = ours(ipdp.models.engine(predict, takes="array"), np.tile(X, (5, 1)))
    return spent / whole


if __name__ == "__main__":
    show(rows(quick="--quick" in sys.argv))
