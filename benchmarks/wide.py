"""Many features on a budget: what `max_features` costs, and how soon a change is seen.

    python benchmarks/wide.py [--part price|found|bands]

*price*: thread CPU time of an observation of 1,000 features under river's StandardScaler |
LogisticRegression and under a function of an array: all of its features, 100 of them, and all with
`max_features=100`.
*found*: one slope of 1,000 changes; after how many observations its curve has moved most.
*bands*: how often the band of 95 % holds the curve that all observations give.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
from river import linear_model, preprocessing

import ipdp

D, SIZE = 1_000, 100
NAMES = [f"f{k}" for k in range(D)]


def rows(n: int, seed: int, d: int = D) -> list[dict[str, float]]:
    """Independent normal numbers."""
    rng = np.random.default_rng(seed)
    return [dict(zip(NAMES[:d], map(float, row), strict=True)) for row in rng.normal(size=(n, d))]


def linear(d: int) -> object:
    """A function of an array."""
    weights = np.linspace(-1, 1, d)
    return ipdp.models.ArrayEngine(lambda X: X @ weights)


def price() -> None:
    """Time of an observation; the second half counts."""
    print("StandardScaler | LogisticRegression")
    _price(1_500, lambda _: preprocessing.StandardScaler() | linear_model.LogisticRegression())
    print("a function of an array")
    _price(160, linear)


def _price(n: int, make: Any) -> None:
    for label, d, settings in (
        ("100 features, all asked about", SIZE, {}),
        ("1,000 features, 100 explained", D, {"features": NAMES[:SIZE]}),
        ("1,000 features, max_features=100", D, {"max_features": SIZE}),
        ("1,000 features, all asked about", D, {}),
    ):
        model = make(d)
        pdp = ipdp.IncrementalPDP(model, seed=1, **settings)
        times = []
        for x in rows(n, 0, d):
            start = time.thread_time()
            pdp.explain_one(x)
            times.append(1e3 * (time.thread_time() - start))
            if hasattr(model, "learn_one"):
                model.learn_one(x, x["f0"] > x["f1"])
        times = sorted(times[n // 2 :])
        mean, median = statistics.mean(times), statistics.median(times)
        print(f"{label}: mean {mean:.2f} ms, median {median:.2f}, p99 {times[-n // 200]:.2f}")


def found(seeds: range) -> None:
    """After how many observations the curve of a feature that begins to matter is the largest."""
    needed = []
    for seed in seeds:
        weights = np.random.default_rng(seed).normal(size=D) * 0.02
        engine = ipdp.models.ArrayEngine(lambda X, weights=weights: X @ weights)
        grid = ipdp.grid.Fixed([-1.0, 0.0, 1.0])
        settings = {"grid": grid, "n_past": 0, "n_ice": 0, "seed": seed}
        pdp = ipdp.IncrementalPDP(engine, max_features=SIZE, **settings)
        for t, x in enumerate(rows(1_400, 500 + seed)):
            if t == 400:
                weights[37] = 3.0
            pdp.explain_one(x)
            if t >= 400 and pdp.memory.targets[37].n:
                mean = pdp.memory.means.smoothing.mean[1].reshape(D, 3)
                if np.ptp(mean, axis=1).argmax() == 37:
                    needed.append(t - 399)
                    break
        else:
            needed.append(10_000)
    print(f"found after {sorted(needed)} observations, median {statistics.median(needed)}")


def bands(seeds: range, n: int = 1_500, d: int = 12) -> None:
    """Coverage of the curve over all observations ever, of independent rows and of AR(.9)."""
    for rho in (0.0, 0.9):
        hits = []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(n, d))
            for t in range(1, n):
                X[t] = rho * X[t - 1] + np.sqrt(1 - rho**2) * X[t]
            slopes = np.linspace(-1, 1, d)
            engine = ipdp.models.ArrayEngine(lambda X, s=slopes: X @ s + X[:, 0] * X[:, 1])
            settings = {"grid": ipdp.grid.Fixed([-1.0, 0.0, 1.0]), "alpha": 0.005, "seed": seed}
            pdp = ipdp.IncrementalPDP(engine, max_features=3, n_past=0, **settings)
            for row in X:
                pdp.explain_one(dict(zip(NAMES[:d], map(float, row), strict=True)))
            for k, curve in enumerate(pdp.curves.values()):
                truth = slopes[k] * np.array([-1.0, 0.0, 1.0])
                low, high = curve.band(0.95)
                hits.append((low[0] <= truth) & (truth <= high[0]))
        print(f"rho {rho}: the band of 95 % holds the partial dependence {np.mean(hits):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["price", "found", "bands"])
    parser.add_argument("--seed", type=int, default=0)
    part, seed = vars(parser.parse_args()).values()
    if part in (None, "price"):
        price()
    if part in (None, "found"):
        found(range(seed, seed + 8))
    if part in (None, "bands"):
        bands(range(seed, seed + 20))
