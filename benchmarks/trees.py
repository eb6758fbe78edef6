"""The walk of river's trees against plain calls, and explaining against learning.

Every figure is a ratio taken in one run: the contestants take turns on each observation, thread
CPU time is measured, and medians are compared.

    python benchmarks/trees.py [--quick] [name of a model ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from river import ensemble, forest, preprocessing, tree
from streams import elec2

import ipdp
from ipdp.models import Engine
from ipdp.models.rows import RowEngine
from ipdp.models.trees import BUILD

SIZE = 10

Regressor = tree.HoeffdingTreeRegressor
MODELS: dict[str, Callable[[], Any]] = {
    "HoeffdingTree mc": lambda: tree.HoeffdingTreeClassifier(leaf_prediction="mc"),
    "HoeffdingTree nba": tree.HoeffdingTreeClassifier,
    "HoeffdingAdaptiveTree nba": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "ExtremelyFastDecisionTree nba": tree.ExtremelyFastDecisionTreeClassifier,
    "StandardScaler | HoeffdingTree nba": lambda: (
        preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier()
    ),
    "ARF(10) mc": lambda: forest.ARFClassifier(n_models=10, leaf_prediction="mc", seed=1),
    "ARF(10) nba": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "Bagging(10 HAT nba)": lambda: ensemble.BaggingClassifier(
        tree.HoeffdingAdaptiveTreeClassifier(seed=1), n_models=10, seed=1
    ),
    "LeveragingBagging(10 HT nba)": lambda: ensemble.LeveragingBaggingClassifier(
        tree.HoeffdingTreeClassifier(), n_models=10, seed=1
    ),
    "SRP(10 HT nba)": lambda: ensemble.SRPClassifier(
        tree.HoeffdingTreeClassifier(), n_models=10, seed=1
    ),
    "AMF(10)": lambda: forest.AMFClassifier(n_estimators=10, seed=1),
    "HoeffdingTreeRegressor adaptive": lambda: (
        preprocessing.StandardScaler() | tree.HoeffdingTreeRegressor()
    ),
    "ARFRegressor(10) adaptive": lambda: (
        preprocessing.StandardScaler() | forest.ARFRegressor(n_models=10, seed=1)
    ),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models whose names contain one of these")
    parser.add_argument("--quick", action="store_true", help="a third of the observations")
    arguments = parser.parse_args()
    learned, timed = (2_000, 60) if arguments.quick else (6_000, 200)
    print(f"8 features x {SIZE} points, elec2; {learned} learned, {timed} timed; {BUILD}")
    head = ("plain/walk", "walk/learn", "explain/learn", "m = 100")
    print(f"{'':36}" + "".join(f"{word:>14}" for word in head))
    for name, make in MODELS.items():
        if not arguments.names or any(part in name for part in arguments.names):
            print(f"{name:36}" + "".join(f"{x:14.2f}" for x in ratios(make(), learned, timed)))


def ratios(model: Any, learned: int, timed: int) -> list[float]:
    """The figures of one model: plain calls / walk, walk / learning, explaining / learning, growth.

    The growth is that of a whole `explain_one` from 10 to 100 points a feature.
    """
    target = target_of(model)
    explainer, wide, walk = explainer_of(model, SIZE), explainer_of(model, 100), Recorded(model)
    asked = ipdp.IncrementalPDP(walk, grid=ipdp.grid.QuantileRange(SIZE), seed=1)
    walk.repeats = False
    times: dict[str, list[float]] = {k: [] for k in ("plain", "walk", "explain", "wide", "learn")}
    for t, (x, y) in enumerate(elec2(learned + timed)):
        asked.explain_one(x)
        walk.repeats = t >= learned
        for name, pdp in (("explain", explainer), ("wide", wide)):
            if t >= learned - 300:
                times[name].append(seconds(pdp.explain_one, x))
        times["learn"].append(seconds(model.learn_one, x, target(x, y)))
    times["plain"], times["walk"] = walk.plain_times, walk.walk_times
    plain, ours, explain, big, learn = (median(values[-timed:]) for values in times.values())
    return [plain / ours, ours / learn, explain / learn, big / explain]


class Recorded(Engine):
    """Asks the walk, and plain calls too if told so, and writes down how long both took."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.walk = ipdp.models.engine(model)
        call = model.predict_one if is_regressor(model) else model.predict_proba_one
        self.plain = RowEngine(call, understood="plain calls")
        self.repeats = True
        self.walk_times: list[float] = []
        self.plain_times: list[float] = []

    @property
    def understood(self) -> str:
        """What it is."""
        return "a stopwatch"

    def predict(self, observations: Any) -> Any:
        """Not timed."""
        return self.plain.predict(observations)

    def ice(self, observations: Any, probes: Any, positions: Any) -> Any:
        """The answer of the walk."""
        start = time.thread_time()
        answer = self.walk.ice(observations, probes, positions)
        self.walk_times.append(time.thread_time() - start)
        if self.repeats:
            self.plain_times.append(seconds(self.plain.ice, observations, probes, positions))
        return answer


def explainer_of(model: Any, size: int) -> ipdp.IncrementalPDP:
    """An explainer of all features."""
    return ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(size), seed=1)


def is_regressor(model: Any) -> bool:
    """Whether it predicts a number."""
    last = list(model.steps.values())[-1] if hasattr(model, "steps") else model
    return not hasattr(last, "predict_proba_one")


def target_of(model: Any) -> Callable[[dict[str, float], bool], Any]:
    """What is learned: the class, or a number for regressors."""
    if not is_regressor(model):
        return lambda _, y: y
    return lambda x, y: x["nswdemand"] + 0.1 * np.sin(9 * x["period"]) + 0.1 * y


def seconds(call: Callable[..., Any], *arguments: Any) -> float:
    """Thread CPU time of one call."""
    start = time.thread_time()
    call(*arguments)
    return time.thread_time() - start


if __name__ == "__main__":
    main()
