"""What segments cost: time against an explainer without them, and memory.

    python benchmarks/segments.py [--n 6000]

Eight features, autoregressive with 0.9, default grid and settings. Times are those of the thread,
of both explainers in turns of 200 observations in one run; the ratio is of the sums. Memory is
that of tracemalloc, for 200 groups on grids of ten points.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import linear_model, tree
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import ipdp
from ipdp.core import kernels

NAMES = list("abcdefgh")
TURN = 200


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
    for x, target in zip(X, y, strict=True):
        line.learn_one(x, target)
        voter.learn_one(x, target > 0)
    import pandas as pd

    table = pd.DataFrame(X)
    return {
        "river, linear": line,
        "river, Hoeffding tree": voter,
        "function": lambda x: x["a"] + x["b"] * x["c"],
        "scikit-learn, linear": LinearRegression().fit(table, y),
        "scikit-learn, forest of 20": RandomForestRegressor(20, max_depth=6, random_state=1).fit(
            table, y
        ),
    }


def ratio(model: Any, rows: list[dict[str, Any]], n_groups: int) -> tuple[float, float]:
    """Microseconds for an observation without groups, and the ratio with them."""
    both = (
        ipdp.IncrementalPDP(model, NAMES),
        ipdp.IncrementalPDP(model, NAMES, by=_group, n_groups=n_groups),
    )
    bare = [{name: x[name] for name in NAMES} for x in rows]
    _GROUPS.update({id(x): own["group"] for x, own in zip(bare, rows, strict=True)})
    spent = [0.0, 0.0]
    for start in range(0, len(bare), TURN):
        for k, pdp in enumerate(both):
            began = time.thread_time()
            for x in bare[start : start + TURN]:
                pdp.explain_one(x)
            spent[k] += time.thread_time() - began
    return spent[0] / len(bare) * 1e6, spent[1] / spent[0]


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
    parser.add_argument("--n", type=int, default=6_000)
    parser.add_argument("--groups", type=int, nargs="*", default=[5, 20, 200])
    parser.add_argument("--no-memory", action="store_true")
    options = parser.parse_args()
    build = "pure" if kernels.current is kernels.array else "compiled"
    print(f"{build} build, {options.n:,} observations")
    head = " | ".join(f"{n} groups" for n in options.groups)
    print(f"| model | us without | {head} |")
    for name, model in models(list(stream(2_000, 5))).items():
        cells = []
        for n_groups in options.groups:
            without, times = ratio(model, list(stream(options.n, n_groups)), n_groups)
            cells.append(f"{times:.3f}")
        print(f"| {name} | {without:.0f} | {' | '.join(cells)} |", flush=True)
    if not options.no_memory:
        one, other = memory()
        print(f"memory: {one:.1f} MB without, {other:.1f} MB with 200 groups")


if __name__ == "__main__":
    main()
