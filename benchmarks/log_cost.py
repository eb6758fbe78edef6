"""What the log costs a run: 8 features x 20 points, a snapshot every 100 observations.

The run predicts, scores, explains and learns; after every 100 observations it takes the curves and
logs them with the metric. Both are measured as thread CPU time in the same run, so the share of the
log is a ratio within it. ICE curves are not logged, so a run takes the curves without them.

    python benchmarks/log_cost.py [n_observations]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from river import forest, linear_model, metrics, preprocessing, tree
from streams import ELEC2, elec2

import ipdp
from ipdp.log import Log

EVERY = 100
MODELS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: (
        preprocessing.StandardScaler() | linear_model.LogisticRegression()
    ),
    "Hoeffding adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "ARF(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
}


def main(n: int = 5_000) -> None:
    """Print the share of the log in a run of each model."""
    print(f"{'':<24} {'100 obs.':>10} {'curves':>10} {'log':>10} {'log':>7} {'both':>7}")
    for name, make in MODELS.items():
        run, curves, log, size = cost(make(), n)
        whole = run + curves + log
        times = " ".join(f"{seconds * 1e3:>7.2f} ms" for seconds in (run, curves, log))
        print(
            f"{name:<24} {times} {log / whole:>7.1%} "
            f"{(curves + log) / whole:>7.1%}   {size / 1024:.1f} kB a snapshot"
        )


def cost(model: Any, n: int) -> tuple[float, float, float, float]:
    """Median seconds of 100 observations, of taking and of logging curves; bytes a snapshot."""
    pdp = ipdp.IncrementalPDP(model, list(ELEC2), alpha=0.001, grid=ipdp.grid.MinMax(20))
    accuracy, runs, takes, logs = metrics.Accuracy(), [], [], []
    stream = elec2(n)
    with tempfile.TemporaryDirectory() as directory:
        with Log(directory) as log:
            for start in range(0, n, EVERY):
                a = time.thread_time()
                for x, y in stream[start : start + EVERY]:
                    accuracy.update(y, model.predict_one(x))
                    pdp.explain_one(x)
                    model.learn_one(x, y)
                b = time.thread_time()
                curves = pdp.snapshot(with_ice=False)
                c = time.thread_time()
                log.snapshot(curves, start + EVERY)
                log.metric({"Accuracy": accuracy.get()}, start + EVERY)
                runs.append(b - a)
                takes.append(c - b)
                logs.append(time.thread_time() - c)
        size = (Path(directory) / "log.db").stat().st_size / len(logs)
    # Commits come once a second, so their cost is in the mean of the log, not in its median.
    return median(runs), median(takes), sum(logs) / len(logs), size


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
