"""Alarms that mean something: detectors of change compared, on streams where the truth is known.

Every row is one way of raising alarms, every scenario a stream with one change, or none. All ways
watch the same explainer in the same run.

    python benchmarks/alarms.py                fast: few seeds, short streams
    python benchmarks/alarms.py full           30 seeds; takes hours under plain engines
    python benchmarks/alarms.py ours           30 seeds of our way alone
    python benchmarks/alarms.py paper          30 seeds of our way and the paper's
    python benchmarks/alarms.py 5              5 seeds
    python benchmarks/alarms.py fast slope     one scenario only
    python benchmarks/alarms.py fast cost      what the monitor costs against explain_one
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from river import drift, forest, tree
from river.datasets import synth
from sklearn.tree import DecisionTreeRegressor
from streams import elec2

import ipdp
from ipdp.monitor import Change, Monitor

NAMES = [f"x{k}" for k in range(8)]

Example = tuple[dict[str, Any], Any]


class Scenario(NamedTuple):
    """A stream with a change, and what is to be found.

    Attributes
    ----------
    make
        From seed and position of the drift to model, examples, features to explain.
    feature
        Whose effect changes; None if nothing changes.
    kind
        Of which kind the change is.
    before, after
        Number of observations before and after the drift.
    learns
        Whether the model learns along.
    """

    make: Callable[[int, int, int], tuple[Any, Iterator[Example], list[str] | None]]
    feature: str | None
    kind: str
    before: int
    after: int
    learns: bool = False


class Result(NamedTuple):
    """What one way made of one run."""

    early: int
    delay: float | None
    kind: str | None
    others: int
    changes: list[Change]


# Streams.


def curved(X: Any) -> Any:
    """A smooth function with interactions; x5, x6 and x7 do not matter."""
    return np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + X[:, 4]


def grown_tree(seed: int) -> Callable[[Any], Any]:
    """A regression tree of 40 leaves, fitted once."""
    Z = np.random.default_rng(100 + seed).normal(size=(3000, 8))
    fitted = DecisionTreeRegressor(max_leaf_nodes=40, random_state=0).fit(Z, curved(Z)).tree_
    return lambda X: fitted.predict(X.astype(np.float32))[:, 0]


def normal_rows(seed: int, n: int) -> Any:
    """Standard normal values."""
    return np.random.default_rng(seed).normal(size=(n, 8))


def as_examples(X: Any, at: int = -1, switch: Callable[[], None] | None = None) -> Any:
    """Rows as dicts; before row number `at` something is switched."""
    for t, row in enumerate(X.tolist()):
        if t == at and switch is not None:
            switch()
        yield dict(zip(NAMES, row, strict=True)), None


def frozen(function: Callable[[Any], Any]) -> Any:
    """An engine for a function of an array."""
    return ipdp.models.engine(function, takes="array")


def no_drift_curved(seed: int, before: int, after: int) -> Any:
    """A frozen smooth model and i.i.d. data."""
    return frozen(curved), as_examples(normal_rows(seed, before + after)), NAMES


def no_drift_tree(seed: int, before: int, after: int) -> Any:
    """A frozen tree and i.i.d. data."""
    return frozen(grown_tree(seed)), as_examples(normal_rows(seed, before + after)), NAMES


def slope(seed: int, before: int, after: int) -> Any:
    """The slope of one feature of eight changes from 1 to 1.3; it interacts with another."""
    now = {"slope": 1.0}

    def f(X: Any) -> Any:
        return curved(X) + (now["slope"] - 1) * X[:, 4] + X[:, 4] * X[:, 5]

    X = normal_rows(seed, before + after)
    return frozen(f), as_examples(X, before, lambda: now.update(slope=1.3)), NAMES


def gradual(seed: int, before: int, after: int) -> Any:
    """The slope of one feature goes from 1 to -1 in 5,000 observations."""
    now = {"t": 0}

    def f(X: Any) -> Any:
        share = min(max((now["t"] - before) / 5000, 0.0), 1.0)
        return curved(X) - 2 * share * X[:, 4] + X[:, 4] * X[:, 5]

    def examples() -> Any:
        for x, y in as_examples(normal_rows(seed, before + after)):
            now["t"] += 1
            yield x, y

    return frozen(f), examples(), NAMES


def virtual(seed: int, before: int, after: int) -> Any:
    """The mean of one feature jumps by three standard deviations; the curved model is frozen."""
    X = normal_rows(seed, before + after)
    X[before:, 1] += 3
    return frozen(curved), as_examples(X), NAMES


def both(seed: int, before: int, after: int) -> Any:
    """The mean jumps and the curve is turned over at the same time."""
    now = {"sign": 1.0}

    def f(X: Any) -> Any:
        return curved(X) + (now["sign"] - 1) * X[:, 1] ** 2

    X = normal_rows(seed, before + after)
    X[before:, 1] += 3
    return frozen(f), as_examples(X, before, lambda: now.update(sign=-1.0)), NAMES


def agrawal(seed: int, before: int, after: int) -> Any:
    """Agrawal's function 2 (age, education) becomes 1 (age, salary), under an ARF."""
    model = forest.ARFClassifier(n_models=10, seed=seed)
    return model, _agrawal(seed, before, after), ["salary", "commission", "zipcode"]


def agrawal_hat(seed: int, before: int, after: int) -> Any:
    """The same under a Hoeffding adaptive tree."""
    model = tree.HoeffdingAdaptiveTreeClassifier(seed=seed)
    return model, _agrawal(seed, before, after), ["salary", "commission", "zipcode"]


def _agrawal(seed: int, before: int, after: int) -> Iterator[Example]:
    yield from synth.Agrawal(classification_function=2, seed=seed).take(before)
    yield from synth.Agrawal(classification_function=1, seed=seed + 1000).take(after)


def settled(seed: int, before: int, after: int) -> Any:
    """A learning tree on a concept that does not change."""
    model = tree.HoeffdingAdaptiveTreeClassifier(seed=seed)
    stream = synth.Agrawal(classification_function=1, seed=seed).take(before + after)
    return model, iter(stream), ["salary", "commission", "zipcode"]


def hyperplane(seed: int, before: int, after: int) -> Any:
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


SCENARIOS = {
    "no drift, curved": Scenario(no_drift_curved, None, "", 50_000, 0),
    "no drift, tree": Scenario(no_drift_tree, None, "", 50_000, 0),
    "slope": Scenario(slope, "x4", "real", 5_000, 5_000),
    "gradual": Scenario(gradual, "x4", "real", 5_000, 8_000),
    "virtual": Scenario(virtual, "x1", "virtual", 5_000, 3_000),
    "both": Scenario(both, "x1", "both", 5_000, 3_000),
    "hyperplane": Scenario(hyperplane, "x0", "real", 5_000, 5_000, True),
    "agrawal HAT": Scenario(agrawal_hat, "salary", "real", 5_000, 5_000, True),
    "agrawal": Scenario(agrawal, "salary", "real", 5_000, 5_000, True),
    "settled HAT": Scenario(settled, None, "", 20_000, 0, True),
}


# Ways.


def ways(pdp: ipdp.IncrementalPDP, setting: str) -> dict[str, Monitor]:
    """The ways to raise alarms that are compared."""
    if setting == "ours":
        return {"ours": Monitor(pdp)}
    if setting == "paper":
        return {"ours": Monitor(pdp), "paper": Monitor(pdp, statistic="importance")}
    return {
        "ours": Monitor(pdp),
        "paper": Monitor(pdp, statistic="importance"),
        "Page-Hinkley": Monitor(pdp, statistic="importance", detector=drift.PageHinkley()),
        "KSWIN": Monitor(pdp, statistic="importance", detector=drift.KSWIN(seed=1)),
    }


def run(
    scenario: Scenario, seed: int, before: int, after: int, setting: str = "fast"
) -> dict[str, Result]:
    """One run of all ways."""
    model, examples, features = scenario.make(seed, before, after)
    pdp = ipdp.IncrementalPDP(model, features, n_ice=1, seed=seed)
    monitors = ways(pdp, setting)
    accuracy, alarms = drift.ADWIN(), []
    for t, (x, y) in enumerate(examples):
        pdp.explain_one(x)
        for monitor in monitors.values():
            monitor.update(x)
        if scenario.learns:
            accuracy.update(float(model.predict_one(x) == y))
            if accuracy.drift_detected:
                alarms.append(t + 1)
            model.learn_one(x, y)
    results = {name: _result(m.changes, scenario, before) for name, m in monitors.items()}
    if scenario.learns:
        late = [t for t in alarms if t > before]
        delay = late[0] - before if late else None
        results["accuracy"] = Result(sum(t <= before for t in alarms), delay, None, 0, [])
    return results


def _result(changes: list[Change], scenario: Scenario, before: int) -> Result:
    early = [c for c in changes if c.t <= before]
    late = [c for c in changes if c.t > before]
    right = [c for c in late if c.feature == scenario.feature]
    others = {c.feature for c in late} - {scenario.feature}
    delay = right[0].t - before if right else None
    return Result(len(early), delay, right[0].kind if right else None, len(others), early + right)


def table(name: str, setting: str) -> None:
    """Print the results of one scenario."""
    scenario = SCENARIOS[name]
    seeds = int(setting) if setting.isdigit() else 2 if setting == "fast" else 30
    start = time.perf_counter()
    before, after = scenario.before, scenario.after
    if setting == "fast":
        before = min(before, 10_000)
    runs = [run(scenario, seed, before, after, setting) for seed in range(seeds)]
    seconds = time.perf_counter() - start
    print(f"\n{name}: {seeds} runs of {before:,} + {after:,} observations ({seconds:.0f} s)")
    print(f"{'':14}{'alarms before':>14}{'found':>8}{'delay':>8}{'right kind':>12}{'others':>8}")
    for way in runs[0]:
        results = [r[way] for r in runs]
        delays = [r.delay for r in results if r.delay is not None]
        found = f"{len(delays)}/{seeds}" if scenario.feature else ""
        delay = f"{median(delays):.0f}" if delays else ""
        kinds = sum(r.kind == scenario.kind for r in results)
        kind = f"{kinds}/{seeds}" if scenario.feature and way != "accuracy" else ""
        others = f"{sum(r.others > 0 for r in results)}/{seeds}" if scenario.feature else ""
        early = sum(r.early for r in results)
        print(f"{way:14}{early:14}{found:>8}{delay:>8}{kind:>12}{others:>8}", flush=True)


def cost(n: int = 1_500) -> None:
    """Time of the monitor against that of `explain_one`, 8 features x 10 points, ARF(10), elec2."""
    model = forest.ARFClassifier(n_models=10, seed=1)
    pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(10), n_ice=1, seed=1)
    monitor = Monitor(pdp, warm_up=200)
    explaining, watching = 0.0, 0.0
    for x, y in elec2(n):
        start = time.thread_time()
        pdp.explain_one(x)
        between = time.thread_time()
        monitor.update(x)
        watching += time.thread_time() - between
        explaining += between - start
        model.learn_one(x, y)
    print(f"\nexplain_one {1e6 * explaining / n:.0f} us, monitor {1e6 * watching / n:.0f} us")
    print(f"ratio {watching / explaining:.3f}, with {len(monitor.changes)} changes", flush=True)


def main(setting: str = "fast", *names: str) -> None:
    """Print all tables, or those that are named."""
    for name in names or (*SCENARIOS, "cost"):
        if name == "cost":
            cost()
        else:
            table(name, setting)


if __name__ == "__main__":
    main(*sys.argv[1:])
