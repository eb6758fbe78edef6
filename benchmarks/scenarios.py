"""Streams in which it is known what changes, where and of which kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from river import forest, tree
from river.datasets import synth
from scipy.stats import norm
from sklearn.tree import DecisionTreeRegressor

import ipdp
from ipdp.datasets import Hyperplane

NAMES = [f"x{k}" for k in range(8)]

Example = tuple[dict[str, Any], Any]
Made = tuple[Any, Iterator[Example], list[str]]


class Scenario(NamedTuple):
    """A stream with a change, and what is to be found.

    Attributes
    ----------
    make
        From seed, and numbers of observations before and after the drift, to model, examples and
        features to explain.
    changes
        Of which kind the change of each feature is that changes; the first is the one to be found.
    before, after
        Number of observations before and after the drift.
    difference
        By how much the effect changes at some values, up to a constant; where a half of the
        largest difference is reached is the place to be found.
    learns
        Whether the model learns along.
    settles
        So many observations are for the model to settle; alarms do not count before.
    """

    make: Callable[[int, int, int], Made]
    changes: dict[str, str]
    before: int
    after: int
    difference: Callable[[Any], Any] | None = None
    learns: bool = False
    settles: int = 0


# Models.


def curved(X: Any) -> Any:
    """A smooth function with interactions; x5, x6 and x7 do not matter."""
    return np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + X[:, 4]


def grown_tree(seed: int) -> Callable[[Any], Any]:
    """A regression tree of 40 leaves, fitted once."""
    Z = np.random.default_rng(100 + seed).normal(size=(3000, 8))
    fitted = DecisionTreeRegressor(max_leaf_nodes=40, random_state=0).fit(Z, curved(Z)).tree_
    return lambda X: fitted.predict(X.astype(np.float32))[:, 0]


def frozen(function: Callable[[Any], Any]) -> Any:
    """An engine for a function of an array."""
    return ipdp.models.engine(function, takes="array")


class Linear:
    """Eight weights and some products, learnt by gradient descent, evaluated in stacks."""

    def __init__(self) -> None:
        self.weights = np.zeros(10)

    def terms(self, X: Any) -> Any:
        """The features and two products of them."""
        return np.column_stack([X, X[:, 4] * X[:, 5], X[:, 6] * X[:, 7]])

    def __call__(self, X: Any) -> Any:
        return self.terms(X) @ self.weights

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        """One step of gradient descent."""
        terms = self.terms(np.array([list(x.values())]))[0]
        self.weights += 0.01 * (y - terms @ self.weights) * terms


# Streams.


def normal_rows(seed: int, n: int) -> Any:
    """Standard normal values."""
    return np.random.default_rng(seed).normal(size=(n, 8))


def as_examples(X: Any, at: int = -1, switch: Callable[[], None] | None = None) -> Any:
    """Rows as dicts; before row number `at` something is switched."""
    for t, row in enumerate(X.tolist()):
        if t == at and switch is not None:
            switch()
        yield dict(zip(NAMES, row, strict=True)), None


def no_drift_curved(seed: int, before: int, after: int) -> Made:
    """A frozen smooth model and i.i.d. data."""
    return frozen(curved), as_examples(normal_rows(seed, before + after)), NAMES


def no_drift_tree(seed: int, before: int, after: int) -> Made:
    """A frozen tree and i.i.d. data."""
    return frozen(grown_tree(seed)), as_examples(normal_rows(seed, before + after)), NAMES


def slope(seed: int, before: int, after: int) -> Made:
    """The slope of one feature of eight changes from 1 to 1.3; it interacts with another."""
    now = {"slope": 1.0}

    def f(X: Any) -> Any:
        return curved(X) + (now["slope"] - 1) * X[:, 4] + X[:, 4] * X[:, 5]

    X = normal_rows(seed, before + after)
    return frozen(f), as_examples(X, before, lambda: now.update(slope=1.3)), NAMES


def gradual(seed: int, before: int, after: int) -> Made:
    """The slope of one feature of eight goes from 1 to -1 in 5,000 observations."""
    now = {"t": 0}

    def f(X: Any) -> Any:
        share = min(max((now["t"] - before) / 5000, 0.0), 1.0)
        return curved(X) - 2 * share * X[:, 4] + X[:, 4] * X[:, 5]

    def examples() -> Any:
        for x, y in as_examples(normal_rows(seed, before + after)):
            now["t"] += 1
            yield x, y

    return frozen(f), examples(), NAMES


def bend(seed: int, before: int, after: int) -> Made:
    """The effect of one feature of eight bends, above 1 only."""
    now = {"bend": 0.0}

    def f(X: Any) -> Any:
        return curved(X) + now["bend"] * np.maximum(X[:, 4] - 1, 0) + X[:, 4] * X[:, 5]

    X = normal_rows(seed, before + after)
    return frozen(f), as_examples(X, before, lambda: now.update(bend=3.0)), NAMES


def virtual(seed: int, before: int, after: int) -> Made:
    """The mean of one feature jumps by three standard deviations; the curved model is frozen."""
    X = normal_rows(seed, before + after)
    X[before:, 1] += 3
    return frozen(curved), as_examples(X), NAMES


def both(seed: int, before: int, after: int) -> Made:
    """The mean jumps and the curve is turned over at the same time."""
    now = {"sign": 1.0}

    def f(X: Any) -> Any:
        return curved(X) + (now["sign"] - 1) * X[:, 1] ** 2

    X = normal_rows(seed, before + after)
    X[before:, 1] += 3
    return frozen(f), as_examples(X, before, lambda: now.update(sign=-1.0)), NAMES


def linear(seed: int, before: int, after: int) -> Made:
    """One weight of eight changes its sign, under a linear model that learns."""
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(before + after, 8)), rng.normal(size=before + after)

    def examples() -> Iterator[Example]:
        for t, row in enumerate(X):
            sign = -1 if t >= before else 1
            y = row[:4].sum() + sign * row[4] + row[4] * row[5] + row[6] * row[7] + 0.5 * noise[t]
            yield dict(zip(NAMES, row.tolist(), strict=True)), float(y)

    return ipdp.models.engine(Linear(), takes="array"), examples(), NAMES


def hyperplane(seed: int, before: int, after: int) -> Made:
    """The weight of one of three features changes its sign, under a Hoeffding adaptive tree."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(before + after, 3))
    weights = np.array([2.0, 1.0, 1.0])

    def examples() -> Iterator[Example]:
        for t, row in enumerate(X):
            own = weights * (-1 if t >= before else 1, 1, 1)
            y = bool(own @ row + 0.1 * rng.normal() > own.sum() / 2)
            yield dict(zip(NAMES, row.tolist(), strict=False)), y

    return tree.HoeffdingAdaptiveTreeClassifier(seed=seed), examples(), NAMES[:3]


def turned(x: Any) -> Any:
    """What the drift of `hyperplane` does to x0: x1 + x2 + noise is normal, all but exactly."""
    return -norm.cdf((2 * x - 1) / np.sqrt(1 / 6 + 0.01))


def papers_hyperplane(seed: int, before: int, after: int) -> Made:
    """The paper's: two features change roles, effect and range of both change."""
    stream = Hyperplane(position=before, seed=seed).take(before + after)
    return tree.HoeffdingAdaptiveTreeClassifier(seed=seed), iter(stream), ["x1", "x2"]


def agrawal(seed: int, before: int, after: int) -> Made:
    """Agrawal's function 2 (age, education) becomes 1 (age, salary), under an ARF."""

    def examples() -> Iterator[Example]:
        yield from synth.Agrawal(classification_function=2, seed=seed).take(before)
        yield from synth.Agrawal(classification_function=1, seed=seed + 1000).take(after)

    model = forest.ARFClassifier(n_models=10, seed=seed)
    return model, examples(), ["salary", "commission", "zipcode"]


def loans(salary: Any) -> Any:
    """What the drift of `agrawal` does to the salary: of three ages, how many get a loan."""
    ranges = [(50_000, 100_000), (75_000, 125_000), (25_000, 75_000)]
    return sum(((salary >= low) & (salary <= high)) / 3 for low, high in ranges)


def settled(seed: int, before: int, after: int) -> Made:
    """A learning tree on a concept that does not change."""
    model = tree.HoeffdingAdaptiveTreeClassifier(seed=seed)
    stream = synth.Agrawal(classification_function=1, seed=seed).take(before + after)
    return model, iter(stream), ["salary", "commission", "zipcode"]


SCENARIOS = {
    "no drift, curved": Scenario(no_drift_curved, {}, 50_000, 0),
    "no drift, tree": Scenario(no_drift_tree, {}, 50_000, 0),
    "settled linear": Scenario(linear, {}, 20_000, 0, learns=True, settles=5_000),
    "settled HAT": Scenario(settled, {}, 20_000, 0, learns=True, settles=10_000),
    "slope": Scenario(slope, {"x4": "real"}, 5_000, 5_000, lambda x: x),
    "bend": Scenario(bend, {"x4": "real"}, 5_000, 5_000, lambda x: np.maximum(x - 1, 0)),
    "gradual": Scenario(gradual, {"x4": "real"}, 5_000, 8_000, lambda x: x),
    "virtual": Scenario(virtual, {"x1": "virtual"}, 5_000, 3_000),
    "both": Scenario(both, {"x1": "both"}, 5_000, 3_000),
    "linear": Scenario(linear, {"x4": "real"}, 5_000, 3_000, lambda x: x, learns=True),
    "hyperplane": Scenario(hyperplane, {"x0": "real"}, 5_000, 5_000, turned, learns=True),
    "paper's hyperplane": Scenario(
        papers_hyperplane, {"x1": "both", "x2": "both"}, 5_000, 5_000, learns=True
    ),
    "agrawal": Scenario(agrawal, {"salary": "real"}, 5_000, 5_000, loans, learns=True),
}
