"""What `ipdp run` costs beside the same loop without explanation.

elec2, ARF(10) or `StandardScaler | LogisticRegression` (`--model linear`), all features: `ipdp run`
with all that comes with it (explainer, monitor, log, checkpoints, metric) against predict, score,
learn. Both go through the stream side by side, in turns of some hundred observations, in one
process, by the CPU time of the thread. Start it with IPDP_DATA naming the directory that holds
electricity.zip.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from river import metrics

import ipdp
from ipdp.models.load import load_model
from ipdp.runs import RunConfig

TURN = 500
MODELS = {
    "forest": "river.forest.ARFClassifier(n_models=10, seed=42)",
    "linear": "river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression()",
}
LIMITS = {"forest": 1.3, "linear": 3.0}  # of what it takes without


def bare(model: Any, n: int) -> Iterator[int]:
    """Predict, score, learn; says how far it is after every turn."""
    accuracy = metrics.Accuracy()
    for k, (x, y) in enumerate(ipdp.datasets.load("elec2"), start=1):
        prediction = model.predict_one(x)
        if prediction is not None:
            accuracy.update(y, prediction)
        model.learn_one(x, y)
        if k % TURN == 0:
            yield k
        if k == n:
            return


def explained(model: str, n: int, out: Path) -> Iterator[int]:
    """The same as `ipdp run` does it."""
    with RunConfig(data="elec2", model=model, limit=n, out=out).assemble() as run:
        told = 0
        for event in run:
            if event.n // TURN > told:
                told = event.n // TURN
                yield event.n


def main() -> int:
    """Let both go through the stream in turns and compare their times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=45_312, help="number of observations")
    parser.add_argument("--model", choices=MODELS, default="forest")
    given = parser.parse_args()
    n, model, limit = given.n, MODELS[given.model], LIMITS[given.model]
    seconds = {"bare": 0.0, "explained": 0.0}
    with tempfile.TemporaryDirectory() as directory:
        loops = {
            "bare": bare(load_model(model), n),
            "explained": explained(model, n, Path(directory) / "run"),
        }
        done = 0
        while loops:
            for name, loop in list(loops.items()):
                started = time.thread_time()
                reached = next(loop, None)
                seconds[name] += time.thread_time() - started
                if reached is None:
                    del loops[name]
                done = reached or done
            if done and done % 5_000 == 0 and "explained" in loops:
                ratio = seconds["explained"] / seconds["bare"]
                print(f"{done:>7,} observations: {ratio:.2f} times", flush=True)
    ratio = seconds["explained"] / seconds["bare"]
    print(
        f"elec2, {given.model}, {ipdp.models.build()}, {n:,} observations: "
        f"{1e6 * seconds['bare'] / n:,.0f} us without, {1e6 * seconds['explained'] / n:,.0f} us "
        f"with explanation, monitor, log and checkpoints: {ratio:.2f} times (limit {limit})"
    )
    return int(ratio > limit)


if __name__ == "__main__":
    sys.exit(main())
