"""Alarms about data that do not change, on streams with memory, seasons, regimes and heavy tails.

    python benchmarks/no_change.py --runs 10           alarms of the whole monitor on each stream
    python benchmarks/no_change.py --jumps --runs 10   how soon a jump of 3 sd is found on some
    python benchmarks/no_change.py --cases --runs 10   what is said of faults of the data
    python benchmarks/no_change.py --rate --runs 10    false alarms against what was asked for
    python benchmarks/no_change.py --elec2             moves of real data, and a batch comparison

Streams have 20,000 observations of 6 features each and a frozen model; a jump comes after 10,000.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.stats import ks_2samp
from streams import elec2

import ipdp
from ipdp.monitor import Change, Monitor
from ipdp.monitor.data.moves import DataMoves, Found
from ipdp.monitor.features import Layout, Record
from ipdp.monitor.history import History

N, N_FEATURES, JUMP = 20_000, 6, 10_000
# Thresholds were found on seeds below 1000.
FIRST_SEED = 1000
CHANGED = ("virtual", "both")

Rng = np.random.Generator
Stream = Callable[[Rng, int, int], Any]


# Streams in which nothing changes.


def autoregressive(rho: float) -> Stream:
    """AR(1) of variance 1."""

    def make(rng: Rng, n: int, f: int) -> Any:
        steps = rng.normal(size=(n, f)) * np.sqrt(1 - rho**2)
        steps[0] = rng.normal(size=f)
        return lfilter([1], [1, -rho], steps, axis=0)

    return make


def season(period: float, noise: float) -> Stream:
    """A sine of amplitude 1, with noise."""

    def make(rng: Rng, n: int, f: int) -> Any:
        phase = rng.uniform(0, 2 * np.pi, f)
        wave = np.sin(2 * np.pi * np.arange(n)[:, None] / period + phase)
        return wave + noise * rng.normal(size=(n, f))

    return make


def season_of_variance(period: float) -> Stream:
    """The standard deviation goes from a half to two and back."""

    def make(rng: Rng, n: int, f: int) -> Any:
        phase = rng.uniform(0, 2 * np.pi, f)
        wave = np.sin(2 * np.pi * np.arange(n)[:, None] / period + phase)
        return np.exp(0.7 * wave) * rng.normal(size=(n, f))

    return make


def regimes(lasting: float) -> Stream:
    """Two levels, 4 standard deviations apart, that take turns after random times."""

    def make(rng: Rng, n: int, f: int) -> Any:
        turns = np.cumsum(rng.random((n, f)) < 1 / lasting, axis=0) + rng.integers(2, size=f)
        return rng.normal(size=(n, f)) + 2 * (-1.0) ** turns

    return make


def sorted_blocks(length: int) -> Stream:
    """Observations that come in files, each sorted."""

    def make(rng: Rng, n: int, f: int) -> Any:
        values = rng.normal(size=(n, f))
        for first in range(0, n, length):
            values[first : first + length].sort(axis=0)
        return values

    return make


def random_walk(rng: Rng, n: int, f: int) -> Any:
    """Steps of variance 1."""
    return rng.normal(size=(n, f)).cumsum(axis=0)


def volatile(rng: Rng, n: int, f: int) -> Any:
    """The standard deviation wanders by a factor of two, as that of prices does."""
    return np.exp(0.7 * autoregressive(0.99)(rng, n, f)) * rng.normal(size=(n, f))


def seasonal_counts(rng: Rng, n: int, f: int) -> Any:
    """Poisson, with a daily season of five-minute intervals."""
    wave = np.sin(2 * np.pi * np.arange(n)[:, None] / 288 + rng.uniform(0, 2 * np.pi, f))
    return rng.poisson(np.exp(0.5 + 0.5 * wave)).astype(float)


def with_gaps(rng: Rng, n: int, f: int) -> Any:
    """Values that are missing now and then, for a while."""
    values = rng.normal(size=(n, f))
    values[autoregressive(0.95)(rng, n, f) > 1.8] = np.nan
    return values


STREAMS: dict[str, Stream] = {
    "i.i.d.": lambda rng, n, f: rng.normal(size=(n, f)),
    "t3": lambda rng, n, f: rng.standard_t(3, size=(n, f)),
    "lognormal": lambda rng, n, f: np.exp(rng.normal(size=(n, f))),
    "AR .5": autoregressive(0.5),
    "AR .9": autoregressive(0.9),
    "AR .99": autoregressive(0.99),
    "AR .999": autoregressive(0.999),
    "daily (48)": season(48, 0.3),
    "daily, noisy": season(48, 1.0),
    "weekly (336)": season(336, 0.3),
    "weekly, noisy": season(336, 1.0),
    "yearly (17,520)": season(17_520, 0.3),
    "yearly, noisy": season(17_520, 1.0),
    "variance season (336)": season_of_variance(336),
    "variance season (8,760)": season_of_variance(8_760),
    "regimes of 250": regimes(250),
    "regimes of 500": regimes(500),
    "sorted blocks of 300": sorted_blocks(300),
    "sorted blocks of 1,000": sorted_blocks(1_000),
    "random walk": random_walk,
    "volatile": volatile,
    "seasonal counts": seasonal_counts,
    "gaps": with_gaps,
}
JUMPS = ("i.i.d.", "t3", "AR .9", "AR .99", "weekly (336)", "weekly, noisy", "regimes of 250")


def made(name: str, seed: int, n: int = N, f: int = N_FEATURES) -> Any:
    """The observations of a stream, of shape (n, f)."""
    return STREAMS[name](np.random.default_rng([seed, *name.encode()]), n, f)


# Runs.


def model(X: Any) -> Any:
    """A frozen model with an interaction."""
    X = np.nan_to_num(X.astype(float))
    return X[:, 0] + X[:, 0] * X[:, 1] + np.sin(X[:, 2])


def constant(_: Any) -> float:
    """A model of observations that are not all numbers."""
    return 0.0


def watched(columns: dict[str, Sequence[Any]], **settings: Any) -> list[Change]:
    """The changes that a monitor of some columns reports."""
    takes_numbers = not any(isinstance(v[0], str) for v in columns.values())
    function = ipdp.models.engine(model, takes="array") if takes_numbers else constant
    pdp = ipdp.IncrementalPDP(function, list(columns), n_ice=32, seed=1)
    monitor = Monitor(pdp, **settings)
    values = [v.tolist() if isinstance(v, np.ndarray) else v for v in columns.values()]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
    for first in range(0, len(rows), 32):
        monitor.explain_many(rows[first : first + 32])
    return monitor.changes


def moved(columns: dict[str, Any], *, false_alarms_per: float, period: Any = None) -> list[Found]:
    """What the watcher of the data finds in columns of numbers by itself, without a model."""
    moves = DataMoves(range(len(columns)), list(columns), false_alarms_per, 1000, period)
    history, nothing, layout = History(), np.zeros((1, 0)), Layout()
    found = []
    for n, row in enumerate(zip(*(v.tolist() for v in columns.values()), strict=True), start=1):
        x = dict(zip(columns, row, strict=True))
        history.update(Record(n, float(n), x, layout, nothing, nothing))
        if n % 32 == 0:
            found += moves.update(history.newest(1)[0], history)
    return found


def named(X: Any) -> dict[str, Any]:
    """Columns by name."""
    return {f"x{k}": X[:, k] for k in range(X.shape[1])}


def print_alarms(names: Sequence[str], seeds: range) -> None:
    """Alarms for each stream in which nothing changes."""
    print("| stream | virtual a run | real a run | what | s a run |\n|---|---|---|---|---|")
    for name in names:
        start = time.thread_time()
        found = [change for seed in seeds for change in watched(named(made(name, seed)))]
        moved = [c for c in found if c.kind in CHANGED]
        what = ", ".join(sorted({c.move.aspect for c in moved if c.move}))
        each = (time.thread_time() - start) / len(seeds)
        counts = [len(moved) / len(seeds), (len(found) - len(moved)) / len(seeds)]
        print(f"| {name} | {counts[0]:.2f} | {counts[1]:.2f} | {what} | {each:.1f} |", flush=True)


def print_jumps(names: Sequence[str], seeds: range) -> None:
    """How soon a jump of 3 sd of the first feature is found."""
    print("| stream | found | median delay | reported more than once |\n|---|---|---|---|")
    for name in names:
        delays, again = [], 0
        for seed in seeds:
            X = made(name, seed)
            X[JUMP:, 0] += 3 * X[:JUMP, 0].std()
            changes = [c for c in watched(named(X)) if c.feature == "x0" and c.t > JUMP]
            found = [c for c in changes if c.kind in CHANGED]
            delays += [c.t - JUMP for c in found[:1]]
            again += len(found) > 1
        delay = f"{median(delays):,.0f}" if delays else ""
        print(f"| {name} | {len(delays)} of {len(seeds)} | {delay} | {again} |", flush=True)


# Faults of the data.

AT = 5_139


def cases(rng: Rng, base: str, n: int = 9_000) -> Iterator[tuple[str, str, Any]]:
    """Name, what is to be said, and values with one fault from observation 5,140 on."""
    later = np.arange(n) >= AT

    def fresh() -> Any:
        return STREAMS[base](rng, n, 1)[:, 0]

    missing = rng.random(n) < np.where(later, 0.3, 0.01)
    yield "missing 1 to 30 %", "missing", np.where(missing, np.nan, fresh())
    gone = later | (rng.random(n) < 0.01)
    yield "always missing", "missing", np.where(gone, np.nan, fresh())
    values = fresh()
    yield "stuck", "stuck", np.where(later, values[AT], values)
    yield "unit x 1,000", "unit", (10 + fresh()) * np.where(later, 1000.0, 1.0)
    yield "level + 5", "level", fresh() + 5 * later
    yield "width / 4", "width", fresh() * np.where(later, 0.25, 1.0)
    shares = [0.9, 0.05, 0.05], [0.05, 0.05, 0.9]
    then, now = (rng.choice(["a", "b", "c"], n, p=p) for p in shares)
    yield "shares 90/5/5 to 5/5/90", "shares", np.where(later, now, then)
    yield "only grows", "grows", np.arange(n) // 48 * 1.0


def print_cases(bases: Sequence[str], seeds: range) -> None:
    """What is said of each fault, and how often it is right and said once."""
    print("| stream | fault | said once, rightly | median delay | for instance |")
    print("|---|---|---|---|---|")
    for base in bases:
        results: dict[str, list[list[Change]]] = {}
        truth = {}
        for seed in seeds:
            made_now = list(cases(np.random.default_rng([seed, 7]), base))
            changes = watched({name: values for name, _, values in made_now})
            for name, aspect, _ in made_now:
                truth[name] = aspect
                results.setdefault(name, []).append([c for c in changes if c.feature == name])
        for name, found in results.items():
            right = [own for own in found if _aspects(own) == [truth[name]]]
            delay = max(median([own[0].t - AT for own in right]), 0) if right else 0
            said = next((own[0].summary() for own in found if own), "")
            print(f"| {base} | {name} | {len(right)} of {len(found)} | {delay:,.0f} | {said} |")


def _aspects(changes: list[Change]) -> list[str]:
    return [c.move.aspect if c.move else c.kind for c in changes]


def print_rates(seeds: range) -> None:
    """Observations for each false alarm, against what was asked for; the data alone."""
    print("| stream | asked for one in | there was one in |\n|---|---|---|")
    streams = {"i.i.d.": None, "AR .9": None, "daily, noisy": None, "weekly, noisy": None}
    for per in (2_000, 10_000):
        for name, period in [*streams.items(), ("daily, noisy", 48), ("weekly, noisy", 336)]:
            settings = {"false_alarms_per": per, "period": period}
            found = [c for seed in seeds for c in moved(named(made(name, seed)), **settings)]
            # A further move of a change is no alarm. Nothing is looked for in the beginning.
            found = [c for c in found if not c.is_further]
            exposed = len(seeds) * (N - 3_500)
            told = f"{name}, period={period}" if period else name
            print(f"| {told} | {per:,} | {exposed / max(len(found), 1):,.0f} |", flush=True)


def print_elec2() -> None:
    """Moves of the data of elec2, against all values 2,000 observations before and since."""
    rows = [x for x, _ in elec2(50_000)]
    columns = {name: np.array([x[name] for x in rows]) for name in rows[0]}
    print("| t | said | 10 %, 50 %, 90 % before | since | Kolmogorov-Smirnov |")
    print("|---|---|---|---|---|")
    for change in watched(columns):
        at = int(change.began) - 1
        values = columns[change.feature]
        sides = values[max(at - 2_000, 0) : at], values[at : at + 2_000]
        quantiles = [np.round(np.quantile(v, (0.1, 0.5, 0.9)), 4).tolist() for v in sides]
        distance = ks_2samp(*sides).statistic
        said = f"{change.t:,.0f} | {change.summary()}"
        print(f"| {said} | {quantiles[0]} | {quantiles[1]} | {distance:.2f} |", flush=True)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description="Alarms about data that do not change.")
    parser.add_argument("names", nargs="*", metavar="STREAM", help=", ".join(STREAMS))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="first seed")
    for name in ("jumps", "cases", "rate", "elec2"):
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.runs)
    if options.jumps:
        print_jumps(options.names or JUMPS, seeds)
    elif options.cases:
        print_cases(options.names or ("i.i.d.", "AR .9", "weekly, noisy"), seeds)
    elif options.rate:
        print_rates(seeds)
    elif options.elec2:
        print_elec2()
    else:
        print_alarms(options.names or list(STREAMS), seeds)


if __name__ == "__main__":
    main()
