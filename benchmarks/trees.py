"""The walk of river's trees against plain calls, and explaining against learning, in both builds.

Every figure is a ratio taken in one run: the contestants take turns from one observation to the
next, so that each is measured on its first call after the model has learned; thread CPU time is
measured, and medians are compared.

    python benchmarks/trees.py [--quick] [name of a model ...]
"""

from __future__ import annotations

import argparse
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
from ipdp.models import Engine
from ipdp.models.rows import RowEngine
from ipdp.models.trees import loops

SIZE = 10
WIDE = 100

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
    learned, timed = (2_000, 40) if quick else (6_000, 100)
    found = {
        (name, contestant.loops.build): contestant.ratios()
        for name, make in MODELS.items()
        if not names or any(part in name for part in names)
        for contestant in contest(make(), learned, timed)
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


def contest(model: Any, learned: int, timed: int) -> list[Contestant]:
    """Let both builds explain a model that learns; each is timed each so many observations."""
    contestants = [Contestant(model, build) for build in builds()]
    turns = [turn for contestant in contestants for turn in contestant.turns]
    target, before = target_of(model), loops.current
    for t, (x, y) in enumerate(elec2(learned + timed * len(turns))):
        if t > learned - 300:
            first = turns[t % len(turns)]
            for turn in (first, *(turn for turn in turns if turn is not first)):
                turn(x, t >= learned and turn is first)
        taken = seconds(model.learn_one, x, target(x, y))
        for contestant in contestants if t >= learned else ():
            contestant.times["learn"].append(taken)
    loops.current = before
    return contestants


def builds() -> list[loops.Loops]:
    """Those that there are."""
    try:
        return [loops.PURE, loops.compiled()]
    except ImportError:
        return [loops.PURE]


class Contestant:
    """One build, and how long it took."""

    def __init__(self, model: Any, build: loops.Loops) -> None:
        self.loops = build
        self.times: dict[str, list[float]] = defaultdict(list)
        self.stopwatch = Stopwatch(model, self.times)
        self.small, self.wide = explainer_of(model, SIZE), explainer_of(model, WIDE)
        self.asked = explainer_of(self.stopwatch, SIZE)
        self.turns = [self.explain, self.explain_more, self.ask]

    def explain(self, x: Any, timed: bool) -> None:
        """Explain an observation."""
        self._take(self.small, "explain", x, timed)

    def explain_more(self, x: Any, timed: bool) -> None:
        """Explain it at more points."""
        self._take(self.wide, "wide", x, timed)

    def ask(self, x: Any, timed: bool) -> None:
        """Walk the trees, and make plain calls too if it is timed."""
        self.stopwatch.runs = timed
        self._take(self.asked, "ask", x, timed)

    def _take(self, explainer: ipdp.IncrementalPDP, name: str, x: Any, timed: bool) -> None:
        loops.current = self.loops
        taken = seconds(explainer.explain_one, x)
        if timed:
            self.times[name].append(taken)

    def ratios(self) -> dict[str, float]:
        """The figures."""
        taken = {name: median(times) for name, times in self.times.items()}
        return {
            PLAIN: taken["plain"] / taken["walk"],
            LEARN: taken["explain"] / taken["learn"],
            GROWTH: taken["wide"] / taken["explain"],
        }


class Stopwatch(Engine):
    """Asks the walk, and plain calls too when it runs, and writes down how long both took."""

    def __init__(self, model: Any, times: dict[str, list[float]]) -> None:
        self.model = model
        self.times = times
        self.walk = ipdp.models.engine(model)
        call = model.predict_one if is_regressor(model) else model.predict_proba_one
        self.plain = RowEngine(call, understood="plain calls")
        self.runs = False

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
        if self.runs:
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
