"""How right, how cheap and how sure accumulated local effects are (docs/notes/ale.md).

    python benchmarks/ale.py accuracy [--seeds 100-109]
    python benchmarks/ale.py cost [--seed 7]
    python benchmarks/ale.py bands [--runs 200] [--seed 2026]
    python benchmarks/ale.py packages        (where PyALE is installed)

`accuracy`: y = a + b^2 + noise is learnt by a forest, a and b are correlated, and the effect of a
is known. `cost`: thread time against that of partial dependence, in turns. `bands`: how often they
cover, for many streams at once, as features of one explainer. `packages`: the same numbers as PyALE
gives, with its bins.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from bands import stream

import ipdp
from ipdp.core.curve import Curve
from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FloatArray, Observation
from ipdp.models.base import Engine, Outputs, Probe

LEVEL = 0.95


# Right.


def error(curve: Curve) -> float:
    """Root mean squared distance to the effect of a, which is a; as a share of its range."""
    x = np.asarray(curve.grid_values[0], dtype=float)
    rest = curve.average[0] - x
    rest = rest - rest.mean()
    return float(np.sqrt(np.mean(rest**2)) / np.ptp(x))


def accuracy(seeds: Sequence[int], n: int = 6_000, alpha: float = 0.001) -> None:
    """Print the errors of both at some correlations."""
    from sklearn.ensemble import RandomForestRegressor

    print(f"error of the effect of a, share of its range; alpha = {alpha}, seeds {list(seeds)}")
    print(f"{'correlation':12}{'pdp':>9}{'ale':>9}{'ratio':>9}")
    for rho in (0.0, 0.5, 0.9, 0.97):
        found = []
        for seed in seeds:
            rng = np.random.default_rng([seed, round(100 * rho)])
            a, e, c = rng.normal(size=(3, 2 * n))
            b = rho * a + math.sqrt(1 - rho**2) * e
            X, y = np.c_[a, b, c], a + b**2 + 0.3 * rng.normal(size=2 * n)
            forest = RandomForestRegressor(40, min_samples_leaf=5, random_state=seed)
            forest.fit(X[:n], y[:n])
            kinds = (ipdp.IncrementalPDP, ipdp.IncrementalALE)
            explainers = [kind(forest, [0], alpha=alpha) for kind in kinds]
            for explainer in explainers:
                explainer.explain_many(X[n:])
            found.append([error(explainer.curve(0)) for explainer in explainers])  # type: ignore[attr-defined]
        pdp, ale = np.mean(found, axis=0)
        print(f"{rho:<12}{pdp:9.4f}{ale:9.4f}{ale / pdp:9.2f}", flush=True)


# Cheap.


def cost(seed: int, n: int = 4_000, block: int = 250) -> None:
    """Print the time that an observation takes, both in turns, without that of learning."""
    from river import datasets, forest, linear_model, preprocessing

    data = list(datasets.synth.Agrawal(classification_function=2, seed=seed).take(n))
    models = {
        "ARF(10)": forest.ARFClassifier(n_models=10, seed=seed),
        "SS | LR": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    }
    print(f"thread time of an observation of Agrawal, 9 features, seed {seed}, in microseconds")
    print(f"{'':12}{'pdp':>9}{'ale':>9}{'ratio':>9}")
    for name, model in models.items():
        for x, y in data[: n // 2]:
            model.learn_one(x, y)
        explainers = [ipdp.IncrementalPDP(model, seed=1), ipdp.IncrementalALE(model, seed=1)]
        spent = np.zeros(2)
        for first in range(0, n, block):
            rows = [x for x, _ in data[first : first + block]]
            for k, explainer in enumerate(explainers):
                start = time.thread_time()
                for x in rows:
                    explainer.explain_one(x)
                if first >= n // 4:  # after the warm-up
                    spent[k] += time.thread_time() - start
        pdp, ale = spent / (n - n // 4) * 1e6
        print(f"{name:12}{pdp:9.0f}{ale:9.0f}{ale / pdp:9.2f}", flush=True)


# Sure.

_RHO = 0.7


class ManyStreams(Engine):
    """y = sin v + v z + z^2, with a v and a z for each stream: all v come first."""

    model = None
    ordered = True

    def ice(
        self, rows: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        table = np.array([list(row.values()) for row in rows], dtype=float)
        z = table[:, table.shape[1] // 2 :]
        z = np.repeat(z, [probe.stop - probe.start for probe in probes], axis=1)
        v = positions[:, 0]
        return Outputs(PREDICTION, (np.sin(v) + v * z + z * z)[:, None])

    def predict(self, rows: Sequence[Observation]) -> Outputs:
        raise NotImplementedError

    @property
    def description(self) -> str:
        """What it is."""
        return "sin v + v z + z^2"


def truth(edges: FloatArray) -> FloatArray:
    """The accumulated local effect of v, which is normal, with z of mean 0.7 v, on some edges."""
    below = np.array([math.erf(e / math.sqrt(2)) / 2 for e in edges])
    density = np.exp(-(edges**2) / 2) / math.sqrt(2 * math.pi)
    mass = np.diff(below)
    mean = -np.diff(density) / mass
    values = np.append(0.0, np.cumsum(np.diff(np.sin(edges)) + np.diff(edges) * _RHO * mean))
    return np.asarray(values - (values[1:] + values[:-1]) / 2 @ mass / mass.sum())


def look(ale: ipdp.IncrementalALE) -> list[float]:
    """Coverage of points and of whole curves, share that is marked, width, coverage of the rest."""
    rows = []
    layout = ale.memory.means.layout
    for number, curve in enumerate(ale.curves.values()):
        bins = layout.keys_of(number)
        edges = np.array([bins[0][0], *(high for _, high in bins)])  # type: ignore[index]
        wanted = truth(edges)[np.isin(edges, curve.grid_values[0])]
        off = np.abs(curve.average[0] - wanted)
        half, whole = (
            (curve.band(LEVEL, simultaneous=s)[1] - curve.average)[0] for s in (False, True)
        )
        rows.append([(off <= half).mean(), (off <= whole).all(), curve.provisional, half.mean()])
    sure = [row[0] for row in rows if not row[2]]
    return [*np.mean(rows, axis=0).tolist(), float(np.mean(sure)) if sure else math.nan]


def bands(runs: int, seed: int, alpha: float = 0.001) -> None:
    """Print what bands cover at 2, 6 and 20 times the memory of the smoothing."""
    looks = [round(k / alpha) for k in (2, 6, 20)]
    print(f"{LEVEL:.0%} bands, alpha = {alpha}, {runs} runs, seed {seed}")
    print(f"{'':10}{'bins':>9}{'n':>8}{'points':>9}{'whole':>9}{'marked':>9}{'half':>9}{'rest':>9}")
    names = [f"{kind}{k}" for kind in "vz" for k in range(runs)]
    kinds = ("iid", "AR .5", "AR .9", "AR .99")
    for grid in (ipdp.grid.Fixed(np.linspace(-2, 2, 10)), ipdp.grid.Auto()):
        for number, kind in enumerate(kinds):
            rng = np.random.default_rng([seed, number])
            v, e = (stream(kind, rng, looks[-1], runs) - 0.5 for _ in range(2))
            table = np.hstack([v, _RHO * v + math.sqrt(1 - _RHO**2) * e])
            ale = ipdp.IncrementalALE(ManyStreams(), names[:runs], alpha=alpha, grid=grid)
            for first in range(0, looks[-1], 500):
                ale.explain_many(table[first : first + 500], names=names)
                if first + 500 in looks:
                    points, whole, marked, half, sure = look(ale)
                    print(
                        f"{kind:10}{type(grid).__name__:>9}{first + 500:8,}{points:9.1%}"
                        f"{whole:9.1%}{marked:9.0%}{half:9.3f}{sure:9.1%}",
                        flush=True,
                    )


# The same as others.


def packages(seed: int = 0, n: int = 2_000) -> None:
    """Print how far the curve is from that of PyALE, with its bins."""
    import pandas as pd
    from PyALE import ale as pyale

    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = np.c_[a, 0.9 * a + 0.4 * rng.normal(size=n)]

    def call(rows: Any) -> Any:
        rows = np.asarray(rows)
        return rows[:, 0] ** 2 + rows[:, 0] * rows[:, 1] + np.sin(3 * rows[:, 1])

    class Model:
        predict = staticmethod(call)

    frame = pd.DataFrame(X, columns=["a", "b"])
    theirs = pyale(frame, Model(), ["a"], grid_size=20, include_CI=False, plot=False)["eff"]
    edges = np.asarray(theirs.index, dtype=float)
    ale = ipdp.IncrementalALE(
        ipdp.models.engine(call, takes="array"), ["a"], alpha=None, grid=ipdp.grid.Fixed(edges)
    )
    ale.explain_many(X, names=["a", "b"])
    away = np.abs(ale.curve("a").average[0] - np.asarray(theirs)).max()
    print(f"PyALE: {len(edges) - 1} bins, largest difference {away:.2g}")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("accuracy", "cost", "bands", "packages"))
    parser.add_argument("--seeds", default="100-109")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--runs", type=int, default=200)
    given = parser.parse_args()
    if given.what == "accuracy":
        first, last = map(int, given.seeds.split("-"))
        accuracy(range(first, last + 1))
    elif given.what == "cost":
        cost(given.seed)
    elif given.what == "bands":
        bands(given.runs, given.seed)
    else:
        packages()


if __name__ == "__main__":
    main()
