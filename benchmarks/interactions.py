"""Does the search name the true pair, and at what cost? 30 streams of 20 features, two models.

python benchmarks/interactions.py              a table for docs/notes/interactions.md
python benchmarks/interactions.py --first 200  the streams from seed 200 on
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import ipdp
from ipdp.models import ArrayEngine

KINDS = ("independent", "neighbours .9", "all .6", "AR(.9)")
NAMES = [f"x{k}" for k in range(20)]
Function = Callable[[Any], Any]


def table(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Observations of 20 features, each of variance 1."""
    noise = rng.normal(size=(n, 20))
    if kind == "neighbours .9":
        gaps = np.abs(np.subtract.outer(np.arange(20), np.arange(20)))
        return noise @ np.linalg.cholesky(0.9**gaps).T
    if kind == "all .6":
        return 0.6**0.5 * rng.normal(size=(n, 1)) + 0.4**0.5 * noise
    if kind == "AR(.9)":
        for t in range(1, n):
            noise[t] = 0.9 * noise[t - 1] + 0.19**0.5 * noise[t]
    return noise


def truth(rng: np.random.Generator, *, classes: bool, learnt: bool) -> tuple[Function, set[int]]:
    """A function with one interaction in front of a strong additive background."""
    j, k = rng.choice(20, 2, replace=False).tolist()
    slopes = rng.normal(size=20)
    if classes:
        return lambda X: 1 / (1 + np.exp(-2.5 * X[:, j] * X[:, k] - X @ slopes / 3)), {j, k}
    # For a function 1 or 2 % of the variance; a booster of 4,000 rows does not learn so little.
    size = 3 if learnt else 0.5
    return lambda X: size * X[:, j] * X[:, k] + X @ slopes + 2 * np.sin(2 * X[:, 0]), {j, k}


def booster(X: Any, f: Function, rng: np.random.Generator, *, classes: bool) -> Function:
    """A model that has learnt the function."""
    if classes:
        fitted = HistGradientBoostingClassifier(max_iter=60, random_state=0)
        fitted.fit(X, rng.random(len(X)) < f(X))
        return lambda rows: fitted.predict_proba(rows)[:, 1]
    model = HistGradientBoostingRegressor(max_iter=100, random_state=0)
    return model.fit(X, f(X) + rng.normal(size=len(X))).predict


def stream(seed: int, *, learnt: bool) -> tuple[str, bool, float, float]:
    """Its kind, whether the true pair is first, its share of the variance, and the cost."""
    rng = np.random.default_rng(seed)
    kind, classes = KINDS[seed % 4], bool(seed // 4 % 2)
    X = table(kind, 4_000, rng)
    f, true = truth(rng, classes=classes, learnt=learnt)
    model = booster(X, f, rng, classes=classes) if learnt else f
    n = [0]

    def counted(rows: Any) -> Any:
        n[0] += len(rows)
        return model(rows)

    pdp = ipdp.IncrementalPDP(ArrayEngine(counted), alpha=0.002)
    pdp.explain_many(X[-600:], names=NAMES)
    singles = n[0]
    found = pdp.interactions()
    first = {NAMES.index(str(name)) for name in found[0].pair}
    what = "classes" if classes else "numbers"
    return f"{kind}, {what}", first == true, found[0].share, (n[0] - singles) / singles


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--model", choices=["function", "booster"], help="one of the two alone")
    wanted = parser.parse_args()
    print("| model | true pair first | share of the strongest | cost, of the curves |")
    print("|---|---|---|---|")
    for learnt in (False, True):
        if wanted.model and learnt != (wanted.model == "booster"):
            continue
        seeds = range(wanted.first, wanted.first + wanted.n)
        rows = [stream(seed, learnt=learnt) for seed in seeds]
        hits, shares, costs = (np.array(column) for column in list(zip(*rows, strict=True))[1:])
        print(
            f"| {'booster' if learnt else 'function'} | {hits.sum()} of {len(rows)} | "
            f"{shares.min():.3f} to {shares.max():.2f} | {costs.max():.2f} at most |",
            flush=True,
        )
        for kind, hit, share, _ in rows:
            if not hit:
                print(f"missed: {kind}, {share:.3f}")


if __name__ == "__main__":
    main()
