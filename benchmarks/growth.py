"""How the cost of explaining grows: with points, with features, with the length of the stream.

Every figure is a ratio taken in one run: the contestants take turns on each observation, thread
CPU time of each call is measured, and medians are compared.

    python benchmarks/growth.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from river import ensemble, forest, tree
from streams import ELEC2, elec2
from table import Row, show

import ipdp

MODELS: dict[str, Callable[[], Any]] = {
    "HoeffdingAdaptiveTree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "ARF(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "Bagging(10 HAT)": lambda: ensemble.BaggingClassifier(
        tree.HoeffdingAdaptiveTreeClassifier(seed=1), n_models=10, seed=1
    ),
}
POINTS = (10, 20, 50, 100)
FEATURES = (1, 2, 4, 8)
WIDTH = 100


def rows(*, quick: bool = False) -> Iterator[Row]:
    """All figures of this file."""
    learned, n = (1_000, 60) if quick else (5_000, 200)
    for name, make in MODELS.items():
        yield from with_points(name, make(), learned, n)
    for name, make in MODELS.items():
        yield from with_features(name, make(), learned, n)
    yield from wide(learned, n)
    yield from with_length(100_000 if quick else 1_000_000)


def with_points(name: str, model: Any, learned: int, n: int) -> Iterator[Row]:
    """`explain_one` at m points a feature against 10."""
    explainers = {m: explainer(model, m) for m in POINTS}
    cost = costs(model, elec2(learned + n), explainers, n)
    for m in POINTS[1:]:
        promise = 3.0 if m == 100 else None
        yield Row("m points / 10 points", f"{name}, m = {m}", cost[m] / cost[10], promise)


def with_features(name: str, model: Any, learned: int, n: int) -> Iterator[Row]:
    """`explain_one` of d features against one."""
    explainers = {d: explainer(model, 10, ELEC2[-d:]) for d in FEATURES}
    cost = costs(model, elec2(learned + n), explainers, n)
    for d in FEATURES[1:]:
        yield Row("d features / 1 feature", f"{name}, d = {d}", cost[d] / cost[1])


def wide(learned: int, n: int) -> Iterator[Row]:
    """A stream of 100 features: explaining all of them against learning."""
    rng = np.random.default_rng(7)
    table = rng.normal(size=(learned + n, WIDTH))
    stream = [(dict(enumerate(row)), bool(row[0] + row[1] * row[2] > 0)) for row in table.tolist()]
    for name, make in MODELS.items():
        model = make()
        cost = costs(model, stream, {WIDTH: explainer(model, 10)}, n)
        ratio = cost[WIDTH] / cost["learn"]
        yield Row(f"{WIDTH} features x 10 points / one learn_one", name, ratio)


def with_length(length: int) -> Iterator[Row]:
    """`explain_one` late in a long stream against early, with a model that costs nothing."""
    half = np.full(1_000, 0.5)
    model = ipdp.models.engine(lambda X: half[: len(X)], takes="array")
    old, young = explainer(model, 10), explainer(model, 10)
    rng = np.random.default_rng(0)

    def stream(n: int) -> Iterator[dict[str, float]]:
        for _ in range(n // 1_000):
            for row in rng.normal(size=(1_000, 8)).tolist():
                yield dict(zip(ELEC2, row, strict=True))

    for x in stream(10_000):
        old.explain_one(x)
    state = old.state
    for n in (10**5, 10**6):
        if n > length:
            break
        for x in stream(n - old.n_seen):
            old.explain_one(x)
        young.state = state
        pairs = [
            (seconds(old.explain_one, x), seconds(young.explain_one, x)) for x in stream(4_000)
        ]
        late, early = (median(column) for column in zip(*pairs, strict=True))
        yield Row("observation n / observation 10,000", f"own cost, n = {n:,}", late / early)


def explainer(model: Any, m: int, features: Any = None) -> ipdp.IncrementalPDP:
    """The paper's grid on all features, or on some."""
    return ipdp.IncrementalPDP(model, features, grid=ipdp.grid.QuantileRange(m), seed=1)


def costs(model: Any, stream: list[Any], explainers: dict[int, Any], n: int) -> dict[Any, float]:
    """Median time of each explainer, and of learning, over the last n observations."""
    times: dict[Any, list[float]] = {key: [] for key in (*explainers, "learn")}
    keys = deque(explainers)
    for t, (x, y) in enumerate(stream):
        if t >= len(stream) - n - 300:  # warm-up, and the walk's own first checks in full
            keys.rotate()  # whoever comes first finds the tree outside of the processor's cache
            for key in keys:
                times[key].append(seconds(explainers[key].explain_one, x))
        times["learn"].append(seconds(model.learn_one, x, y))
    return {key: median(values[-n:]) for key, values in times.items()}


def seconds(call: Callable[..., Any], *arguments: Any) -> float:
    """Thread CPU time of one call."""
    start = time.thread_time()
    call(*arguments)
    return time.thread_time() - start


if __name__ == "__main__":
    show(rows(quick="--quick" in sys.argv))
