"""`explain_many`, pairs and `explain_one` on batch-trained trees against one stacked prediction.

    python benchmarks/forests.py [--rows 2000]

The stacked prediction is the model called once with every point of every row: 8 features x 10
points, which are the points of the walk too. CPU time of one thread, the least of three. LightGBM
and XGBoost are measured where they are installed. `--threads` says how much sooner two threads are
done with the walk, by the clock.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import ipdp

D, M = 8, 10


def data(n: int) -> tuple[Any, Any]:
    """Eight features, two of them whole numbers, that interact."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, D))
    X[:, 5:7] = np.round(3 * X[:, 5:7])
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (X[:, 5] > 1) * X[:, 3] - 0.3 * X[:, 6]
    return X, (score + rng.normal(scale=0.5, size=n) > 0).astype(int)


def models() -> dict[str, Any]:
    """Those that are installed, each with 100 trees."""
    found: dict[str, Any] = {
        "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=100, early_stopping=False),
        "GradientBoosting": GradientBoostingClassifier(n_estimators=100),
        "RandomForest": RandomForestClassifier(100, n_jobs=1),
    }
    try:
        import lightgbm

        found["LightGBM"] = lightgbm.LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1)
        import xgboost

        found["XGBoost"] = xgboost.XGBClassifier(n_estimators=100, n_jobs=1)
    except ImportError:
        pass
    return found


def seconds(
    call: Callable[..., Any], *given: Any, n: int = 1, clock: Any = time.process_time
) -> float:
    """CPU time of all threads, the least of n."""
    taken = []
    for _ in range(n):
        start = clock()
        call(*given)
        taken.append(clock() - start)
    return min(taken)


def stacked(X: Any) -> Any:
    """Every point of every row, as rows."""
    rows = np.repeat(X[:, None], D * M, axis=1)
    for k in range(D):
        rows[:, k * M : (k + 1) * M, k] = np.linspace(X[:, k].min(), X[:, k].max(), M)
    return rows.reshape(-1, D)


def measure(name: str, model: Any, X: Any, n: int) -> None:
    """Print the ratios of one model."""
    settings: Any = {"grid": ipdp.grid.MinMax(M), "alpha": 0.001, "estimator": "pointwise"}
    pdp = ipdp.IncrementalPDP(model, **settings)
    pdp.explain_many(X[:1000])
    plain = seconds(model.predict_proba, stacked(X[1000 : 1000 + n]), n=3)
    ours = seconds(pdp.explain_many, X[1000 : 1000 + n], n=3)
    rows = [dict(enumerate(row)) for row in X[:1000].tolist()]
    layout = pdp.memory.means.layout
    positions = np.repeat(pdp.memory.positions.now()[None], len(rows), axis=0)
    engine: Any = pdp.engine
    walk = seconds(engine.ice_again, rows, layout.probes, positions, n=3) / len(rows)
    rows = rows[:100]
    one = seconds(lambda: [pdp.explain_one(x) for x in rows])
    before = ipdp.IncrementalPDP(engine.plain, **settings)
    before.explain_many(X[:1000])
    one_before = seconds(lambda: [before.explain_one(x) for x in rows])
    print(
        f"{name:22} stacked {plain / n * 1e6:6.0f} us a row, explain_many {plain / ours:5.1f} x "
        f"faster, the walk alone {plain / n / walk:5.1f}; explain_one {one_before / one:4.1f} "
        f"times faster than by calls ({one * 10:.2f} ms)",
        flush=True,
    )


def pairs(name: str, model: Any, X: Any, n: int) -> None:
    """Print the cost of all pairs."""
    settings: Any = {"grid": ipdp.grid.MinMax(M), "alpha": 0.001, "estimator": "pointwise"}
    pdp = ipdp.IncrementalPDP(model, list(combinations(range(D), 2)), **settings)
    pdp.explain_many(X[:1000])
    taken = seconds(pdp.explain_many, X[1000 : 1000 + n])
    engine: Any = pdp.engine
    rows = [dict(enumerate(row)) for row in X[:200].tolist()]
    positions = np.repeat(pdp.memory.positions.now()[None], len(rows), axis=0)
    walk = seconds(engine.ice_again, rows, pdp.memory.means.layout.probes, positions) / 200
    print(
        f"{name:22} 28 pairs x 20,000 rows: {taken / n * 20_000:5.1f} s of CPU, "
        f"the walk alone {walk * 20_000:5.1f} s"
    )


def threads(model: Any, X: Any) -> None:
    """Print how much sooner two threads are done with the walk, by the clock."""
    pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.MinMax(M), estimator="pointwise")
    pdp.explain_many(X[:1000])
    rows = [dict(enumerate(row)) for row in X[:4000].tolist()]
    asked = rows, pdp.memory.means.layout.probes
    positions = np.repeat(pdp.memory.positions.now()[None], len(rows), axis=0)
    engine: Any = pdp.engine
    taken = []
    for n in ("1", "2"):
        os.environ["OMP_NUM_THREADS"] = n
        taken.append(seconds(engine.ice_again, *asked, positions, n=5, clock=time.perf_counter))
    os.environ["OMP_NUM_THREADS"] = "1"
    print(f"two threads are done {taken[0] / taken[1]:.2f} times as soon as one")


def main() -> None:
    """All models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--threads", action="store_true")
    n, with_threads = vars(parser.parse_args()).values()
    X, y = data(6000 + n)
    for name, model in models().items():
        model.fit(X[:5000], y[:5000])
        measure(name, model, X, n)
        if name in ("LightGBM", "HistGradientBoosting"):
            pairs(name, model, X, n)
        if with_threads:
            threads(model, X)


if __name__ == "__main__":
    main()
