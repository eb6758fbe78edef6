"""What ipdp itself costs, with models that cost nothing, against things that users know.

Every figure is a ratio taken in one run: the contestants take turns on blocks of the stream, thread
CPU time of each call is measured, and medians are compared.

    python benchmarks/own_cost.py [n_observations] [src of another version]

With the sources of another version, compiled in place, both are compared in one process: each with
its own defaults, without observations kept for the model as it is now, and with the same grids.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np
from river import tree
from sklearn.ensemble import RandomForestRegressor
from streams import elec2

import ipdp

SIZE = 10
BLOCK = 200


def main(n: int = 45_312, other: str = "") -> None:
    """Print the two tables, or the comparison with another version."""
    if other:
        against(n, other)
        return
    one_by_one(n)
    inside_the_model()


class Version:
    """The modules of one version of ipdp, which take turns under the same names."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._modules: dict[str, ModuleType] = {}
        with self.active():
            self.ipdp: Any = importlib.import_module("ipdp")

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let `import ipdp` mean this version."""
        before = _modules()
        for name in before:
            del sys.modules[name]
        sys.modules.update(self._modules)
        sys.path.insert(0, self._source)
        try:
            yield
        finally:
            sys.path.remove(self._source)
            self._modules = _modules()
            for name in self._modules:
                del sys.modules[name]
            sys.modules.update(before)


def _modules() -> dict[str, ModuleType]:
    return {k: m for k, m in sys.modules.items() if k == "ipdp" or k.startswith("ipdp.")}


def against(n: int, other: str) -> None:
    """`explain_one` of this version against another, on normal variables and on elec2."""
    versions = [Version(other), Version(str(Path(ipdp.__file__).parent.parent))]
    rows = np.random.default_rng(0).normal(size=(n, 8)).tolist()
    streams = {
        "8 normal variables": [{f"x{k}": v for k, v in enumerate(row)} for row in rows],
        "elec2": [x for x, _ in elec2(n)],
    }
    print("microseconds, and this version / the other: median, mean; its 99 % quantile / median")
    for name, stream in streams.items():
        made = [_explainers(version) for version in versions]
        times: list[dict[str, list[float]]] = [{kind: [] for kind in kinds} for kinds in made]
        for start in range(0, n, BLOCK):
            for version, pdps, taken in zip(versions, made, times, strict=True):
                with version.active():
                    for kind, pdp in pdps.items():
                        block = stream[start : start + BLOCK]
                        taken[kind] += [timed(pdp.explain_one, x) for x in block]
        for kind in made[0]:
            then, now = (1e6 * np.array(taken[kind][n // 10 :]) for taken in times)
            medians, means = (np.median(then), np.median(now)), (then.mean(), now.mean())
            print(
                f"{name:20}{kind:24}{medians[0]:8.1f}{medians[1]:8.1f}"
                f"{medians[1] / medians[0]:8.2f}{means[1] / means[0]:8.2f}"
                f"{np.quantile(now, 0.99) / medians[1]:8.1f}",
                flush=True,
            )


def _explainers(version: Version) -> dict[str, Any]:
    with version.active():
        made, constant = version.ipdp, np.full(40 * 8 * SIZE, 0.5)
        model = made.models.engine(lambda X: constant[: len(X)], takes="array")
        settings = {
            "defaults": {},
            "QuantileRange, pointwise": {
                "estimator": "pointwise",
                "grid": made.grid.QuantileRange(SIZE),
            },
            "QuantileRange, regrid": {"estimator": "regrid", "grid": made.grid.QuantileRange(SIZE)},
        }
        kinds = {kind: made.IncrementalPDP(model, seed=1, **s) for kind, s in settings.items()}
        no_past = {"n_past": 0} if hasattr(kinds["defaults"], "n_past") else {}
        kinds["defaults, n_past=0"] = made.IncrementalPDP(model, seed=1, **no_past)
        return kinds


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
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
