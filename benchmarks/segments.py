"""What segments cost: time against an explainer without them, and memory.

    python benchmarks/segments.py [--n 4000] [--models linear]

Eight features, autoregressive with 0.9, default grid and settings. Times are those of the thread,
of both explainers in turns of 100 observations; of each turn the least of three runs, as other
programs disturb. The ratio is of the sums. Memory is that of tracemalloc, for 200 groups on grids
of ten points.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import forest, linear_model, tree
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import ipdp
from ipdp.core import kernels

NAMES = list("abcdefgh")
TURN = 100
RUNS = 3
# Groups in the stream, and how many are followed; 20 is the default.
CASES = ((5, 20), (20, 20), (200, 20), (200, 200))


def stream(n: int, n_groups: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Observations with a group, which the models do not see; small groups are rarer."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=8)
    shares = 1 / np.arange(1, n_groups + 1)
    groups = rng.choice(n_groups, size=n, p=shares / shares.sum())
    for group in groups.tolist():
        x = 0.9 * x + rng.normal(size=8) * np.sqrt(1 - 0.81)
        yield {**dict(zip(NAMES, x.tolist(), strict=True)), "group": f"g{group}"}


def models(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One of each kind, taught."""
    X = [{name: x[name] for name in NAMES} for x in rows[:2000]]
    y = [x["a"] + x["b"] * x["c"] for x in X]
    line, voter = linear_model.LinearRegression(), tree.HoeffdingTreeClassifier()
    voters = forest.ARFClassifier(n_models=10, seed=1)
    for x, target in zip(X, y, strict=True):
        line.learn_one(x, target)
        voter.learn_one(x, target > 0)
        voters.learn_one(x, target > 0)
    import pandas as pd

    table = pd.DataFrame(X)
    return {
        "river, linear": line,
        "river, Hoeffding tree": voter,
        "river, ARF of 10": voters,
        "function": lambda x: x["a"] + x["b"] * x["c"],
        "scikit-learn, linear": LinearRegression().fit(table, y),
        "scikit-learn, forest of 20": RandomForestRegressor(20, max_depth=6, random_state=1).fit(
            table, y
        ),
    }


def ratio(model: Any, rows: list[dict[str, Any]], n_groups: int) -> tuple[float, float]:
    """Microseconds for an observation without groups, and the ratio with them."""
    bare = [{name: x[name] for name in NAMES} for x in rows]
    _GROUPS.update({id(x): own["group"] for x, own in zip(bare, rows, strict=True)})
    spent = np.min([_times(model, bare, n_groups) for _ in range(RUNS)], axis=0).sum(axis=0)
    return spent[0] / len(bare) * 1e6, spent[1] / spent[0]


def _times(model: Any, rows: list[dict[str, Any]], n_groups: int) -> list[list[float]]:
    """Seconds of each turn, without groups and with them."""
    both = (
        ipdp.IncrementalPDP(model, NAMES),
        ipdp.IncrementalPDP(model, NAMES, by=_group, n_groups=n_groups),
    )
    found = []
    for start in range(0, len(rows), TURN):
        spent = [0.0, 0.0]
        for k in (0, 1) if start // TURN % 2 else (1, 0):
            began = time.thread_time()
            for x in rows[start : start + TURN]:
                both[k].explain_one(x)
            spent[k] = time.thread_time() - began
        found.append(spent)
    return found


_GROUPS: dict[int, str] = {}


def _group(x: dict[str, Any]) -> str:
    """The group of an observation that the model gets without it."""
    return _GROUPS[id(x)]


def memory(n_groups: int = 200, n: int = 8_000) -> list[float]:
    """Megabytes of an explainer without groups, and of one with them."""
    sizes = []
    rows = list(stream(n, n_groups))
    for by in (None, "group"):
        pdp = ipdp.IncrementalPDP(
            _one, NAMES, grid=ipdp.grid.MinMax(10), by=by, n_groups=n_groups, every=1
        )
        gc.collect()
        tracemalloc.start()
        for first in range(0, n, 1000):
            pdp.explain_many(rows[first : first + 1000])
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0] / 1e6)
        tracemalloc.stop()
    return sizes


def _one(x: dict[str, Any]) -> float:
    return float(x["a"] + x["b"] * x["c"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4_000)
    parser.add_argument("--models", default="", help="only those with this in their name")
    parser.add_argument("--no-memory", action="store_true")
    options = parser.parse_args()
    build = "pure" if kernels.current is kernels.array else "compiled"
    print(f"{build} build, {options.n:,} observations")
    head = " | ".join(f"{n} groups, {places} places" for n, places in CASES)
    print(f"| model | us without | {head} |")
    for name, model in models(list(stream(2_000, 5))).items():
        if options.models not in name:
            continue
        cells = []
        for n_groups, places in CASES:
            without, times = ratio(model, list(stream(options.n, n_groups)), places)
            cells.append(f"{times:.3f}")
        print(f"| {name} | {without:.0f} | {' | '.join(cells)} |", flush=True)
    if not options.no_memory:
        one, other = memory()
        print(f"memory: {one:.1f} MB without, {other:.1f} MB with 200 groups")


if __name__ == "__main__":
    main()
