"""What `ipdp run` costs beside the same loop without explanation.

elec2, ARF(10) or `StandardScaler | LogisticRegression` (`--model linear`), all features: `ipdp run`
with all that comes with it (explainer, monitor, log, checkpoints, metric) against predict, score,
learn. Both go through the stream side by side, in turns of some hundred observations, in one
process, by the CPU time of the thread; with the sources of another version, compiled in place
(`--against OLD/src`), its run takes turns with them. Start it with IPDP_DATA naming the directory
that holds electricity.zip.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from own_cost import Version
from river import metrics

import ipdp
from ipdp.models.load import load_model

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
    """The same as `ipdp run` does it, in the version of ipdp that is active."""
    config = importlib.import_module("ipdp.runs").RunConfig(
        data="elec2", model=model, limit=n, out=out
    )
    with config.assemble() as run:
        told = 0
        for event in run:
            if event.n // TURN > told:
                told = event.n // TURN
                yield event.n


def main() -> int:
    """Let all go through the stream in turns and compare their times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=45_312, help="number of observations")
    parser.add_argument("--model", choices=MODELS, default="forest")
    parser.add_argument("--against", metavar="SRC", help="sources of another version to compare")
    given = parser.parse_args()
    n, model, limit = given.n, MODELS[given.model], LIMITS[given.model]
    versions: dict[str, Any] = {"bare": None, "this": Version(str(Path(ipdp.__file__).parents[1]))}
    if given.against:
        versions["other"] = Version(given.against)
    seconds = dict.fromkeys(versions, 0.0)
    with tempfile.TemporaryDirectory() as directory:
        loops = {
            name: explained(model, n, Path(directory) / name)
            if version
            else bare(load_model(model), n)
            for name, version in versions.items()
        }
        done = 0
        while loops:
            for name, loop in list(loops.items()):
                with versions[name].active() if versions[name] else nullcontext():
                    started = time.thread_time()
                    reached = next(loop, None)
                    seconds[name] += time.thread_time() - started
                if reached is None:
                    del loops[name]
                done = reached or done
            if done and done % 5_000 == 0 and "this" in loops:
                print(f"{done:>7,} observations: {ratios(seconds)}", flush=True)
    times = ", ".join(f"{name} {1e6 * each / n:,.0f} us" for name, each in seconds.items())
    print(f"elec2, {given.model}, {ipdp.models.build()}, {n:,} observations: {times}")
    print(f"{ratios(seconds)} (limit {limit})")
    return int(seconds["this"] > limit * seconds["bare"])


def ratios(seconds: dict[str, float]) -> str:
    """By how much a run takes longer than the loop without explanation."""
    bare = seconds["bare"]
    return ", ".join(
        f"{name} / bare {each / bare:.2f}" for name, each in seconds.items() if name != "bare"
    )


if __name__ == "__main__":
    sys.exit(main())
