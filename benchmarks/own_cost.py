"""What ipdp itself costs, with models that cost nothing, against things that users know.

Every figure is a ratio taken in one run: the contestants take turns on blocks of the stream, thread
CPU time of each call is measured, and medians are compared.

    python benchmarks/own_cost.py [n_observations]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from river import tree
from sklearn.ensemble import RandomForestRegressor
from streams import elec2

import ipdp

SIZE = 10
BLOCK = 200


def main(n: int = 45_312) -> None:
    """Print the two tables."""
    one_by_one(n)
    inside_the_model()


def one_by_one(n: int) -> None:
    """`explain_one` for 8 features x 10 points against one prediction of a Hoeffding tree."""
    reference = tree.HoeffdingAdaptiveTreeClassifier(seed=1)
    constant = np.full(4 * 8 * SIZE, 0.5)
    vectorised = ipdp.models.engine(lambda X: constant[: len(X)], takes="array")
    paper = ipdp.grid.QuantileRange(SIZE, window=10_000, storage_size=500)
    old = ipdp.grid.Auto(SIZE, ends="extremes")
    explainers = {
        "array, by default": explainer(vectorised, None, estimator="regrid"),
        "array, Auto of extremes, pointwise": explainer(vectorised, old),
        "array, QuantileRange as in the paper": explainer(vectorised, paper),
        "array, QuantileRange by default": explainer(vectorised, ipdp.grid.QuantileRange(SIZE)),
        "array, MinMax": explainer(vectorised, ipdp.grid.MinMax(SIZE)),
        "array, QuantileRange, regrid": explainer(vectorised, paper, estimator="regrid"),
        "dict, QuantileRange as in the paper": explainer(lambda _: 0.5, paper),
    }
    times: dict[str, list[float]] = {name: [] for name in ("predict", *explainers)}
    stream = elec2(n)
    for start in range(0, n, BLOCK):
        block = stream[start : start + BLOCK]
        for x, y in block:
            times["predict"].append(timed(reference.predict_proba_one, x))
            reference.learn_one(x, y)
        for name, pdp in explainers.items():
            times[name] += [timed(pdp.explain_one, x) for x, _ in block]
    means = {
        name: sum(values[n // 10 :]) / len(values[n // 10 :]) for name, values in times.items()
    }
    medians = {name: median(values[n // 10 :]) for name, values in times.items()}
    print(f"explain_one, 8 features x {SIZE} points, a constant model; elec2, n = {n}")
    print(f"{'':38}{'microseconds':>14}{'mean':>8}{'/ predict_proba_one':>22}")
    for name, seconds in medians.items():
        label = "HoeffdingAdaptiveTree, one prediction" if name == "predict" else name
        ratio = seconds / medians["predict"]
        print(f"{label:38}{1e6 * seconds:14.1f}{1e6 * means[name]:8.1f}{ratio:22.2f}")


def explainer(
    model: Any, grid: ipdp.grid.Grid | None, *, estimator: Any = "pointwise"
) -> ipdp.IncrementalPDP:
    """An explainer of all features."""
    return ipdp.IncrementalPDP(model, grid=grid, estimator=estimator, seed=1)


def timed(call: Callable[[Any], Any], x: Any) -> float:
    """Thread CPU time of one call."""
    start = time.thread_time()
    call(x)
    return time.thread_time() - start


def inside_the_model() -> None:
    """Share of `explain_many` that is spent inside a random forest of 100 trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8))
    forest = RandomForestRegressor(100, random_state=0).fit(X, X[:, 0] * X[:, 1])
    inside = 0.0

    def predict(rows: Any) -> Any:
        nonlocal inside
        start = time.thread_time()
        answer = forest.predict(rows)
        inside += time.thread_time() - start
        return answer

    pdp = ipdp.IncrementalPDP(
        ipdp.models.engine(predict, takes="array"), grid=ipdp.grid.QuantileRange(SIZE), seed=1
    )
    start = time.thread_time()
    pdp.explain_many(X)
    whole = time.thread_time() - start
    print("\nexplain_many, 1,000 rows x 8 features x 10 points, RandomForest of 100 trees")
    print(f"share of the time inside the model: {inside / whole:.1%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
