"""How often comparisons are right: equal halves, another slope, a refit forest, a challenger.

    python benchmarks/compare.py --runs 30 --seed 50000
    python benchmarks/compare.py --runs 30 --seed 80000 --only needed

print the tables of docs/compare.md. Each run has a seed of its own, from the one given on.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter

import numpy as np

import ipdp

N = 2_000


def stream(n, seed, memory=0.0):
    """Rows of four numbers, each an autoregression, and a category that stays for a while."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 4))
    for t in range(1, n):
        z[t] = memory * z[t - 1] + np.sqrt(1 - memory**2) * z[t]
    stays = rng.uniform(size=n) < memory
    group = rng.choice(["red", "green", "blue"], size=n, p=[0.5, 0.3, 0.2])
    for t in range(1, n):
        group[t] = group[t - 1] if stays[t] else group[t]
    return [
        {**dict(zip("abcd", map(float, row), strict=True)), "group": str(g)}
        for row, g in zip(z, group, strict=True)
    ]


class Model:
    """A step, a slope, an interaction, a square, categories."""

    def __init__(self, slope=1.0, product=0.5):
        self.slope, self.product = slope, product

    def __call__(self, x):
        category = {"red": 0.0, "green": 0.5, "blue": -0.5}[x["group"]]
        bend = x["c"] ** 2 / 2 + (1.0 if x["d"] > 0.3 else 0.0)
        return self.slope * x["a"] + self.product * x["a"] * x["b"] + bend + category


def explained(model, rows, alpha=0.001):
    """An explainer of these rows with the default settings."""
    pdp = ipdp.IncrementalPDP(model, alpha=alpha, n_ice=0)
    pdp.explain_many(rows)
    return pdp


def halves(seed, memory):
    """Verdicts of two equal halves of a stream: two explainers, two periods, two times, tables."""
    rows, model = stream(2 * N, seed, memory), Model()
    both = explained(model, rows[:N]), explained(model, rows[N:])
    found = {"explainers": ipdp.compare(*both), "margin 0": ipdp.compare(*both, margin=0.0)}
    with tempfile.TemporaryDirectory() as directory:
        pdp = ipdp.IncrementalPDP(model, n_ice=0)
        ipdp.run(rows, model, pdp, learn=False, log=directory, snapshot_every=100)
        found["periods"] = ipdp.compare(directory, at=(0, N), against=(N, 2 * N))
        found["times"] = ipdp.compare(directory, at=N, against=2 * N)
        found["periods, margin 0"] = ipdp.compare(
            directory, at=(0, N), against=(N, 2 * N), margin=0.0
        )
    tables = [ipdp.partial_dependence(model, part) for part in (rows[:N], rows[N:])]
    found["tables"] = ipdp.compare(*tables)
    return found


def slopes(seed, memory):
    """Verdicts of a slope of 1 against 1.3, on other rows: two explainers, periods of two logs."""
    models = [Model(slope) for slope in (1.0, 1.3)]
    rows = [stream(N, seed + 10_000 * k, memory) for k in range(2)]
    sides = [explained(model, own) for model, own in zip(models, rows, strict=True)]
    with tempfile.TemporaryDirectory() as directory:
        logs = [f"{directory}/{k}" for k in range(2)]
        for model, own, log in zip(models, rows, logs, strict=True):
            pdp = ipdp.IncrementalPDP(model, n_ice=0)
            ipdp.run(own, model, pdp, learn=False, log=log, snapshot_every=100)
        periods = ipdp.compare(*logs, at=(0, N), against=(0, N))
    return {"explainers": ipdp.compare(*sides), "periods": periods}


def refits(seed):
    """Verdicts of two forests that learnt the same rows with other seeds."""
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(3 * N, 5))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y = y + rng.normal(size=3 * N)
    forests = [RandomForestRegressor(random_state=k).fit(X[:N], y[:N]) for k in (1, 2)]
    names = list("uvwxz")
    same = [ipdp.partial_dependence(f, X[N : N + 500], names=names) for f in forests]
    other = []
    for k, forest in enumerate(forests, start=1):
        pdp = ipdp.IncrementalPDP(forest, alpha=None, n_ice=0)
        pdp.explain_many(X[k * N : (k + 1) * N], names=names)
        other.append(pdp)
    return {"same rows": ipdp.compare(*same), "other rows": ipdp.compare(*other)}


def challengers(seed, memory):
    """The same slopes asked of the same rows, a quarter of them: paired, and as two explainers."""
    rows = stream(N // 4, seed, memory)
    pdp = ipdp.IncrementalPDP(Model(), n_ice=0)
    both = ipdp.comparison.challenge(pdp, Model(1.3))
    both.explain_many(rows)
    apart = [explained(Model(slope), rows) for slope in (1.0, 1.3)]
    return {"paired": ipdp.comparison.paired(both), "unpaired": ipdp.compare(*apart)}


# Rows after which it is looked whether two explainers name the feature in all runs.
LADDER = (200, 280, 400, 560, 800, 1120, 1600, 2240, 3200, 4480, 6400, 8000)
CHANGED = {0.0: ((1.2, 0.5), (1.2, 0.7)), 0.9: ((2.0, 0.5), (2.0, 0.7))}
NAMES = [*"abcd", "group"]


def tables(n, seeds, memory):
    """As `stream`, for several seeds at once; the groups are numbers."""
    rngs = [np.random.default_rng(seed) for seed in seeds]
    z = np.array([rng.normal(size=(n, 4)) for rng in rngs])
    group = np.array([rng.choice(3, size=n, p=[0.5, 0.3, 0.2]) for rng in rngs])
    stays = np.array([rng.uniform(size=n) < memory for rng in rngs])
    for t in range(1, n):
        z[:, t] = memory * z[:, t - 1] + np.sqrt(1 - memory**2) * z[:, t]
        group[:, t] = np.where(stays[:, t], group[:, t - 1], group[:, t])
    return np.concatenate([z, group[:, :, None]], axis=2)


def of_arrays(slope=1.0, product=0.5):
    """The model of `Model`, for many rows at once."""

    def model(X):
        a, b, c, d, group = np.asarray(X).T
        category = np.array([0.0, 0.5, -0.5])[group.astype(int)]
        return slope * a + product * a * b + c**2 / 2 + (d > 0.3) + category

    return ipdp.models.engine(model, takes="array")


def needed(data, slope, product):
    """How many rows two explainers need to name "a" in all runs, and what a quarter of them tells.

    The challenger has another slope along "a", and another product with "b", which moves no mean:
    what it says otherwise differs from row to row.
    """
    models = of_arrays(), of_arrays(slope, product)
    sides = [[ipdp.IncrementalPDP(m, n_ice=0) for m in models] for _ in data]
    before = 0
    for n in LADDER:
        for rows, both in zip(data, sides, strict=True):
            for pdp in both:
                pdp.explain_many(rows[before:n], names=NAMES)
        before = n
        if all("a" in named(ipdp.compare(one.curves, other.curves)) for one, other in sides):
            break
    else:
        return None, []
    found = []
    for rows in data:
        both = ipdp.comparison.challenge(ipdp.IncrementalPDP(models[0], n_ice=0), models[1])
        both.explain_many(rows[: n // 4], names=NAMES)
        found.append(ipdp.comparison.paired(both))
    return n, found


def named(comparison):
    """The features whose shapes are different."""
    return {str(each.feature) for each in comparison.differences if each.verdict == "different"}


def report_needed(seeds, name, memory):
    """One line for each challenger."""
    data = tables(LADDER[-1], seeds, memory)
    for slope, product in CHANGED[memory]:
        n, found = needed(data, slope, product)
        title = f"slope {slope}, product {product}, {name}"
        if n is None:
            print(f"| {title} | more than {LADDER[-1]:,} | | | |", flush=True)
            continue
        right = sum("a" in named(one) for one in found)
        wrong = sum(bool(named(one) - {"a"}) for one in found)
        row = title, f"{n:,}", f"{n // 4:,}", f"{right} of {len(found)}", wrong
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def report(title, results):
    """One line for each way of comparing."""
    for way in results[0]:
        found = [result[way] for result in results]
        every = [each for one in found for each in one.differences]
        n = sum(one.verdict == "different" for one in found)
        shapes = Counter(str(each.feature) for each in every if each.verdict == "different")
        levels = [any(e.level_verdict == "different" for e in one.differences) for one in found]
        said = Counter(each.verdict for each in every)
        kinds = Counter(each.kind for each in every if each.kind)
        row = title, way, f"{n} of {len(found)}", _listed(shapes), sum(levels)
        row = *row, said["alike"], said["cannot say"], _listed(kinds)
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def _listed(counts):
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=50_000)
    parser.add_argument("--only", default="halves,slopes,challengers,refits")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.runs)
    if given.only == "needed":
        print("| challenger | two explainers need | paired with | names a | others |")
        print("|---|---|---|---|---|")
        for name, memory in (("i.i.d.", 0.0), ("AR(.9)", 0.9)):
            report_needed(seeds, name, memory)
        return
    print("| | compared | different | shape of | levels | alike | cannot say | kinds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name, memory in (("i.i.d.", 0.0), ("AR(.9)", 0.9)):
        if "halves" in given.only:
            report(f"equal halves, {name}", [halves(seed, memory) for seed in seeds])
        if "slopes" in given.only:
            report(f"slope 1 and 1.3, {name}", [slopes(seed, memory) for seed in seeds])
        if "challengers" in given.only:
            report(f"challenger, {name}", [challengers(seed, memory) for seed in seeds])
    if "refits" in given.only:
        report("refit forest", [refits(seed) for seed in seeds])


if __name__ == "__main__":
    main()
