"""The walk of river's trees against plain calls, and explaining against learning, in both builds.

Every figure is a ratio taken in one run, in which observations are explained, then learned:
contestants take turns from one observation to the next, so that each is measured on its first call
after the model has learned; thread CPU time is measured, and medians are compared. The stretch that
is timed is gone through several times, each time with a copy of the model: a machine has its moods,
and a median over a few hundred observations follows them.

    python benchmarks/trees.py [--quick] [name of a model ...]
"""

from __future__ import annotations

import argparse
import copy
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
from river import ensemble, forest, preprocessing, tree
from streams import elec2
from table import Row, show

import ipdp
from ipdp.core import kernels as core
from ipdp.models import Engine
from ipdp.models.per_row import RowEngine
from ipdp.models.river import kernels as parts
from ipdp.models.trees import kernels

SIZE = 10
WIDE = 100
PASSES = 5
# Observations that are explained before the first that is timed.
WARM_UP = 100

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


PLAIN = f"plain calls / one walk (8 features x {SIZE} points)"
LEARN = "explain_one / learn_one"
GROWTH = f"explain_one, {WIDE} points a feature / {SIZE} points"

AT_LEAST = {
    (PLAIN, "ARF(10) nba"): {"pure": 8, "compiled": 20},
    (PLAIN, "Bagging(10 HAT nba)"): {"pure": 12, "compiled": 30},
}
AT_MOST = {
    (LEARN, "ARF(10) nba"): {"pure": 1.5, "compiled": 0.6},
    (LEARN, "Bagging(10 HAT nba)"): {"pure": 1.5, "compiled": 0.6},
    (LEARN, "HoeffdingAdaptiveTree nba"): {"compiled": 1.0},
    (LEARN, "ExtremelyFastDecisionTree nba"): {"compiled": 0.3},
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models whose names contain one of these")
    parser.add_argument("--quick", action="store_true", help="a third of the observations")
    given = parser.parse_args()
    show(rows(quick=given.quick, names=given.names))


def rows(*, quick: bool = False, names: Sequence[str] = ()) -> Iterator[Row]:
    """The figures of all models, or of those whose names contain one of `names`."""
    learned, timed = (2_000, 100) if quick else (6_000, 300)
    found = {
        (name, build.build): contest(make, build, learned, timed)
        for name, make in MODELS.items()
        if not names or any(part in name for part in names)
        for build in builds()
    }
    for figure in (PLAIN, LEARN, GROWTH):
        for (name, build), ratios in found.items():
            yield Row(
                figure,
                f"{name}, {build}",
                ratios[figure],
                at_most=3 if figure == GROWTH else AT_MOST.get((figure, name), {}).get(build),
                at_least=AT_LEAST.get((figure, name), {}).get(build),
            )


def builds() -> list[kernels.Kernels]:
    """Those that there are."""
    try:
        return [kernels.PURE, kernels.compiled()]
    except ImportError:
        return [kernels.PURE]


def contest(
    make: Callable[[], Any], build: kernels.Kernels, learned: int, timed: int
) -> dict[str, float]:
    """The figures of one model in one build."""
    before = kernels.current
    use(build)
    try:
        alone = along(make(), learned, timed, one_explainer)
        turns = along(make(), learned, timed, contestants)
    finally:
        use(before)
    return {
        PLAIN: turns["plain"] / turns["walk"],
        LEARN: alone["explain"] / alone["learn"],
        GROWTH: turns["wide"] / turns["small"],
    }


def use(build: kernels.Kernels) -> None:
    """Let a build run, the kernels of the core and of the parts as well."""
    kernels.current = build
    parts.current = parts.compiled() if build.build == "compiled" else parts.PURE
    core.current = core.installed() if build.build == "compiled" else core.array


Times = dict[str, list[float]]


def one_explainer(model: Any, _: Times) -> dict[str, ipdp.IncrementalPDP]:
    """As in use."""
    return {"explain": explainer_of(model, SIZE)}


def contestants(model: Any, times: Times) -> dict[str, ipdp.IncrementalPDP]:
    """An explainer with few points, one with many, and one that makes plain calls as well."""
    return {
        "small": explainer_of(model, SIZE),
        "wide": explainer_of(model, WIDE),
        "asked": explainer_of(Stopwatch(model, times), SIZE),
    }


def along(
    model: Any,
    learned: int,
    timed: int,
    make: Callable[[Any, Times], dict[str, ipdp.IncrementalPDP]],
) -> dict[str, float]:
    """Let explainers take turns while a model learns; how long each took, as medians."""
    target = target_of(model)
    examples = [(x, target(x, y)) for x, y in elec2(learned + timed)]
    for x, y in examples[: learned - WARM_UP]:
        model.learn_one(x, y)
    times: Times = defaultdict(list)
    for _ in range(PASSES):
        twin, taken = copy.deepcopy(model), defaultdict(list)
        one_pass(twin, make(twin, taken), examples[learned - WARM_UP :], taken)
        for name, own in taken.items():
            times[name] += own
    return {name: median(own) for name, own in times.items()}


def one_pass(
    model: Any, explainers: dict[str, ipdp.IncrementalPDP], examples: Sequence[Any], times: Times
) -> None:
    """Let a model learn, and explainers take turns; the warm-up is explained by all, and not timed.

    As in use, each observation is explained once and then learned.
    """
    for t, (x, y) in enumerate(examples, start=-WARM_UP):
        if t == 0:
            times.clear()
        for k, (name, explainer) in enumerate(explainers.items()):
            if t < 0:
                explainer.explain_one(x)
            elif t % len(explainers) == k:
                times[name].append(seconds(explainer.explain_one, x))
        times["learn"].append(seconds(model.learn_one, x, y))


class Stopwatch(Engine):
    """Asks the walk and plain calls, and writes down how long both took."""

    def __init__(self, model: Any, times: dict[str, list[float]]) -> None:
        self.model = model
        self.times = times
        self.walk = ipdp.models.engine(model)
        call = model.predict_one if is_regressor(model) else model.predict_proba_one
        self.plain = RowEngine(call, description="plain calls")

    @property
    def description(self) -> str:
        """What it is."""
        return "a stopwatch"

    def predict(self, observations: Any) -> Any:
        """Not timed."""
        return self.plain.predict(observations)

    def ice(self, observations: Any, probes: Any, positions: Any) -> Any:
        """The answer of the walk."""
        start = time.thread_time()
        answer = self.walk.ice(observations, probes, positions)
        self.times["walk"].append(time.thread_time() - start)
        self.times["plain"].append(seconds(self.plain.ice, observations, probes, positions))
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
