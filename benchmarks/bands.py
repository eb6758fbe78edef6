"""How often bands cover the partial dependence of a frozen model, on streams with memory.

    python benchmarks/bands.py [--runs 200] [--seed 2026] [--alpha 0.001] [--elec2]
    python benchmarks/bands.py --kinds weekly

The model is y = sin v + v z + z^2 at ten points v; many streams z are explained at once, as
features of one explainer. The truth is known. With --elec2 the bands of a frozen booster on elec2
are compared with a moving-block bootstrap instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from streams import elec2

import ipdp
from ipdp.core.curve import Curve
from ipdp.core.output_names import PREDICTION
from ipdp.core.student_t import student_quantile
from ipdp.core.typing import FloatArray, Observation
from ipdp.models.base import Engine, Outputs, Probe

POINTS = np.linspace(-2, 2, 10)
LEVEL = 0.95
KINDS = ("iid", "AR .5", "AR .9", "AR .99", "daily", "weekly", "regimes", "t3", "lognormal")


def stream(kind: str, rng: np.random.Generator, n: int, runs: int) -> FloatArray:
    """Series of mean .5 and variance 1, of shape (n, runs)."""
    noise = rng.normal(size=(n, runs))
    if kind.startswith("AR"):
        rho = float(kind[3:])
        z = noise * np.sqrt(1 - rho**2)
        z[0] = noise[0]
        for t in range(1, n):
            z[t] += rho * z[t - 1]
    elif kind in ("daily", "weekly"):
        phase = np.arange(n)[:, None] / {"daily": 288, "weekly": 2016}[kind]
        z = (noise + 2 * np.sin(2 * np.pi * (phase + rng.uniform(size=runs)))) / np.sqrt(3)
    elif kind == "regimes":
        z = noise / 2
        for run in range(runs):
            start = 0
            while start < n:
                stop = start + int(rng.exponential(300)) + 1
                z[start:stop, run] += rng.choice([-1, 1]) * np.sqrt(0.75)
                start = stop
    elif kind == "t3":
        z = rng.standard_t(3, size=(n, runs)) / np.sqrt(3)
    elif kind == "lognormal":
        z = (rng.lognormal(size=(n, runs)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    else:
        z = noise
    return np.asarray(z + 0.5)


class ManyStreams(Engine):
    """The model, with a feature for each stream."""

    def ice(
        self, rows: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        z = np.array([list(row.values()) for row in rows])
        z = np.repeat(z, [probe.stop - probe.start for probe in probes], axis=1)
        v = positions[:, 0]
        return Outputs(PREDICTION, (np.sin(v) + v * z + z * z)[:, None])

    def predict(self, rows: Sequence[Observation]) -> Outputs:
        raise NotImplementedError

    @property
    def description(self) -> str:
        """What it is."""
        return "sin v + v z + z^2"


def covered(curve: Curve, half: FloatArray, truth: FloatArray) -> FloatArray:
    """At which points a curve is within half a band of the truth."""
    return np.asarray(np.abs(curve.average - truth) <= half)


def look(pdp: ipdp.IncrementalPDP) -> list[float]:
    """Coverage before, now, of all points, centred; width against before; share that is marked."""
    truth = np.sin(POINTS) + 0.5 * POINTS + 1.25
    plain = pdp._memory.means.smoothing.std_error[1:].reshape(-1, len(POINTS))
    rows = []
    for curve, error in zip(pdp.curves.values(), plain, strict=True):
        before = student_quantile((1 + LEVEL) / 2, curve.n_effective_points - 1) * error
        half = curve.band(LEVEL)[1] - curve.average
        whole = curve.band(LEVEL, simultaneous=True)[1] - curve.average
        centred = half
        error_of_shape = curve.average - curve.average.mean() - truth + truth.mean()
        if curve.centred_std_error is not None:
            centred = half / curve.std_error * curve.centred_std_error
        rows.append(
            [
                covered(curve, before, truth).mean(),
                covered(curve, half, truth).mean(),
                covered(curve, whole, truth).all(),
                (np.abs(error_of_shape) <= centred).mean(),
                (half / before).mean(),
                curve.provisional,
            ]
        )
    return np.mean(rows, axis=0).tolist()


def table(runs: int, seed: int, alpha: float | None, kinds: Sequence[str]) -> None:
    """Print what bands cover at 2, 6 and 20 times the memory of the smoothing."""
    memory = 1_000 if alpha is None else round(1 / alpha)
    looks = [2 * memory, 6 * memory, 20 * memory]
    print(f"alpha = {alpha}, {runs} runs, seed {seed}; {LEVEL:.0%} bands")
    heads = ("before", "now", "whole", "centred", "width", "marked")
    print(f"{'':11}{'n':>7} " + "".join(f"{head:>9}" for head in heads))
    for kind in kinds:
        start = time.thread_time()
        z = stream(kind, np.random.default_rng([seed, KINDS.index(kind)]), looks[-1], runs)
        pdp = ipdp.IncrementalPDP(
            ManyStreams(), list(range(runs)), alpha=alpha, grid=ipdp.grid.Fixed(POINTS), n_ice=0
        )
        for first in range(0, looks[-1], 200):
            pdp.explain_many(z[first : first + 200])
            if first + 200 in looks:
                before, now, whole, centred, width, marked = look(pdp)
                print(
                    f"{kind:11}{first + 200:7,} {before:9.1%}{now:9.1%}{whole:9.1%}{centred:9.1%}"
                    f"{width:9.2f}{marked:9.0%}",
                    flush=True,
                )
        print(f"{'':11}{time.thread_time() - start:7.0f} s")


def on_elec2(alpha: float = 0.001, resamples: int = 400) -> None:
    """Print the width of bands of a frozen booster against those of moving-block bootstraps."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    data = elec2(45_312)
    names = list(data[0][0])
    X = np.array([list(x.values()) for x, _ in data], dtype=float)
    y = np.array([label for _, label in data])
    # Before 17,760 some columns are constant.
    learnt = slice(18_000, 25_000)
    model = HistGradientBoostingClassifier(random_state=0).fit(X[learnt], y[learnt])
    rng = np.random.default_rng(2026)
    followed = ["nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"]
    ends = np.quantile(X[learnt], [0.1, 0.9], axis=0)
    grids = {
        name: ipdp.grid.Fixed(np.linspace(*ends[:, names.index(name)], 8)) for name in followed
    }
    pdp = ipdp.IncrementalPDP(model, followed, alpha=alpha, grid=grids, n_ice=20_000, n_past=0)
    print(f"elec2, a frozen booster, alpha = {alpha}: half widths of 95 % bands, mean over points;")
    print("bootstraps of as many observations, in stretches of as many")
    kinds = [(n, length) for n in (10_000, 16_384) for length in (336, 1_008, 2_016, 4_032)]
    print(f"{'':11}{'n':>7}{'before':>8}{'now':>8}{'n_effective':>13}", end="")
    print("".join(f"{f'{n:,}/{length:,}':>14}" for n, length in kinds))
    for n, first in enumerate(range(25_000, len(X), 10_000)):
        rows = X[first : first + 10_000]
        if len(rows) < 10_000:
            break
        pdp.explain_many(rows, names=names)
        plain = pdp._memory.means.smoothing.std_error[2]
        for k, (name, curve) in enumerate(pdp.curves.items()):
            output = list(curve.outputs).index(True)
            half = (curve.band(LEVEL)[1] - curve.average)[output].mean()
            values = np.asarray(curve.ice)[output]
            before = 1.96 * plain[8 * k : 8 * k + 8].mean()
            mark = "  marked" if curve.provisional else ""
            line = f"{name!s:11}{(n + 1) * 10_000:7,}{before:8.4f}{half:8.4f}"
            line += f"{curve.n_effective:13.1f}"
            for reach, length in kinds:
                boot = np.nan
                if len(values) >= reach:
                    own = values[-reach:]
                    boot = 1.96 * bootstrap(own, alpha, rng, resamples, length).mean()
                line += f"{boot:14.4f}"
            print(line + mark, flush=True)


def bootstrap(
    values: FloatArray, alpha: float, rng: np.random.Generator, resamples: int, length: int
) -> FloatArray:
    """Deviation of the smoothed mean, with its weights, over series made of random stretches."""
    n = len(values)
    weights = (1 - alpha) ** np.arange(n - 1, -1, -1.0)
    weights /= weights.sum()
    means = []
    for _ in range(resamples):
        starts = rng.integers(0, n - length + 1, size=-(-n // length) + 1)
        # Where the first stretch is cut is random, so that all phases are met.
        at = (starts[:, None] + np.arange(length)).ravel()
        cut = int(rng.integers(length))
        means.append(weights @ values[at[cut : cut + n]])
    return np.asarray(np.std(means, axis=0))


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument(
        "--alpha", type=lambda text: None if text == "None" else float(text), default=0.001
    )
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--elec2", action="store_true")
    given: Any = parser.parse_args()
    if given.elec2:
        on_elec2(given.alpha)
    else:
        table(given.runs, given.seed, given.alpha, given.kinds)


if __name__ == "__main__":
    main()
