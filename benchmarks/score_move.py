"""Whether `ipdp.score_move` names the feature whose data or effect was changed.

Half of the runs are i.i.d., half autoregressive with .9; a function, a booster or a learner of
river's; the values of one feature move, or its effect doubles. Default settings, 2,000 rows a side.

    python benchmarks/score_move.py --runs 30 --seed 70000
"""

from __future__ import annotations

import argparse
from itertools import product
from math import erf, sqrt

import numpy as np

import ipdp

NAMES = ["a", "b", "c", "d"]
CASES = list(product(("i.i.d.", "AR(.9)"), ("function", "booster", "learner"), ("data", "effect")))


def rows(rng: np.random.Generator, n: int, memory: float) -> np.ndarray:
    """Uniform values of four features, each with a memory of its own."""
    z = rng.normal(size=(n, 4))
    for t in range(1, n):
        z[t] = memory * z[t - 1] + sqrt(1 - memory**2) * z[t]
    return (1 + np.vectorize(erf)(z / sqrt(2))) / 2


def effects(weights: dict[str, float]):
    """A model of four features: a slope, a square, a step, and a product."""

    def model(x: dict[str, float]) -> float:
        return (
            weights["a"] * x["a"]
            + weights["b"] * x["b"] ** 2
            + weights["c"] * (x["c"] > 0.4)
            + weights["d"] * x["d"] * (0.5 + x["a"])
        )

    return model


def dicts(X: np.ndarray) -> list[dict[str, float]]:
    """The rows as a stream has them."""
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


def sides(rng, case: tuple[str, str, str], feature: str, n: int):
    """Curves before and after, and the mean predictions that the models really gave."""
    memory, kind, change = case
    before, after = (rows(rng, n, 0.9 if memory == "AR(.9)" else 0.0) for _ in range(2))
    weights = dict.fromkeys(NAMES, 1.0)
    changed = {**weights, feature: 2.0} if change == "effect" else weights
    if change == "data":
        after[:, NAMES.index(feature)] **= 0.4
    models, data = [effects(weights), effects(changed)], [before, after]
    if kind == "learner":
        return learned(rng, models, data)
    if kind == "booster":
        models = [boosted(rng, model) for model in models]
        models = models if change == "effect" else models[:1] * 2
    curves, means = [], []
    for model, X in zip(models, data, strict=True):
        pdp = ipdp.IncrementalPDP(model)
        pdp.explain_many(X, names=NAMES)
        curves.append(pdp)
        means.append(weighted(predictions(model, X)))
    return curves, means


def boosted(rng, truth):
    """A booster that was fitted to what a model says, with noise."""
    from sklearn.ensemble import GradientBoostingRegressor

    X = rows(rng, 1_500, 0.0)
    y = predictions(truth, X) + 0.1 * rng.normal(size=len(X))
    return GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X, y)


def learned(rng, truths, data):
    """One explainer of a linear model that learns, before and after."""
    from river import linear_model, preprocessing

    learner = preprocessing.StandardScaler() | linear_model.LinearRegression()
    for x in dicts(rows(rng, 2_000, 0.0)):
        learner.learn_one(x, truths[0](x) + 0.1 * rng.normal())
    pdp = ipdp.IncrementalPDP(learner)
    curves, said, means = [], [], []
    for truth, X in zip(truths, data, strict=True):
        for x in dicts(X):
            said.append(learner.predict_one(x))
            pdp.explain_one(x)
            learner.learn_one(x, truth(x) + 0.1 * rng.normal())
        curves.append(list(pdp.curves.values()))
        means.append(weighted(np.array(said)))
    return curves, means


def predictions(model, X: np.ndarray) -> np.ndarray:
    """What a model says of rows."""
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    return np.array([model(x) for x in dicts(X)])


def weighted(said: np.ndarray, alpha: float = 0.001) -> float:
    """The mean with the weights of the curves."""
    return float(np.average(said, weights=(1 - alpha) ** np.arange(len(said) - 1, -1, -1.0)))


def main() -> None:
    """Run all cases in turn, and print what came of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=70_000)
    parser.add_argument("--rows", type=int, default=2_000)
    given = parser.parse_args()
    found = []
    for run in range(given.runs):
        rng = np.random.default_rng(given.seed + run)
        memory, kind, change = CASES[run % len(CASES)]
        feature = NAMES[int(rng.integers(4))]
        curves, means = sides(rng, (memory, kind, change), feature, given.rows)
        move, true = ipdp.score_move(*curves), means[1] - means[0]
        first = move.parts[0]
        total = sum(part.total for part in move.parts) + move.level + move.rest
        is_right = first.feature == feature
        part = abs(first.data) > abs(first.model)
        found.append((is_right, part == (change == "data"), abs(total / move.move - 1)))
        off = (move.move - true) / true
        parts = " ".join(f"{p.feature} {p.data:+.3f}{p.model:+.3f}" for p in move.parts)
        print(
            f"{run:2} {memory:6} {kind:8} {change:6} {feature}: "
            f"{'first' if is_right else 'NOT FIRST'}; move {move.move:+.3f}, true {true:+.3f} "
            f"({off:+.1%}); {parts} level {move.level:+.3f} rest {move.rest:+.3f}",
            flush=True,
        )
    right, kinds, apart = zip(*found, strict=True)
    print(f"first in {sum(right)} of {len(right)}, with the right kind in {sum(kinds)}")
    print(f"parts and rest add up to the move within {max(apart):.1e}")


if __name__ == "__main__":
    main()
