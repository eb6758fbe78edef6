"""How far off is a curve after virtual drift? The estimators pointwise and regrid side by side.

    python benchmarks/regrid.py --seeds 8

A feature x jumps from N(0, 1) to a new range while the model stays as it is. The error of a curve
is the root mean square of its distance from the true partial dependence at its own points, looked
at every 250 observations; the table has its mean over the last 40 % of the time before the drift
(static) and over some time after it (drift). "Noise" is the error, after the drift, that the
weighted mean of the whole past has at the very points of regrid, as a share of the pointwise one:
on average, no estimator with these weights does better, and where it is above the target the
target is out of reach.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import ipdp
from ipdp.core.typing import FloatArray
from ipdp.grid import Grid, MinMax, QuantileRange

ALPHA = 0.001
LOOK_EVERY = 250
DRIFT_AT = 25_000
ESTIMATORS = ("pointwise", "regrid")


class Scenario(NamedTuple):
    """A model of x and z with z ~ N(0, 1), its partial dependence on x, and where x goes."""

    name: str
    f: Callable[[FloatArray, FloatArray], FloatArray]
    pd: Callable[[FloatArray], FloatArray]
    mean: float
    sd: float
    noisy: bool = False


class Setting(NamedTuple):
    """A grid, how long after the drift the error is looked at, and the largest ratio allowed."""

    grid: Grid
    until: int
    target: float


class Errors(NamedTuple):
    """Mean errors of one run."""

    static: float
    drift: float


def sine(x: FloatArray) -> FloatArray:
    """The partial dependence of sin(3x) + c x z, whatever c is."""
    return np.sin(3 * x)


def growth(x: FloatArray) -> FloatArray:
    """The partial dependence of exp(x/3) + c x z, whatever c is."""
    return np.exp(x / 3)


SCENARIOS = (
    Scenario("x^2 + x z + z^2", lambda x, z: x**2 + x * z + z**2, lambda x: x**2 + 1, 6, 1),
    Scenario("sin(3x) + 0.3 x z", lambda x, z: sine(x) + 0.3 * x * z, sine, 6, 1),
    Scenario("exp(x/3) + 0.1 x z", lambda x, z: growth(x) + 0.1 * x * z, growth, 4, 2),
    # The same with more noise: there is a grid for which the noise of z alone is above the target.
    Scenario("sin(3x) + x z", lambda x, z: sine(x) + x * z, sine, 6, 1, noisy=True),
    Scenario("exp(x/3) + 0.5 x z", lambda x, z: growth(x) + 0.5 * x * z, growth, 4, 2, noisy=True),
)
SETTINGS = {
    "MinMax": Setting(MinMax(size=20, window=1000), 2_500, 0.1),
    "QuantileRange": Setting(QuantileRange(size=20, window=10_000, storage_size=500), 15_000, 0.4),
}
STATIC_TARGET = 1.1


def stream(scenario: Scenario, *, seed: int, drift_at: int, n: int) -> FloatArray:
    """The columns x and z."""
    table = np.random.default_rng(seed).normal(size=(n, 2))
    table[drift_at:, 0] = scenario.mean + scenario.sd * table[drift_at:, 0]
    return table


def noise_alone(scenario: Scenario, points: FloatArray, z: FloatArray) -> FloatArray:
    """The weighted mean of the whole past at the given points."""
    recent = z[-9_000:]  # what came before has a weight of exp(-9)
    weights = (1 - ALPHA) ** np.arange(len(recent) - 1, -1, -1)
    return weights @ scenario.f(points[None, :], recent[:, None]) / weights.sum()


def run(
    scenario: Scenario,
    setting: Setting,
    *,
    seed: int,
    drift_at: int = DRIFT_AT,
    noise: bool = False,
) -> dict[str, Errors]:
    """The errors of both estimators on one stream, and of the noise alone if it is asked for."""
    n = drift_at + setting.until
    table = stream(scenario, seed=seed, drift_at=drift_at, n=n)
    model = ipdp.models.engine(lambda X: scenario.f(X[:, 0], X[:, 1]), takes="array")
    explainers = {
        estimator: ipdp.IncrementalPDP(
            model, ["x"], alpha=ALPHA, grid=setting.grid, estimator=estimator, n_ice=0, seed=seed
        )
        for estimator in ESTIMATORS
    }
    looks: dict[str, list[float]] = {name: [] for name in (*ESTIMATORS, "noise")[: 2 + noise]}
    times = range(LOOK_EVERY, n + 1, LOOK_EVERY)
    for t in times:
        for estimator, pdp in explainers.items():
            pdp.explain_many(table[t - LOOK_EVERY : t], names=["x", "z"])
            curve = pdp.curve("x")
            looks[estimator].append(rmse(curve.average[0], scenario.pd(curve.grid_values[0])))
        if noise:
            points = curve.grid_values[0]
            average = noise_alone(scenario, points, table[:t, 1])
            looks["noise"].append(rmse(average, scenario.pd(points)))
    return {name: summary(np.array(times) - drift_at, errors) for name, errors in looks.items()}


def rmse(values: FloatArray, true: FloatArray) -> float:
    """The root mean square of the differences."""
    return float(np.sqrt(np.mean((values - true) ** 2)))


def summary(since_drift: FloatArray, errors: list[float]) -> Errors:
    """The mean errors before the drift, late, and after it, from 500 observations on."""
    drift_at = LOOK_EVERY - since_drift[0]
    static = (since_drift > -0.4 * drift_at) & (since_drift <= 0)
    drift = since_drift >= 500
    return Errors(float(np.mean(np.array(errors)[static])), float(np.mean(np.array(errors)[drift])))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8, help="number of streams of each kind")
    n_seeds = parser.parse_args().seeds
    print(f"RMSE, mean of {n_seeds} streams; ratio to pointwise, with that of the worst stream\n")
    print(
        "| grid | f | static pointwise | regrid | ratio (worst) "
        "| drift pointwise | regrid | ratio (worst) | noise | target |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for grid, setting in SETTINGS.items():
        for scenario in SCENARIOS:
            runs = [run(scenario, setting, seed=seed, noise=True) for seed in range(n_seeds)]
            print(f"| {grid} | {scenario.name} | {row(runs, setting)} |", flush=True)


def row(runs: list[dict[str, Errors]], setting: Setting) -> str:
    """One line of the table."""
    cells = []
    ratios = []
    for part in ("static", "drift"):
        of = {name: np.array([getattr(r[name], part) for r in runs]) for name in runs[0]}
        ratios.append(of["regrid"].mean() / of["pointwise"].mean())
        worst = (of["regrid"] / of["pointwise"]).max()
        cells += [f"{of[name].mean():.3g}" for name in ESTIMATORS]
        cells.append(f"{ratios[-1]:.3f} ({worst:.3f})")
    noise = np.mean([r["noise"].drift for r in runs]) / of["pointwise"].mean()
    cells.append(f"{noise:.3f}")
    met = ratios[0] <= STATIC_TARGET and ratios[1] <= setting.target
    cells.append("met" if met else "out of reach" if noise > setting.target else "missed")
    return " | ".join(cells)


if __name__ == "__main__":
    main()
